// Lengths, normalised vectors, dot and cross products, as most shaders use them.

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let p = clamp(a[i].xyz, vec3<f32>(-100.0), vec3<f32>(100.0)) + vec3<f32>(0.0, 0.0, 200.0);
    let q = clamp(b[i].xyz, vec3<f32>(-100.0), vec3<f32>(100.0));
    out[i] = vec4<f32>(cross(p, q), dot(normalize(p), q));
}
