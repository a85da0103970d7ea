// Atomic members of a struct next to plain members that other invocations write.

struct Slot {
    before: u32,
    count: atomic<u32>,
    after: u32,
}

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> slots: array<Slot, 8>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    atomicAdd(&slots[a[i] & 7u].count, a[i]);
    if (i < 8u) {
        slots[i].before = i;
        slots[i].after = ~i;
    }
}
