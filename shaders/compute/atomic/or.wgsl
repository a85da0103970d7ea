// Atomic OR: sets the bits that any invocation has.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> total: array<atomic<u32>, 4>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    atomicOr(&total[i & 3u], 1u << (a[i] & 31u));
}
