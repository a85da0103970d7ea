// The high word of a product, computed from four 16-bit products and their carries.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x0 = a[i] & 0xffffu;
    let x1 = a[i] >> 16u;
    let y0 = b[i] & 0xffffu;
    let y1 = b[i] >> 16u;
    let low = x0 * y0;
    let mid = x1 * y0 + (low >> 16u);
    let mid2 = x0 * y1 + (mid & 0xffffu);
    out[i] = x1 * y1 + (mid >> 16u) + (mid2 >> 16u);
}
