// A binary search: an interval that is off by one never ends or misses the first element.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var lo = 0u;
    var hi = 64u;
    while (lo < hi) {
        let mid = (lo + hi) / 2u;
        if (mid * mid < a[i] % 4096u) { lo = mid + 1u; } else { hi = mid; }
    }
    out[i] = lo;
}
