// Signed atomics in workgroup memory.
var<workgroup> counter: atomic<i32>;
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let old = atomicMax(&counter, i32(id.x)) + atomicMin(&counter, -1);
    workgroupBarrier();
    out[id.x] = old + atomicLoad(&counter);
}
