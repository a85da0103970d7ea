// Swizzles and vector operators.
@group(0) @binding(0) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> input: array<vec4<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = input[id.x];
    var b = a.wzyx * 2.0 + vec4(a.xy, a.zw);
    b.y = dot(a, b);
    out[id.x] = b + vec4(cross(a.xyz, b.xyz), length(a));
}
