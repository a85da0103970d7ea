// Texels stored as rgba8sint: every component is converted to its bits.

@group(0) @binding(0) var picture: texture_storage_2d<rgba8sint, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(picture);
    if (id.x >= size.x || id.y >= size.y) { return; }
    let i = id.y * size.x + id.x;
    textureStore(picture, id.xy, vec4<i32>(i32(i & 127u), -i32(i & 127u), -128, 127));
}
