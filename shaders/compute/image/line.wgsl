// Texels of a one-dimensional image.

@group(0) @binding(0) var line: texture_storage_1d<r32uint, write>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < textureDimensions(line)) { textureStore(line, id.x, vec4<u32>(id.x * id.x)); }
}
