// Texels stored as rgba32uint: every component is converted to its bits.

@group(0) @binding(0) var picture: texture_storage_2d<rgba32uint, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(picture);
    if (id.x >= size.x || id.y >= size.y) { return; }
    let i = id.y * size.x + id.x;
    textureStore(picture, id.xy, vec4<u32>(i, ~i, i * 0x01010101u, 7u));
}
