// Invocations that return early must not store anything afterwards.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (a[i] % 3u == 0u) { return; }
    out[i] = 1u;
    if (a[i] % 5u == 0u) { return; }
    out[i] = 2u;
}
