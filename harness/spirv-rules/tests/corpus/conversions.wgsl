// Conversions and bit casts.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = input[id.x];
    let n = i32(x);
    out[id.x] = u32(x) + u32(n) + bitcast<u32>(x) + u32(f32(n)) + u32(bool(n)) + bitcast<u32>(n);
}
