// Conversion from 64 to 32 bits keeps the low word, for negative numbers too.

@group(0) @binding(0) var<storage, read> a: array<i64>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = vec2<u32>(u32(u64(a[i])), bitcast<u32>(i32(a[i] >> 20u)));
}
