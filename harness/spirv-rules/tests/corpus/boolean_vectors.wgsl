// Vectors of booleans.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> input: array<vec4<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = input[id.x] > vec4(0.5);
    let b = !a;
    out[id.x] = select(0u, 1u, any(a & b)) + select(0u, 2u, all(a | b)) + dot(select(vec4(0u), vec4(1u), a), vec4(1u));
}
