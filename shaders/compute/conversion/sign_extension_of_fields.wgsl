// A byte and a half word extracted from a word, with sign and with zero extension.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = a[i];
    let s = bitcast<i32>(x);
    out[i] = vec4<u32>((x >> 8u) & 0xffu, bitcast<u32>((s << 16u) >> 24u), x & 0xffffu, bitcast<u32>((s << 16u) >> 16u));
}
