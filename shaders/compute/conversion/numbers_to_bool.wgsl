// Every word except zero converts to true; -0.0 converts to false.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = select(a[i], 0x80000000u, i % 4u == 1u);
    out[i] = vec4<u32>(u32(bool(x)), u32(bool(bitcast<i32>(x))), u32(bool(x & 1u)), u32(bool(x & 0u)));
}
