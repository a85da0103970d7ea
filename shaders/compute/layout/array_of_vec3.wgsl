// Elements of three words at a stride of four words; the fourth word is padding.

@group(0) @binding(0) var<storage, read_write> list: array<vec3<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    list[id.x] = list[id.x].yzx + vec3<u32>(id.x, 1u, 2u);
}
