// Matrices that are not square, in a structure.
struct Shapes { a: mat2x3<f32>, b: mat3x2<f32>, c: mat4x2<f32>, d: mat3x4<f32> }
@group(0) @binding(0) var<storage, read_write> out: array<Shapes>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let s = out[id.x];
    out[id.x].a = s.a * 2.0;
    out[id.x].b[1] = s.b[2] + s.c[3];
    out[id.x].d = transpose(transpose(s.d));
}
