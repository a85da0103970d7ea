// Values beyond the largest half, stored as rgba16float: the result is the largest half or an infinity, not a NaN.

@group(0) @binding(0) var picture: texture_storage_2d<rgba16float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(picture);
    if (id.x >= size.x || id.y >= size.y) { return; }
    // 65504, and values with the same fraction and larger exponents.
    let beyond = bitcast<f32>(0x477fe000u + ((id.y * size.x + id.x) % 111u) * 0x800000u);
    textureStore(picture, id.xy, vec4<f32>(beyond, -beyond, 1.5 * beyond, 1.0));
}
