// A radix-2 Fourier transform of 64 complex numbers in workgroup memory.

@group(0) @binding(0) var<storage, read_write> data: array<vec2<f32>>;

var<workgroup> line: array<vec2<f32>, 64>;

fn times(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) k: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let base = group.x * 64u;
    for (var n = k; n < 64u; n += 32u) { line[reverseBits(n) >> 26u] = data[base + n]; }
    for (var half = 1u; half < 64u; half = half * 2u) {
        workgroupBarrier();
        let step = k & (half - 1u);
        let low = (k - step) * 2u + step;
        let angle = -3.14159265 * f32(step) / f32(half);
        let turned = times(line[low + half], vec2<f32>(cos(angle), sin(angle)));
        let kept = line[low];
        line[low] = kept + turned;
        line[low + half] = kept - turned;
    }
    workgroupBarrier();
    for (var n = k; n < 64u; n += 32u) { data[base + n] = line[n]; }
}
