// After a storage barrier the workgroup sees an invocation's buffer writes.

@group(0) @binding(0) var<storage, read_write> line: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) k: u32) {
    line[id.x] = line[id.x] * 5u + 1u;
    storageBarrier();
    out[id.x] = line[id.x - k + ((k * 11u) & 63u)];
}
