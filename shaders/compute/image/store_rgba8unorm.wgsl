// Texels stored as rgba8unorm: every component is converted to its bits.

@group(0) @binding(0) var picture: texture_storage_2d<rgba8unorm, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(picture);
    if (id.x >= size.x || id.y >= size.y) { return; }
    let i = id.y * size.x + id.x;
    textureStore(picture, id.xy, vec4<f32>(vec4<u32>(i, i >> 1u, 255u - (i & 255u), 128u) & vec4<u32>(255u)) / 255.0);
}
