// Every atomic on storage.
@group(0) @binding(0) var<storage, read_write> out: array<atomic<u32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = &out[id.x];
    let a = atomicAdd(p, 1u) + atomicSub(p, 2u) + atomicMax(p, 3u) + atomicMin(p, 4u);
    let b = atomicAnd(p, 5u) + atomicOr(p, 6u) + atomicXor(p, 7u) + atomicExchange(p, 8u);
    let c = atomicCompareExchangeWeak(p, a, b);
    if c.exchanged { atomicStore(p, c.old_value + atomicLoad(p)); }
}
