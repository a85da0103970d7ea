// What is beyond the largest half, written as rgba16float: the largest one or an infinity, and no NaN.

@group(0) @binding(0) var picture: texture_storage_2d<rgba16float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(picture);
    if (id.x >= size.x || id.y >= size.y) { return; }
    // 65504, and the same with the next exponents.
    let beyond = bitcast<f32>(0x477fe000u + ((id.y * size.x + id.x) % 111u) * 0x800000u);
    textureStore(picture, id.xy, vec4<f32>(beyond, -beyond, 1.5 * beyond, 1.0));
}
