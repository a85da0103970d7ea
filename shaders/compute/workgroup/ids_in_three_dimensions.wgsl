// Every built-in that identifies an invocation, in workgroups with different sides.

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(4, 3, 2)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) at: vec3<u32>,
        @builtin(local_invocation_index) k: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
    let size = groups * vec3<u32>(4u, 3u, 2u);
    let place = (id.z * size.y + id.y) * size.x + id.x;
    out[place] = k | (at.x << 8u) | (at.y << 12u) | (at.z << 16u) | (group.x << 20u) | (group.y << 24u) | (group.z << 28u);
}
