// Sampling, gathering and fetching.
@group(0) @binding(1) var image: texture_2d<f32>;
@group(0) @binding(2) var taps: sampler;
@group(0) @binding(0) var<storage, read_write> out: array<vec4<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let uv = vec2<f32>(id.xy) / 16.0;
    out[id.x] = textureSampleLevel(image, taps, uv, 1.0) + textureGather(2, image, taps, uv)
        + textureLoad(image, vec2<i32>(id.xy), 0) + textureSampleGrad(image, taps, uv, uv, uv);
}
