// Words loaded from one image and stored to another, mirrored.

@group(0) @binding(0) var given: texture_storage_2d<r32uint, read>;
@group(0) @binding(1) var out: texture_storage_2d<r32uint, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(given);
    if (id.x >= size.x || id.y >= size.y) { return; }
    let texel = textureLoad(given, vec2<u32>(size.x - 1u - id.x, id.y));
    textureStore(out, id.xy, texel * 3u + vec4<u32>(id.y));
}
