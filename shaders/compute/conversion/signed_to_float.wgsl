// Signed words above 2^24 in magnitude round; the least word is among them.

@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = select(a[i], -0x7fffffff - 1, i == 3u);
    out[i] = vec2<f32>(f32(x), f32(x >> 7u));
}
