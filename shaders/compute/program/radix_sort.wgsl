// Radix sort of 256 words, four bits at a time: counts, a scan of the counts, a stable scatter.

@group(0) @binding(0) var<storage, read_write> keys: array<u32>;

var<workgroup> line: array<u32, 256>;
var<workgroup> counts: array<u32, 256>; // of each of 16 digits in each of 16 stretches

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) k: u32, @builtin(workgroup_id) group: vec3<u32>) {
    let base = group.x * 256u;
    for (var shift = 0u; shift < 32u; shift += 4u) {
        for (var d = 0u; d < 16u; d++) { counts[d * 16u + k] = 0u; }
        for (var n = 0u; n < 16u; n++) {
            let digit = (keys[base + k * 16u + n] >> shift) & 15u;
            counts[digit * 16u + k] += 1u;
        }
        workgroupBarrier();
        if (k == 0u) {
            var sum = 0u;
            for (var n = 0u; n < 256u; n++) {
                let count = counts[n];
                counts[n] = sum;
                sum += count;
            }
        }
        workgroupBarrier();
        for (var n = 0u; n < 16u; n++) {
            let key = keys[base + k * 16u + n];
            let at = ((key >> shift) & 15u) * 16u + k;
            line[counts[at]] = key;
            counts[at] += 1u;
        }
        workgroupBarrier();
        for (var n = 0u; n < 16u; n++) { keys[base + k * 16u + n] = line[k * 16u + n]; }
        workgroupBarrier();
    }
}
