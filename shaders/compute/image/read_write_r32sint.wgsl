// Texels modified in place.

@group(0) @binding(0) var picture: texture_storage_2d<r32sint, read_write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(picture);
    if (id.x >= size.x || id.y >= size.y) { return; }
    let texel = textureLoad(picture, id.xy);
    textureStore(picture, id.xy, -texel);
}
