// Each layer of an array is a separate image. (The number of layers is a constant here, because naga 30 queries a storage image with OpImageQuerySizeLod, which Vulkan forbids.)

@group(0) @binding(0) var pictures: texture_storage_2d_array<r32uint, write>;

@compute @workgroup_size(4, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(pictures);
    if (id.x >= size.x || id.y >= size.y) { return; }
    for (var layer = 0u; layer < 2u; layer++) {
        textureStore(pictures, id.xy, layer, vec4<u32>(layer * 1000u + id.y * 32u + id.x));
    }
}
