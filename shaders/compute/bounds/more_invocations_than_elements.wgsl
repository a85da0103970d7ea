// The last workgroup exceeds the data; its surplus invocations return early.

@group(0) @binding(0) var<storage, read_write> data: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&data)) { return; }
    data[id.x] = data[id.x] * 3u + id.x;
}
