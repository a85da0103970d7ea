// A 64-bit product of extended words: one widening instruction on many GPUs, selected by the kind of extension.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<array<u64, 2>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let s = i64(bitcast<i32>(a[i])) * i64(bitcast<i32>(b[i]));
    out[i] = array<u64, 2>(u64(a[i]) * u64(b[i]), u64(s));
}
