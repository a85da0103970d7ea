// A store to one component keeps the other three, which other invocations write.

@group(0) @binding(0) var<storage, read_write> list: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    list[i / 4u][i & 3u] = i * 0x01010101u;
}
