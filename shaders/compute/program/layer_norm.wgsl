// Layer normalisation: mean and variance of a row, and the scaled row.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> gain: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

const WIDTH: u32 = 48u;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = id.x * WIDTH;
    var mean = 0.0;
    for (var k = 0u; k < WIDTH; k++) { mean += a[row + k]; }
    mean = mean / f32(WIDTH);
    var variance = 0.0;
    for (var k = 0u; k < WIDTH; k++) {
        let d = a[row + k] - mean;
        variance += d * d;
    }
    let scale = inverseSqrt(variance / f32(WIDTH) + 1e-5);
    for (var k = 0u; k < WIDTH; k++) { out[row + k] = (a[row + k] - mean) * scale * gain[k]; }
}
