// Lookups toward a corner of a cube map, where three faces are equally near: the result must be the corner texel of one of them.
@group(0) @binding(0) var cube: texture_cube<f32>;
@group(0) @binding(1) var at: sampler;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let bits = (vec3u(id.x) >> vec3u(0u, 1u, 2u)) & vec3u(1u);
    let corner = select(vec3f(-1.0), vec3f(1.0), bits == vec3u(1u));
    out[id.x] = textureSampleLevel(cube, at, corner, 0.0).x;
}
