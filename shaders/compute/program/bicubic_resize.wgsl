// A 16x16 image enlarged with cubic weights.

@group(0) @binding(0) var<storage, read> picture: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

fn weights(t: f32) -> vec4<f32> {
    let t2 = t * t;
    let t3 = t2 * t;
    return vec4<f32>(-0.5 * t3 + t2 - 0.5 * t, 1.5 * t3 - 2.5 * t2 + 1.0, -1.5 * t3 + 2.0 * t2 + 0.5 * t, 0.5 * t3 - 0.5 * t2);
}

fn pixel(x: i32, y: i32) -> f32 {
    return picture[clamp(y, 0, 15) * 16 + clamp(x, 0, 15)];
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    // Quarters of a pixel: exact positions.
    let corner = vec2<i32>(id.xy) / 4;
    let t = vec2<f32>(id.xy & vec2<u32>(3u)) * 0.25;
    let wx = weights(t.x);
    let wy = weights(t.y);
    var sum = 0.0;
    for (var y = 0; y < 4; y++) {
        for (var x = 0; x < 4; x++) {
            sum += wx[x] * wy[y] * pixel(corner.x + x - 1, corner.y + y - 1);
        }
    }
    out[id.y * 32u + id.x] = sum;
}
