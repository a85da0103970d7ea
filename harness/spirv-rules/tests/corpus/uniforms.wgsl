// A uniform buffer.
struct Params { scale: vec4<f32>, rows: mat3x3<f32>, count: u32 }
@group(1) @binding(2) var<uniform> params: Params;
@group(0) @binding(0) var<storage, read_write> out: array<vec4<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    out[id.x] = params.scale * f32(params.count) + vec4(params.rows * vec3(1.0), 0.0);
}
