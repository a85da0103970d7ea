// Powers and logarithms of operands of moderate size.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = clamp(abs(a[i]), 0.0625, 16.0);
    out[i] = vec4<f32>(exp(x - 8.0), exp2(x), log(x), log2(x));
}
