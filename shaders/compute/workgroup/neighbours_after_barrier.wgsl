// Each invocation reads the value that its neighbour wrote before the barrier.

var<workgroup> line: array<u32, 64>;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) k: u32) {
    line[k] = a[id.x];
    workgroupBarrier();
    out[id.x] = line[(k + 1u) & 63u] - line[(k + 63u) & 63u];
}
