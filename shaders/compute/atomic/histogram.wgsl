// A histogram of bytes: many invocations increment few words.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>, 16>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    for (var n = 0u; n < 8u; n++) {
        atomicAdd(&counts[(a[id.x] >> (4u * n)) & 15u], 1u);
    }
}
