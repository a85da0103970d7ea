// Signed 64-bit quotients by 32-bit divisors.

@group(0) @binding(0) var<storage, read> a: array<i64>;
@group(0) @binding(1) var<storage, read> b: array<i32>;
@group(0) @binding(2) var<storage, read_write> out: array<array<i64, 2>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let d = i64(select(b[i], 7, b[i] == 0 || b[i] == -1));
    out[i] = array<i64, 2>(a[i] / d, a[i] % d);
}
