// Halves packed into words and unpacked again are unchanged.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = (a[i] & 0xbbffbbffu) | 0x04000400u; // normal numbers below one
    let pair = unpack2x16float(x);
    out[i] = vec2<u32>(pack2x16float(pair), pack2x16float(pair.yx));
}
