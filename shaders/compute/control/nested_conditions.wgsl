// All eight paths through three conditions, which join again.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var x = 1u;
    if ((a[i] & 1u) != 0u) {
        x += 2u;
        if ((a[i] & 2u) != 0u) { x *= 3u; } else { x += 5u; }
    } else if ((a[i] & 4u) != 0u) {
        x += 7u;
    } else {
        if ((a[i] & 2u) != 0u) { x = x << 4u; }
        x += 11u;
    }
    out[i] = x + (x << 8u);
}
