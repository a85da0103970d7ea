// The mean of two words computed without a 33rd bit.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = a[i];
    let y = b[i];
    out[i] = vec2<u32>((x & y) + ((x ^ y) >> 1u), (x | y) - ((x ^ y) >> 1u));
}
