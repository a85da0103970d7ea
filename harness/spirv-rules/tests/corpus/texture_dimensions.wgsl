// Textures of every dimension, and queries.
@group(0) @binding(1) var line: texture_1d<u32>;
@group(0) @binding(2) var cube: texture_3d<i32>;
@group(0) @binding(3) var many: texture_multisampled_2d<f32>;
@group(0) @binding(4) var layers: texture_2d_array<f32>;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var n = textureDimensions(line) + textureDimensions(cube).z + textureNumLayers(layers) + textureNumLevels(layers);
    n += textureNumSamples(many) + textureLoad(line, i32(id.x), 0).x + u32(textureLoad(cube, vec3<i32>(id), 0).y);
    out[id.x] = n + u32(textureLoad(many, id.xy, 1).x + textureLoad(layers, id.xy, 2, 0).x);
}
