// Matrix products and transposes.
@group(0) @binding(0) var<storage, read_write> out: array<mat4x4<f32>>;
@group(0) @binding(1) var<storage, read> input: array<mat4x4<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = input[id.x];
    let b = transpose(a) * a;
    out[id.x] = b * 0.5 + mat4x4(b[0], b[1] * a, a * b[2], b[3]);
}
