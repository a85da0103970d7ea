// Loading and storing a whole struct copies every member.

struct Mixed {
    tag: u32,
    at: vec3<u32>,
    list: array<u32, 3>,
    turn: mat2x2<f32>,
}

@group(0) @binding(0) var<storage, read> given: array<Mixed>;
@group(0) @binding(1) var<storage, read_write> out: array<Mixed>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let copy = given[id.x ^ 1u];
    out[id.x] = copy;
}
