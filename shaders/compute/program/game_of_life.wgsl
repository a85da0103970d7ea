// Eight generations of Conway's Game of Life on a torus of 32x32 cells, one word for each row.

@group(0) @binding(0) var<storage, read_write> rows: array<u32>;

var<workgroup> world: array<u32, 32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) y: u32, @builtin(workgroup_id) group: vec3<u32>) {
    world[y] = rows[group.x * 32u + y];
    for (var n = 0u; n < 8u; n++) {
        workgroupBarrier();
        let above = world[(y + 31u) & 31u];
        let own = world[y];
        let below = world[(y + 1u) & 31u];
        var next = 0u;
        for (var x = 0u; x < 32u; x++) {
            let l = (x + 31u) & 31u;
            let r = (x + 1u) & 31u;
            let around = ((above >> l) & 1u) + ((above >> x) & 1u) + ((above >> r) & 1u) + ((own >> l) & 1u)
                + ((own >> r) & 1u) + ((below >> l) & 1u) + ((below >> x) & 1u) + ((below >> r) & 1u);
            let alive = around == 3u || (around == 2u && ((own >> x) & 1u) == 1u);
            next |= select(0u, 1u << x, alive);
        }
        workgroupBarrier();
        world[y] = next;
    }
    rows[group.x * 32u + y] = world[y];
}
