// Comparisons and select.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = input[id.x];
    let b = input[id.y];
    var r = select(0u, 1u, a < b);
    r |= select(0u, 2u, a <= b) | select(0u, 4u, a == b) | select(0u, 8u, a != b);
    if a > b || !(a >= b) { r += 16u; }
    out[id.x] = r;
}
