// 2-byte members next to words; a store to a half must keep its neighbour.

enable f16;

struct Mixed {
    a: f16,
    b: f16,
    word: u32,
    v: vec3<f16>,
    c: f16,
}

@group(0) @binding(0) var<storage, read_write> list: array<Mixed>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    list[i].b = list[i].a + 1.0h;
    list[i].v.y = list[i].c;
    list[i].word += 1u;
}
