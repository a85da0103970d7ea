// Bitonic sort of 512 words in workgroup memory.

@group(0) @binding(0) var<storage, read_write> keys: array<i32>;

var<workgroup> line: array<i32, 512>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) k: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let base = group.x * 512u;
    line[k] = keys[base + k];
    line[k + 256u] = keys[base + k + 256u];
    for (var size = 2u; size <= 512u; size = size * 2u) {
        for (var half = size / 2u; half > 0u; half = half / 2u) {
            workgroupBarrier();
            let low = (k / half) * half * 2u + k % half;
            let up = (low & size) == 0u;
            let x = line[low];
            let y = line[low + half];
            if ((x > y) == up) {
                line[low] = y;
                line[low + half] = x;
            }
        }
    }
    workgroupBarrier();
    keys[base + k] = line[k];
    keys[base + k + 256u] = line[k + 256u];
}
