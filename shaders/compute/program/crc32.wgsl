// CRC-32 of 64 bytes for each invocation, bit by bit and with a table that is computed first.

@group(0) @binding(0) var<storage, read> data: array<array<u32, 16>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var table: array<u32, 16>;
    for (var n = 0u; n < 16u; n++) {
        var x = n;
        for (var k = 0u; k < 4u; k++) { x = select(x >> 1u, (x >> 1u) ^ 0xedb88320u, (x & 1u) == 1u); }
        table[n] = x;
    }
    var slow = 0xffffffffu;
    var fast = 0xffffffffu;
    for (var n = 0u; n < 64u; n++) {
        let byte = (data[id.x][n / 4u] >> (8u * (n & 3u))) & 0xffu;
        slow ^= byte;
        for (var k = 0u; k < 8u; k++) { slow = select(slow >> 1u, (slow >> 1u) ^ 0xedb88320u, (slow & 1u) == 1u); }
        fast ^= byte;
        fast = (fast >> 4u) ^ table[fast & 15u];
        fast = (fast >> 4u) ^ table[fast & 15u];
    }
    out[id.x] = vec2<u32>(~slow, slow ^ fast);
}
