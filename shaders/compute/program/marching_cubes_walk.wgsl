// Cells classified by the signs of their corners; an atomic sums the triangle counts that a table gives.

@group(0) @binding(0) var<storage, read> field: array<i32>;
@group(0) @binding(1) var<storage, read_write> classes: array<u32>;
@group(0) @binding(2) var<storage, read_write> triangles: atomic<u32>;

const SIDE: u32 = 9u; // corners along a side

// Triangles of a cell by the number of corners inside: a coarse table with a computed index.
const COUNTS = array<u32, 9>(0u, 1u, 2u, 3u, 2u, 3u, 2u, 1u, 0u);

@compute @workgroup_size(4, 4, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var inside = 0u;
    for (var n = 0u; n < 8u; n++) {
        let corner = id + vec3<u32>(n & 1u, (n >> 1u) & 1u, n >> 2u);
        if (field[(corner.z * SIDE + corner.y) * SIDE + corner.x] < 0) { inside |= 1u << n; }
    }
    var counts = COUNTS;
    classes[(id.z * 8u + id.y) * 8u + id.x] = inside;
    atomicAdd(&triangles, counts[countOneBits(inside)]);
}
