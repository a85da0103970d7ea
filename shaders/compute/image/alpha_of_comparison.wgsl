// A view of depths that shows their alpha in every component. The comparison replaces the depth, which the view does not show; the alpha
// of an image of depths is 1, whatever the comparison comes to.
@group(0) @binding(0) var depths: texture_depth_2d;
@group(0) @binding(1) var compared: sampler_comparison;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    out[id.x] = textureSampleCompareLevel(depths, compared, vec2f(0.4), f32(id.x) * 0.3);
}
