// Compare and exchange through storage.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    for (var k = 2u; k <= 64u; k <<= 1u) {
        for (var j = k >> 1u; j > 0u; j >>= 1u) {
            let other = id.x ^ j;
            if other > id.x {
                let a = out[id.x];
                let b = out[other];
                if ((id.x & k) == 0u) == (a > b) { out[id.x] = b; out[other] = a; }
            }
            storageBarrier();
        }
    }
}
