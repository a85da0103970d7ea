// An inclusive scan of a workgroup by doubling distances.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

var<workgroup> line: array<u32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) k: u32) {
    line[k] = a[id.x];
    for (var distance = 1u; distance < 256u; distance = distance * 2u) {
        workgroupBarrier();
        var x = line[k];
        if (k >= distance) { x += line[k - distance]; }
        workgroupBarrier();
        line[k] = x;
    }
    out[id.x] = line[k];
}
