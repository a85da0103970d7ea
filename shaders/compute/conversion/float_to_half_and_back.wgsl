// A float that a half can represent survives conversion to a half and back.

enable f16;

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let pair = unpack2x16float((a[i] & 0xbbffbbffu) | 0x04000400u);
    let h = vec2<f16>(pair);
    out[i] = vec2<f32>(h) * 0.5;
}
