// Geometric functions.
@group(0) @binding(0) var<storage, read_write> out: array<vec3<f32>>;
@group(0) @binding(1) var<storage, read> input: array<vec3<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = input[id.x];
    let n = normalize(input[id.y]);
    out[id.x] = reflect(a, n) + refract(a, n, 0.75) + faceForward(n, a, n) + degrees(a) + radians(n);
}
