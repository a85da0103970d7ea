// A rotation by 0 must not become a shift by 32.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let n = b[i] & 31u;
    out[i] = vec2<u32>((a[i] << n) | (a[i] >> ((32u - n) & 31u)), (a[i] >> n) | (a[i] << ((32u - n) & 31u)));
}
