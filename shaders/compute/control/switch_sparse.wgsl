// Sparse cases, which become a search instead of a jump table.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var x = 7u;
    let keys = array<u32, 4>(0u, 1000u, 0x7fffffffu, 0xffffffffu);
    let key = keys[a[i] & 3u] + ((a[i] >> 2u) & 1u);
    switch (key) {
        case 0u: { x = 11u; }
        case 1000u: { x = 12u; }
        case 0x7fffffffu: { x = 13u; }
        case 0xffffffffu: { x = 14u; }
        default: { x = 15u; }
    }
    out[i] = x;
}
