// Loops of different lengths in the branches of a switch.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var x = a[i];
    switch (a[i] & 3u) {
        case 0u: { for (var n = 0u; n < 3u; n++) { x = x * 5u + 1u; } }
        case 1u: { loop { x = x >> 1u; if (x < 100u) { break; } } }
        default: { }
    }
    out[i] = x;
}
