// Arrays made and indexed in functions.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var a = array<u32, 5>(1u, 2u, 3u, 4u, 5u);
    a[id.x % 5u] = 9u;
    let b = a;
    out[id.x] = b[id.y % 5u] + array<vec2<u32>, 2>(vec2(1u), vec2(2u))[id.x & 1u].y;
}
