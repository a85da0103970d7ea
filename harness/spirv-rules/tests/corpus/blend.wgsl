// Extended instructions of several operands.
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = input[id.x];
    let b = input[id.y];
    out[id.x] = min(a, b) + max(a, b) + clamp(a, 0.0, b) + mix(a, b, 0.25) + step(a, b) + smoothstep(0.0, 1.0, a)
        + pow(a, b) + atan2(a, b) + fma(a, b, a) + distance(a, b);
}
