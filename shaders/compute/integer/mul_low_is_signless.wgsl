// The low word of a product is equal for signed and unsigned operands.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec3<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let signed = bitcast<u32>(bitcast<i32>(a[i]) * bitcast<i32>(b[i]));
    out[i] = vec3<u32>(a[i] * b[i], signed, signed - a[i] * b[i]);
}
