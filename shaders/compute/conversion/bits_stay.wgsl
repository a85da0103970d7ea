// Bit casts through float registers keep every bit: NaNs are not quieted and denormals are not flushed.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let f = bitcast<vec2<f32>>(vec2<u32>(a[i], a[i] | 0x7f800000u));
    out[i] = bitcast<vec2<u32>>(f.yx).yx;
}
