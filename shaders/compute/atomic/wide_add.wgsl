// 64-bit atomic addition: the carry into the high word must not be lost between invocations.

@group(0) @binding(0) var<storage, read> a: array<u64>;
@group(0) @binding(1) var<storage, read_write> total: array<atomic<u64>, 2>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    atomicAdd(&total[id.x & 1u], a[id.x]);
}
