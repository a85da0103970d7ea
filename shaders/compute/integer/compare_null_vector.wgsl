// Components of a zero-initialised vector compared with zeros; translators fold both operands.

@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;

var<private> never_written: vec3<u32>;
var<private> in_part: vec4<i32>;

fn bit(condition: bool, at: u32) -> u32 {
    return select(0u, 1u, condition) << at;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var local: vec3<u32>;
    in_part.y = i32(words[id.x] & 1u);
    found[id.x] = bit(all(never_written.xy == vec2<u32>(0u)), 0u) | bit(any(never_written.zx != vec2<u32>(0u)), 1u)
        | bit(all(never_written == vec3<u32>(0u)), 2u) | bit(all(local.yx == vec2<u32>(0u)), 3u)
        | bit(all(in_part.xz >= vec2<i32>(0)), 4u) | bit(all(in_part.xy == vec2<i32>(0)), 5u)
        | bit(all(never_written.xy <= vec2<u32>(0u, 7u)), 6u) | bit(never_written.z == 0u, 7u);
}
