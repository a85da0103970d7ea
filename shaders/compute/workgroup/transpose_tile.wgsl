// A matrix transposed through a tile with one extra column to avoid bank conflicts.

var<workgroup> tile: array<array<u32, 9>, 8>;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(8, 8)
fn main(@builtin(local_invocation_id) at: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>) {
    let base = group.x * 64u;
    tile[at.y][at.x] = a[base + at.y * 8u + at.x];
    workgroupBarrier();
    out[base + at.y * 8u + at.x] = tile[at.x][at.y];
}
