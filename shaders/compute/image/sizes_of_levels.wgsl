// The size of the level that each invocation requests, not of the first invocation's level.

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> sizes: array<vec2<u32>>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&sizes)) { return; }
    sizes[id.x] = textureDimensions(picture, id.x % textureNumLevels(picture));
}
