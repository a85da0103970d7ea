// Storage textures read and written.
@group(0) @binding(0) var source: texture_storage_2d<r32uint, read>;
@group(0) @binding(1) var target_image: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(2) var both: texture_storage_2d<r32float, read_write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let texel = textureLoad(source, id.xy);
    textureStore(target_image, id.xy, vec4<f32>(texel) / 255.0);
    textureStore(both, id.xy, textureLoad(both, id.yx) + 1.0);
}
