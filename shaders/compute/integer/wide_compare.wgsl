// 64-bit comparisons: the high words decide by the signedness; if they are equal, the low words decide unsigned.

@group(0) @binding(0) var<storage, read> a: array<u64>;
@group(0) @binding(1) var<storage, read> b: array<u64>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let s = i64(a[i]);
    let t = i64(b[i]);
    var bits = 0u;
    if (a[i] < b[i]) { bits |= 1u; }
    if (s < t) { bits |= 2u; }
    if (s >= t) { bits |= 4u; }
    if (a[i] == b[i]) { bits |= 8u; }
    if (u32(a[i]) < u32(b[i])) { bits |= 16u; }
    out[i] = bits;
}
