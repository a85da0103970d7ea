// Bytes packed with truncation and with clamping.

@group(0) @binding(0) var<storage, read> a: array<vec4<i32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let v = a[i];
    out[i] = vec4<u32>(pack4xI8(v), pack4xU8(bitcast<vec4<u32>>(v)), pack4xI8Clamp(v), pack4xU8Clamp(bitcast<vec4<u32>>(v)));
}
