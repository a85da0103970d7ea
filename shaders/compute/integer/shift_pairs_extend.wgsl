// A left and a right shift by the same amount: sign extension for signed operands, a mask for unsigned ones, not the identity.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = a[i];
    let s = bitcast<i32>(x);
    out[i] = vec4<u32>((x << 8u) >> 8u, bitcast<u32>((s << 8u) >> 8u), (x << 24u) >> 24u, bitcast<u32>((s << 16u) >> 16u));
}
