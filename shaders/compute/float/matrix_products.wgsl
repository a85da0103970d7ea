// A matrix times a vector, and the vector times the transposed matrix.

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<array<vec4<f32>, 2>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let v = clamp(a[i], vec4<f32>(-10.0), vec4<f32>(10.0));
    let m = mat4x4<f32>(vec4<f32>(1.0, 0.5, 0.0, 0.0), vec4<f32>(-0.5, 1.0, 0.25, 0.0), vec4<f32>(0.0, 2.0, 1.0, 3.0), vec4<f32>(4.0, 5.0, 6.0, 1.0));
    out[i] = array<vec4<f32>, 2>(m * v, v * transpose(m));
}
