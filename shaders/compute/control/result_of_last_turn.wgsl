// Invocations leave a loop in different turns, and use the result of a subgroup operation after it: each keeps that of its last turn.
enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(8) fn main(
    @builtin(local_invocation_index) index: u32,
    @builtin(global_invocation_id) id: vec3<u32>,
) {
    var turn = 0u;
    var first = 0u;
    loop {
        // All invocations of a turn have the same number, so that the layout of subgroups does not matter.
        first = subgroupBroadcastFirst(turn);
        if turn == index { break; }
        turn += 1u;
    }
    out[id.x] = first;
}
