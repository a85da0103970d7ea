// `step` is one at its edge, and the sign of zero is zero.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = vec4<f32>(step(a[i], b[i]), step(a[i], a[i]), sign(a[i]), sign(b[i] - b[i]));
}
