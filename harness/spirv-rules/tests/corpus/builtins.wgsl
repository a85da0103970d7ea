// Every built-in of compute.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(4, 4, 2)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) index: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    out[id.x] = id.x + local.y + index + group.z + groups.x;
}
