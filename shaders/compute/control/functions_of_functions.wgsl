// Nested calls, whose results are used in a different order than they are computed in.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

fn inner(x: u32, n: u32) -> u32 {
    if (x % 3u == 0u) { return x / 3u + n; }
    return x * n;
}

fn outer(x: u32, y: u32) -> u32 {
    return inner(x, y & 15u) ^ inner(y, x & 15u);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = outer(inner(a[i], 3u), inner(a[i] + 1u, 5u)) - inner(outer(a[i], 2u), a[i] & 7u);
}
