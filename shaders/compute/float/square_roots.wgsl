// Square roots of numbers of moderate size, and values computed from them.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = clamp(abs(a[i]), 1e-6, 1e6);
    out[i] = vec2<f32>(sqrt(x), inverseSqrt(x) * x);
}
