// Nested structures and arrays with padding.
struct Inner { a: vec3<f32>, b: f32, c: array<vec2<u32>, 3> }
struct Outer { n: u32, inner: array<Inner, 2>, tail: vec3<i32> }
@group(0) @binding(0) var<storage, read_write> out: array<Outer>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let s = out[id.x];
    out[id.x].inner[1].c[2] = s.inner[0].c[id.y % 3u] + vec2(s.n);
    out[id.x].tail.z = i32(s.inner[1].b);
}
