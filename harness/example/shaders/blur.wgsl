// A box blur with a radius of 1.

@group(0) @binding(0) var<storage, read> src: array<f32>;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let last = arrayLength(&src) - 1u;
    let i = id.x;
    if i > last || i >= arrayLength(&dst) {
        return;
    }
    let left = src[max(i, 1u) - 1u];
    let right = src[min(i + 1u, last)];
    dst[i] = (left + src[i] + right) / 3.0;
}
