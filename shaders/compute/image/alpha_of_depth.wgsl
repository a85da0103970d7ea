// A view that shows the alpha of a depth image in every component, read without a sampler: it is 1.
@group(0) @binding(0) var depths: texture_depth_2d;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    out[id.x] = textureLoad(depths, vec2u(id.x, 1u), 0);
}
