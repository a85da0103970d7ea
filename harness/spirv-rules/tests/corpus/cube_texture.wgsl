// Cubes of textures.
@group(0) @binding(1) var image: texture_cube<f32>;
@group(0) @binding(2) var taps: sampler;
@group(0) @binding(0) var<storage, read_write> out: array<vec4<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let d = vec3<f32>(id) - 8.0;
    out[id.x] = textureSampleLevel(image, taps, d, 0.5) + textureGather(1, image, taps, d);
}
