// Operations of the subgroup.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) size: u32) {
    let sum = subgroupAdd(id.x) + subgroupInclusiveMul(id.y) + subgroupMax(id.z) + subgroupBroadcastFirst(id.x);
    let votes = subgroupBallot(id.x > 3u);
    out[id.x] = sum + votes.x + subgroupShuffleXor(id.x, 1u) + select(0u, 1u, subgroupAll(id.y == 0u)) + lane + size;
}
