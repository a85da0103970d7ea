// 64-bit members start at multiples of 8 bytes.

struct Wide {
    a: u32,
    b: u64,
    c: u32,
    d: i64,
}

@group(0) @binding(0) var<storage, read_write> list: array<Wide>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    list[i].b += u64(list[i].a);
    list[i].d = list[i].d >> (list[i].c & 63u);
}
