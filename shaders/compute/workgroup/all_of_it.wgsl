// 1 KiB of workgroup memory, written with one stride and read with another.

var<workgroup> all: array<u32, 256>;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) k: u32) {
    for (var n = 0u; n < 4u; n++) { all[n * 64u + k] = a[id.x] + n; }
    workgroupBarrier();
    var sum = 0u;
    for (var n = 0u; n < 4u; n++) { sum = sum * 3u + all[k * 4u + (n * 3u & 3u)]; }
    out[id.x] = sum;
}
