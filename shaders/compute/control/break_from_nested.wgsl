// `break` leaves only the inner loop; a flag ends the outer one.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var found = 0u;
    var at = 0u;
    for (var y = 0u; y < 8u && found == 0u; y++) {
        for (var x = 0u; x < 8u; x++) {
            at = y * 8u + x;
            if (at * 37u % 64u == a[i] % 80u) {
                found = 1u;
                break;
            }
        }
    }
    out[i] = vec2<u32>(found, at);
}
