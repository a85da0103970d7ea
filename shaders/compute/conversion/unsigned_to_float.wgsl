// Words above 2^24 round; values next to a tie reveal the direction.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = vec2<f32>(f32(a[i]), f32((a[i] & 0xffu) | 0x01000000u));
}
