// A local array with a computed index, which cannot stay in registers.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var table = array<u32, 8>(3u, 1u, 4u, 1u, 5u, 9u, 2u, 6u);
    for (var n = 0u; n < 8u; n++) {
        let k = (a[i] >> (3u * n)) & 7u;
        table[k] += table[n] + n;
    }
    var sum = 0u;
    for (var n = 0u; n < 8u; n++) { sum = sum * 31u + table[n]; }
    out[i] = sum;
}
