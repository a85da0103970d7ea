// Vector shifts with a different amount for each component.

@group(0) @binding(0) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let amount = b[i] & vec4<u32>(31u);
    out[i] = (a[i] << amount) ^ (a[i] >> (vec4<u32>(31u) - amount));
}
