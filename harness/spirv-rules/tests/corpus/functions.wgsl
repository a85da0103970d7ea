// Functions that call functions.
fn square(x: f32) -> f32 { return x * x; }
fn norm(v: vec2<f32>) -> f32 { return sqrt(square(v.x) + square(v.y)); }
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    out[id.x] = norm(vec2(f32(id.x), f32(id.y)));
}
