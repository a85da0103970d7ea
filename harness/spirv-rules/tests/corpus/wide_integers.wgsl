// 64-bit integers.
@group(0) @binding(0) var<storage, read_write> out: array<u64>;
@group(0) @binding(1) var<storage, read> input: array<i64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = input[id.x];
    out[id.x] = u64(a * 3li) + (u64(id.x) << 40u) + bitcast<u64>(a);
}
