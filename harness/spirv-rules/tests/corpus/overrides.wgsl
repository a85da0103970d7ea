// Values given when the pipeline is made.
@id(3) override size: u32 = 8u;
@id(4) override scale: f32 = 1.5;
override twice = size * 2u;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    out[id.x] = scale * f32(twice + size);
}
