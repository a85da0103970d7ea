// A copy of a struct keeps its values when the original changes.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u32, 4>>;

struct Pair {
    list: array<u32, 3>,
    count: u32,
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var first: Pair;
    first.list = array<u32, 3>(a[i], a[i] + 1u, a[i] + 2u);
    first.count = 3u;
    var second = first;
    first.list[1] = 0u;
    second.count = 9u;
    let third = second;
    second.list[2] = 8u;
    out[i] = array<u32, 4>(first.list[1] + first.count, second.list[1], third.list[2], second.count);
}
