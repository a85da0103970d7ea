// Barriers in a loop whose number of iterations is uniform but known only at run time.

var<workgroup> sum: array<u32, 64>;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<uniform> turns: vec4<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) k: u32) {
    sum[k] = a[id.x];
    for (var n = 0u; n < (turns.x & 7u); n++) {
        workgroupBarrier();
        let next = sum[(k * 5u + n) & 63u];
        workgroupBarrier();
        sum[k] = sum[k] * 3u + next;
    }
    out[id.x] = sum[k];
}
