// A matrix product through tiles in workgroup memory, with two barriers for each tile; the matrices are as large as the dispatch.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;

var<workgroup> left: array<array<f32, 8>, 8>;
var<workgroup> right: array<array<f32, 8>, 8>;

@compute @workgroup_size(8, 8)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) at: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let n = groups.x * 8u;
    var sum = 0.0;
    for (var t = 0u; t < n; t += 8u) {
        left[at.y][at.x] = a[id.y * n + t + at.x];
        right[at.y][at.x] = b[(t + at.y) * n + id.x];
        workgroupBarrier();
        for (var k = 0u; k < 8u; k++) {
            sum += left[at.y][k] * right[k][at.x];
        }
        workgroupBarrier();
    }
    c[id.y * n + id.x] = sum;
}
