// A longer body: iterations of a complex square.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let c = vec2<f32>(id.xy) / 256.0 - vec2(1.5, 1.0);
    var z = vec2(0.0);
    var n = 0u;
    while n < 64u && dot(z, z) < 4.0 {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        n++;
    }
    out[id.x + 256u * id.y] = n;
}
