// A widened word compared with a constant; translators narrow the comparison if the constant fits.

@group(0) @binding(0) var<storage, read> words: array<i32>;
@group(0) @binding(1) var<storage, read_write> signed_order: array<u32>;
@group(0) @binding(2) var<storage, read_write> unsigned_order: array<u32>;

fn bit(condition: bool, at: u32) -> u32 {
    return select(0u, 1u, condition) << at;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let word = words[id.x];
    let wide = i64(word);
    signed_order[id.x] = bit(wide < 0li, 0u) | bit(wide < 100li, 1u) | bit(wide <= 100li, 2u)
        | bit(wide > -100li, 3u) | bit(wide >= -100li, 4u) | bit(wide < 65536li, 5u)
        | bit(wide < -65536li, 6u) | bit(wide > 2147483646li, 7u) | bit(wide < 2147483647li, 8u)
        | bit(wide < 2147483648li, 9u) | bit(wide >= -2147483647li, 10u) | bit(wide < 3000000000li, 11u)
        | bit(-3000000000li < wide, 12u) | bit(100li > wide, 13u) | bit(wide == 100li, 14u) | bit(wide != -1li, 15u);
    let bits = bitcast<u32>(word);
    let zero_extended = u64(bits);
    unsigned_order[id.x] = bit(zero_extended < 1lu, 0u) | bit(zero_extended < 100lu, 1u)
        | bit(zero_extended >= 2147483648lu, 2u) | bit(zero_extended < 4294967295lu, 3u)
        | bit(zero_extended < 4294967296lu, 4u) | bit(zero_extended > 5000000000lu, 5u)
        | bit(i64(bits) < 100li, 6u) | bit(i64(bits) >= 2147483648li, 7u) | bit(i64(bits) > -1li, 8u);
}
