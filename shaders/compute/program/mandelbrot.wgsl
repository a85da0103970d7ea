// Iterations until a point escapes, in fixed point, so that every count is exact.

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn times(a: i32, b: i32) -> i32 {
    return (a >> 6u) * (b >> 6u);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let c = vec2<i32>(i32(id.x) * 384 - 8192, i32(id.y) * 320 - 5000);
    var z = vec2<i32>(0);
    var n = 0u;
    while (n < 48u) {
        let x2 = times(z.x, z.x);
        let y2 = times(z.y, z.y);
        if (x2 + y2 > 16384) { break; }
        z = vec2<i32>(x2 - y2 + c.x, 2 * times(z.x, z.y) + c.y);
        n++;
    }
    out[id.y * 32u + id.x] = n;
}
