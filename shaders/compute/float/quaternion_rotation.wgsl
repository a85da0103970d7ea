// Rotation by a unit quaternion: a sum of many products, whose order is unspecified.

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let q = vec4<f32>(0.5, -0.5, 0.5, 0.5);
    let p = clamp(a[i].xyz, vec3<f32>(-50.0), vec3<f32>(50.0));
    let t = 2.0 * cross(q.xyz, p);
    out[i] = vec4<f32>(p + q.w * t + cross(q.xyz, t), 1.0);
}
