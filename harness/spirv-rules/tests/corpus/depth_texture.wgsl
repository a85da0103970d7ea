// Comparison sampling.
@group(0) @binding(1) var image: texture_depth_2d;
@group(0) @binding(2) var taps: sampler_comparison;
@group(0) @binding(0) var<storage, read_write> out: array<vec4<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let uv = vec2<f32>(id.xy) / 16.0;
    out[id.x] = textureGatherCompare(image, taps, uv, 0.5) * textureSampleCompareLevel(image, taps, uv, 0.25);
}
