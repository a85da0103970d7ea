// A runtime array after a header: its length depends on the size of the buffer, not on the header.

struct Log {
    count: u32,
    version: u32,
    entries: array<vec2<u32>>,
}

@group(0) @binding(0) var<storage, read_write> log: Log;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let length = arrayLength(&log.entries);
    if (id.x < length) {
        log.entries[length - 1u - id.x].y = length * 1000u + id.x;
    }
}
