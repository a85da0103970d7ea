// Clamping in signed and in unsigned order.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = vec2<u32>(clamp(a[i], 16u, 0xfffffff0u), bitcast<u32>(clamp(bitcast<i32>(a[i]), -16, 0x7ffffff0)));
}
