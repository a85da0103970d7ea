// A compensated sum (Kahan), which reassociation would break.

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let v = clamp(a[i], vec4<f32>(-1e4), vec4<f32>(1e4));
    var sum = v.x;
    var lost = 0.0;
    for (var n = 1u; n < 4u; n++) {
        let y = v[n] - lost;
        let t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    out[i] = vec2<f32>(sum, lost);
}
