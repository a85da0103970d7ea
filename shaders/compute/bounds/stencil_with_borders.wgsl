// A stencil that repeats the border elements beyond both ends.

@group(0) @binding(0) var<storage, read> given: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let last = i32(arrayLength(&given)) - 1;
    let i = i32(id.x);
    if (i > last) { return; }
    out[i] = given[max(i - 1, 0)] - 2 * given[i] + given[min(i + 1, last)];
}
