// Quantization to 16 bits.
@group(0) @binding(0) var<storage, read_write> out: array<vec2<f32>>;
@group(0) @binding(1) var<storage, read> input: array<vec2<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    out[id.x] = quantizeToF16(input[id.x]) + outerProductish(input[id.x]);
}
fn outerProductish(v: vec2<f32>) -> vec2<f32> { return mat2x2(v * v.x, v * v.y) * v; }
