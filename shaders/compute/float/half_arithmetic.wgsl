// Sums, products and square roots of halves.

enable f16;

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let v = vec2<f16>(unpack2x16float((a[i] & 0xbbffbbffu) | 0x04000400u));
    let s = v + v.yx * v;
    out[i] = vec4<f32>(vec2<f32>(s), vec2<f32>(abs(v) - v));
}
