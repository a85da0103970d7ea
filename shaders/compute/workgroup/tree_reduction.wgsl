// Half of the invocations continue in each step; all of them reach every barrier.

var<workgroup> line: array<u32, 128>;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) k: u32,
        @builtin(workgroup_id) group: vec3<u32>) {
    line[k] = a[id.x];
    for (var half = 64u; half > 0u; half = half >> 1u) {
        workgroupBarrier();
        if (k < half) { line[k] = max(line[k], line[k + half]) + 1u; }
    }
    workgroupBarrier();
    out[id.x] = line[0] ^ group.x;
}
