// A polynomial in Horner's form, as nested products.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = clamp(a[i], -2.0, 2.0);
    out[i] = (((0.125 * x - 0.5) * x + 1.5) * x - 3.0) * x + 1.0;
}
