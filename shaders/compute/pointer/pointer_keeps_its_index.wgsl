// A pointer keeps the index with which it was formed when the index variable changes later.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var v = array<u32, 4>(a[i], 0u, 0u, 0u);
    var k = a[i] & 3u;
    let p = &v[k];
    k = (k + 1u) & 3u;
    *p = 77u;
    v[k] += 5u;
    out[i] = vec4<u32>(v[0], v[1], v[2], v[3]);
}
