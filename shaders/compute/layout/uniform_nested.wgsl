// A nested struct in a uniform buffer is aligned to 16 bytes, and so is the member after it.

struct Inner {
    a: vec2<u32>,
    b: u32,
}

struct Outer {
    first: u32,
    @align(16) inner: Inner,
    @align(16) list: array<Nested, 2>,
    last: u32,
}

struct Nested {
    x: u32,
    @align(16) y: vec3<u32>,
}

@group(0) @binding(0) var<uniform> given: Outer;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let k = id.x & 1u;
    out[id.x] = given.first ^ (given.inner.a.y + given.inner.b) ^ (given.list[k].x + given.list[1u - k].y.z) ^ given.last;
}
