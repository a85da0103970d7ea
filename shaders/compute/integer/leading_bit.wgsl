// The highest set bit, or for negative integers the highest clear bit; zero has none.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec3<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = vec3<u32>(firstLeadingBit(a[i]), bitcast<u32>(firstLeadingBit(bitcast<i32>(a[i]))), countLeadingZeros(a[i]));
}
