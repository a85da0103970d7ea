// Levenshtein distances of words of 16 letters, with one row of the table in memory.

@group(0) @binding(0) var<storage, read> a: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

fn letter(word: vec4<u32>, n: u32) -> u32 {
    return (word[n / 4u] >> (8u * (n & 3u))) & 3u;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var row: array<u32, 17>;
    for (var k = 0u; k < 17u; k++) { row[k] = k; }
    for (var y = 1u; y <= 16u; y++) {
        var diagonal = row[0];
        row[0] = y;
        for (var x = 1u; x <= 16u; x++) {
            let differ = select(1u, 0u, letter(a[id.x], y - 1u) == letter(b[id.x], x - 1u));
            let best = min(min(row[x] + 1u, row[x - 1u] + 1u), diagonal + differ);
            diagonal = row[x];
            row[x] = best;
        }
    }
    out[id.x] = row[16];
}
