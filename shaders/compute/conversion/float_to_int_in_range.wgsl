// Conversion to integers truncates toward zero for both signs, also just below the next integer.

@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<i32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = f32(a[i] >> 8u) + 0.9375;
    out[i] = vec2<i32>(i32(x * 0.125), i32(-x * 0.5));
}
