// A function changes members of a struct through a pointer and reads them back through it.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u32, 3>>;

struct Item {
    key: u32,
    hits: u32,
}

fn bump(item: ptr<function, Item>, n: u32) {
    (*item).hits += 10u + n;
    (*item).key = (*item).key ^ (*item).hits;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var item = Item(a[i], 1u);
    let before = item;
    bump(&item, a[i] & 3u);
    bump(&item, 1u);
    out[i] = array<u32, 3>(item.key, item.hits, before.key + before.hits);
}
