// Towards a corner of a cube map, where three faces are as near: whichever is taken, the texel is the one of its corner.
@group(0) @binding(0) var cube: texture_cube<f32>;
@group(0) @binding(1) var at: sampler;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let bits = (vec3u(id.x) >> vec3u(0u, 1u, 2u)) & vec3u(1u);
    let corner = select(vec3f(-1.0), vec3f(1.0), bits == vec3u(1u));
    out[id.x] = textureSampleLevel(cube, at, corner, 0.0).x;
}
