// Two entry points that share what they use.
var<workgroup> shared_value: u32;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> input: array<u32>;
@compute @workgroup_size(1)
fn first(@builtin(global_invocation_id) id: vec3<u32>) { out[id.x] = input[id.x]; }
@compute @workgroup_size(32)
fn second(@builtin(global_invocation_id) id: vec3<u32>) {
    shared_value = id.x;
    workgroupBarrier();
    out[id.x] = shared_value;
}
