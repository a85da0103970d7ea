// Texels of a sampled image fetched by integer coordinates, without a sampler.

@group(0) @binding(0) var given: texture_2d<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(given);
    out[id.x] = textureLoad(given, vec2<u32>(id.x % size.x, (id.x / size.x) % size.y), 0);
}
