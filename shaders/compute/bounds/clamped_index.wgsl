// An index clamped to an array length that is known only at run time.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let last = arrayLength(&a) - 1u;
    out[i] = a[min(i * 7u, last)] + a[min(a[i], last)];
}
