// Vector components read and written with a variable index.

@group(0) @binding(0) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var v = a[i];
    let k = b[i] & 3u;
    v[k] = v[(k + 1u) & 3u] ^ b[i];
    v[(k + 2u) & 3u] += v[k];
    out[i] = v;
}
