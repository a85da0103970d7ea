// A matrix product by vectors of four, with a block of 4x4 for each invocation.

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4<f32>>;

const N: u32 = 8u; // vectors in a row

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var block = mat4x4<f32>();
    for (var k = 0u; k < N; k++) {
        let rows = mat4x4<f32>(b[(4u * k) * N + id.x], b[(4u * k + 1u) * N + id.x], b[(4u * k + 2u) * N + id.x], b[(4u * k + 3u) * N + id.x]);
        for (var r = 0u; r < 4u; r++) {
            block[r] += rows * a[(4u * id.y + r) * N + k];
        }
    }
    for (var r = 0u; r < 4u; r++) {
        c[(4u * id.y + r) * N + id.x] = block[r];
    }
}
