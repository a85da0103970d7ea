// All comparisons of the same words, signed and unsigned.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let s = bitcast<i32>(a[i]);
    let t = bitcast<i32>(b[i]);
    var bits = 0u;
    if (a[i] < b[i]) { bits |= 1u; }
    if (a[i] <= b[i]) { bits |= 2u; }
    if (s < t) { bits |= 4u; }
    if (s <= t) { bits |= 8u; }
    if (s > t) { bits |= 16u; }
    if (a[i] >= b[i]) { bits |= 32u; }
    if (s == t) { bits |= 64u; }
    out[i] = bits;
}
