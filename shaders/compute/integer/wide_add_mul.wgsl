// 64-bit addition and multiplication, with carries between the halves.

@group(0) @binding(0) var<storage, read> a: array<u64>;
@group(0) @binding(1) var<storage, read> b: array<u64>;
@group(0) @binding(2) var<storage, read_write> out: array<array<u64, 3>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = array<u64, 3>(a[i] + b[i], a[i] - b[i], a[i] * b[i]);
}
