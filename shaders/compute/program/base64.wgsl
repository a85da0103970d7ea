// Base64: three bytes become four letters, by comparisons instead of a table.

@group(0) @binding(0) var<storage, read> bytes: array<u32>;
@group(0) @binding(1) var<storage, read_write> text: array<u32>;

fn letter(x: u32) -> u32 {
    if (x < 26u) { return 65u + x; }
    if (x < 52u) { return 71u + x; }
    if (x < 62u) { return x - 4u; }
    return select(47u, 43u, x == 62u);
}

fn byte(n: u32) -> u32 {
    return (bytes[n / 4u] >> (8u * (n & 3u))) & 0xffu;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = id.x * 3u;
    let bits = (byte(at) << 16u) | (byte(at + 1u) << 8u) | byte(at + 2u);
    text[id.x] = letter(bits >> 18u) | (letter((bits >> 12u) & 63u) << 8u) | (letter((bits >> 6u) & 63u) << 16u) | (letter(bits & 63u) << 24u);
}
