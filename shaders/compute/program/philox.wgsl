// Philox 4x32-10, a counter-based random number generator that uses high words of products.

@group(0) @binding(0) var<storage, read> keys: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;

fn product(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let mid = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let mid2 = (a & 0xffffu) * (b >> 16u) + (mid & 0xffffu);
    return vec2<u32>(a * b, (a >> 16u) * (b >> 16u) + (mid >> 16u) + (mid2 >> 16u));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var key = keys[id.x];
    var x = vec4<u32>(id.x, 0u, 0u, 0u);
    for (var n = 0u; n < 10u; n++) {
        let p = product(0xd2511f53u, x.x);
        let q = product(0xcd9e8d57u, x.z);
        x = vec4<u32>(q.y ^ x.y ^ key.x, q.x, p.y ^ x.w ^ key.y, p.x);
        key += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
    }
    out[id.x] = x;
}
