// Texels of a three-dimensional image.

@group(0) @binding(0) var volume: texture_storage_3d<r32uint, write>;

@compute @workgroup_size(4, 4, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(volume);
    if (any(id >= size)) { return; }
    textureStore(volume, id, vec4<u32>((id.z << 16u) | (id.y << 8u) | id.x));
}
