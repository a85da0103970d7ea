// Breadth-first distances in a graph of 64 nodes, with barriers in a loop.

@group(0) @binding(0) var<storage, read> links: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> distances: array<u32>;

var<workgroup> known: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) k: u32) {
    known[k] = select(0xffffu, 0u, k == 0u);
    for (var turn = 0u; turn < 12u; turn++) {
        workgroupBarrier();
        var best = known[k];
        for (var n = 0u; n < 4u; n++) { best = min(best, known[links[k][n] & 63u] + 1u); }
        workgroupBarrier();
        known[k] = best;
    }
    distances[k] = known[k];
}
