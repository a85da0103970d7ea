// Bit instructions.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> input: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = input[id.x];
    out[id.x] = countOneBits(a) + reverseBits(a) + firstLeadingBit(a) + firstTrailingBit(a)
        + extractBits(a, 3u, 5u) + insertBits(a, 7u, 4u, 6u) + countLeadingZeros(a) + countTrailingZeros(a);
}
