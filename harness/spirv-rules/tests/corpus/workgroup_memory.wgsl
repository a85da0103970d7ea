// A reduction in workgroup memory.
var<workgroup> part: array<f32, 64>;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3<u32>) {
    part[local] = input[id.x];
    for (var step = 32u; step > 0u; step >>= 1u) {
        workgroupBarrier();
        if local < step { part[local] += part[local + step]; }
    }
    if local == 0u { out[group.x] = part[0]; }
}
