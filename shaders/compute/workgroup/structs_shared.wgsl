// Structs in workgroup memory whose members are written by different invocations.

struct Slot {
    low: u32,
    pair: vec2<u32>,
    flag: u32,
}

var<workgroup> slots: array<Slot, 16>;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) k: u32) {
    let s = k / 4u;
    switch (k & 3u) {
        case 0u: { slots[s].low = a[id.x]; }
        case 1u: { slots[s].pair.x = a[id.x]; }
        case 2u: { slots[s].pair.y = a[id.x]; }
        default: { slots[s].flag = a[id.x]; }
    }
    workgroupBarrier();
    let other = slots[(s + 5u) & 15u];
    out[id.x] = (other.low ^ other.pair.x) + (other.pair.y ^ other.flag);
}
