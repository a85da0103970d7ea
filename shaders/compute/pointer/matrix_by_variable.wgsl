// A store to a component of a matrix with variable indices changes only that component.

@group(0) @binding(0) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> out: array<array<vec4<f32>, 3>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var m = mat3x4<f32>(vec4<f32>(1.0, 2.0, 3.0, 4.0), vec4<f32>(5.0, 6.0, 7.0, 8.0), vec4<f32>(9.0, 10.0, 11.0, 12.0));
    let column = a[i].x % 3u;
    m[column][a[i].y & 3u] = f32(a[i].z & 255u);
    m[(column + 1u) % 3u] = m[column];
    out[i] = array<vec4<f32>, 3>(m[0], m[1], m[2]);
}
