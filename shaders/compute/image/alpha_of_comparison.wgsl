// A view that shows the alpha of a depth image in every component. A comparison replaces the depth only,
// which this view does not show. The alpha of a depth image is 1, whatever the result of the comparison.
@group(0) @binding(0) var depths: texture_depth_2d;
@group(0) @binding(1) var compared: sampler_comparison;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    out[id.x] = textureSampleCompareLevel(depths, compared, vec2f(0.4), f32(id.x) * 0.3);
}
