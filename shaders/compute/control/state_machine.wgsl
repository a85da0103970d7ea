// A switch on a state in a loop, like a compiled coroutine.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var state = 0u;
    var tape = a[i];
    var sum = 0u;
    for (var n = 0u; n < 32u; n++) {
        let bit = tape & 1u;
        tape = tape >> 1u;
        switch (state) {
            case 0u: { state = select(0u, 1u, bit == 1u); }
            case 1u: { state = select(2u, 1u, bit == 1u); sum += 1u; }
            case 2u: { state = select(0u, 3u, bit == 1u); sum += 16u; }
            default: { if (bit == 0u) { state = 1u; } sum += 256u; }
        }
    }
    out[i] = vec2<u32>(state, sum);
}
