// Bit identities that an optimiser applies, where they hold and where they almost hold.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = a[i];
    let y = b[i];
    out[i] = vec4<u32>((x ^ y) ^ y, (x & ~y) + (x & y), (x | y) - y, ~(~x & ~y) ^ (x | y));
}
