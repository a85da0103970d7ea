// Counts in workgroup memory, which each workgroup then adds to totals in a buffer.

var<workgroup> counts: array<atomic<u32>, 5>;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> totals: array<atomic<u32>, 4>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) k: u32) {
    atomicAdd(&counts[a[id.x] % 5u], 1u);
    workgroupBarrier();
    if (k < 4u) { atomicAdd(&totals[k], atomicLoad(&counts[k])); }
}
