// A layer beyond the last one selects the last one, also where its number does not fit a signed integer.

@group(0) @binding(0) var pictures: texture_2d_array<f32>;
@group(0) @binding(1) var nearest: sampler;
@group(0) @binding(2) var<storage, read_write> texels: array<vec4<f32>>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&texels)) { return; }
    texels[id.x] = textureSampleLevel(pictures, nearest, vec2<f32>(0.0), 0xffffffffu >> id.x, 0.0);
}
