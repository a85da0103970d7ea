// A one-dimensional blur with binomial weights, clamped at the borders.

@group(0) @binding(0) var<storage, read> picture: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;

const WEIGHTS = array<f32, 5>(0.0625, 0.25, 0.375, 0.25, 0.0625);

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var weights = WEIGHTS;
    var sum = vec4<f32>(0.0);
    for (var k = 0; k < 5; k++) {
        let x = clamp(i32(id.x) + k - 2, 0, 63);
        sum += weights[k] * picture[id.y * 64u + u32(x)];
    }
    out[id.y * 64u + id.x] = sum;
}
