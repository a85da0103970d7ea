// Softmax: exponentials of the differences to the maximum, divided by their sum; one row for each workgroup.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

var<workgroup> line: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) k: u32) {
    line[k] = a[id.x];
    for (var half = 32u; half > 0u; half = half >> 1u) {
        workgroupBarrier();
        if (k < half) { line[k] = max(line[k], line[k + half]); }
    }
    workgroupBarrier();
    let greatest = line[0];
    workgroupBarrier();
    let e = exp(a[id.x] - greatest);
    line[k] = e;
    for (var half = 32u; half > 0u; half = half >> 1u) {
        workgroupBarrier();
        if (k < half) { line[k] = line[k] + line[k + half]; }
    }
    workgroupBarrier();
    out[id.x] = e / line[0];
}
