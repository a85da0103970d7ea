// A store to a member must not write the padding between members.

struct Sparse {
    flag: u32,
    @align(16) wide: vec2<u32>,
    tail: vec3<u32>,
}

@group(0) @binding(0) var<storage, read_write> list: array<Sparse>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    list[i].flag = ~list[i].flag;
    list[i].wide = list[i].wide.yx;
    list[i].tail = list[i].tail.zxy;
}
