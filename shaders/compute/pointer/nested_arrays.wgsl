// An array of arrays of structs: three strides at once.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

struct Cell {
    tag: u32,
    at: vec2<u32>,
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var grid: array<array<Cell, 3>, 4>;
    for (var y = 0u; y < 4u; y++) {
        for (var x = 0u; x < 3u; x++) { grid[y][x] = Cell(x, vec2<u32>(y, x * y)); }
    }
    grid[a[i] & 3u][(a[i] >> 2u) % 3u].at.y = a[i];
    var sum = 0u;
    for (var y = 0u; y < 4u; y++) {
        for (var x = 0u; x < 3u; x++) { sum = sum * 7u + grid[y][x].at.y + grid[y][x].tag; }
    }
    out[i] = sum;
}
