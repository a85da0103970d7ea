// 16-bit floats.
enable f16;
@group(0) @binding(0) var<storage, read_write> out: array<f16>;
@group(0) @binding(1) var<storage, read> input: array<vec2<f16>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = input[id.x];
    out[id.x] = a.x * a.y + f16(1.5) + f16(f32(a.x)) + sqrt(a.y);
}
