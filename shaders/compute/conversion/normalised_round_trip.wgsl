// Normalised bytes converted to floats and back are unchanged.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = vec2<u32>(pack4x8unorm(unpack4x8unorm(a[i])), pack2x16unorm(unpack2x16unorm(a[i])));
}
