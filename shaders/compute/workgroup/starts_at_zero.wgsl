// Workgroup memory is zero before the first store in every workgroup.

var<workgroup> line: array<vec3<u32>, 40>;
var<workgroup> count: u32;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) k: u32) {
    let before = line[k % 40u].y + count;
    workgroupBarrier();
    if (k < 40u) { line[k] = vec3<u32>(a[id.x]); }
    if (k == 0u) { count = 5u; }
    workgroupBarrier();
    out[id.x] = before + line[(k + 7u) % 40u].z + count;
}
