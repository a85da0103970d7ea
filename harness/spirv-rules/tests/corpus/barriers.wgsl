// Every barrier.
var<workgroup> flag: u32;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    flag = id.x;
    storageBarrier();
    workgroupBarrier();
    out[id.x] = workgroupUniformLoad(&flag);
}
