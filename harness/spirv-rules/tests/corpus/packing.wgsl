// Packing into words and back.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> input: array<vec4<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = input[id.x];
    let u = unpack4x8unorm(pack4x8unorm(a)) + unpack4x8snorm(pack4x8snorm(a));
    let h = unpack2x16float(pack2x16float(a.xy)) + unpack2x16unorm(pack2x16unorm(a.zw));
    out[id.x] = pack4x8unorm(u) ^ pack2x16snorm(h);
}
