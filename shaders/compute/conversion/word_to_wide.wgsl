// Conversion from 32 to 64 bits extends by the signedness of the source.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u64, 2>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = array<u64, 2>(u64(a[i]), u64(i64(bitcast<i32>(a[i]))));
}
