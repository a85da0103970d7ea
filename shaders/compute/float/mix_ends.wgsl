// `mix` at both ends and in between.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec3<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = clamp(a[i], -100.0, 100.0);
    let y = clamp(b[i], -100.0, 100.0);
    out[i] = vec3<f32>(mix(x, y, 0.0), mix(x, y, 1.0), mix(x, y, 0.25));
}
