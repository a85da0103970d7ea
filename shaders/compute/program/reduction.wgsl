// A sum of floats in each workgroup, as a binary tree.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;

var<workgroup> line: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) k: u32,
        @builtin(workgroup_id) group: vec3<u32>) {
    line[k] = a[id.x];
    for (var half = 32u; half > 0u; half = half / 2u) {
        workgroupBarrier();
        if (k < half) { line[k] += line[k + half]; }
    }
    if (k == 0u) { sums[group.x] = line[0]; }
}
