// A division in one branch must not be hoisted above its guard.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var q = 0u;
    let d = b[i] & 3u;
    if (d != 0u) {
        for (var n = 0u; n < 4u; n++) {
            q += a[i] / d + n;
        }
    }
    out[i] = q;
}
