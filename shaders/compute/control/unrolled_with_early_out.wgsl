// A loop of known length with an early exit: unrolling must keep the exit in every copy.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var hash = 2166136261u;
    var n = 0u;
    for (; n < 4u; n++) {
        let byte = (a[i] >> (8u * n)) & 0xffu;
        if (byte < 32u) { break; }
        hash = (hash ^ byte) * 16777619u;
    }
    out[i] = vec2<u32>(hash, n);
}
