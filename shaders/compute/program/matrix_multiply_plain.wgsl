// A matrix product with one element for each invocation: a chain of multiplications and additions that may be fused.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;

const N: u32 = 32u;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = 0.0;
    for (var k = 0u; k < N; k++) {
        sum += a[id.y * N + k] * b[k * N + id.x];
    }
    c[id.y * N + id.x] = sum;
}
