// A local array with an arbitrary index that is masked to its length.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var table = array<u32, 5>(1u, 10u, 100u, 1000u, 10000u);
    table[a[i] % 5u] += a[i];
    out[i] = table[(a[i] >> 7u) % 5u] + table[4];
}
