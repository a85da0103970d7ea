// Comparisons of numbers, including equal ones and zeros of both signs.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var bits = 0u;
    let x = select(a[i], b[i], i % 4u == 0u);
    if (x < b[i]) { bits |= 1u; }
    if (x == b[i]) { bits |= 2u; }
    if (x != b[i]) { bits |= 4u; }
    if (x >= b[i]) { bits |= 8u; }
    if (x - x == 0.0 * b[i]) { bits |= 16u; }
    out[i] = bits;
}
