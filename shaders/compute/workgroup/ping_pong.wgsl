// Two buffers used alternately, with one barrier for each step: the other buffer is still being read.

var<workgroup> lines: array<array<u32, 64>, 2>;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) k: u32) {
    lines[0][k] = a[id.x];
    for (var turn = 0u; turn < 6u; turn++) {
        workgroupBarrier();
        let old = turn & 1u;
        lines[1u - old][k] = lines[old][k] + lines[old][k ^ (1u << turn)];
    }
    workgroupBarrier();
    out[id.x] = lines[0][k];
}
