// Extended instructions of one operand.
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = input[id.x];
    out[id.x] = sin(x) + cos(x) + tan(x) + asin(x) + acos(x) + atan(x) + sinh(x) + cosh(x) + tanh(x)
        + exp(x) + exp2(x) + log(x) + log2(x) + sqrt(x) + inverseSqrt(x) + asinh(x) + acosh(x) + atanh(x);
}
