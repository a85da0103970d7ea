// Rounding and parts of numbers.
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = input[id.x];
    out[id.x] = floor(x) + ceil(x) + round(x) + trunc(x) + fract(x) + abs(x) + sign(x) + saturate(x)
        + modf(x).fract + f32(frexp(x).exp) + ldexp(x, 3);
}
