// A value loaded by all invocations after a barrier: `workgroupUniformLoad`.

var<workgroup> limit: u32;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) k: u32) {
    if (k == 13u) { limit = a[id.x] & 15u; }
    let turns = workgroupUniformLoad(&limit);
    var x = a[id.x];
    for (var n = 0u; n < turns; n++) { x = x * 3u + 1u; }
    out[id.x] = x;
}
