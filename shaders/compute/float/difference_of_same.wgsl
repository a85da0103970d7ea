// `x - x` is zero and `x / x` is near one, whatever the precision of division.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = clamp(abs(a[i]), 1e-3, 1e3);
    out[i] = vec2<f32>(x - x, x / x);
}
