// Bitonic sort of 64 Ki words by one workgroup in storage memory, with a barrier after every step.

@group(0) @binding(0) var<storage, read_write> keys: array<i32, 65536>;

const LANES: u32 = 256u;

@compute @workgroup_size(LANES)
fn main(@builtin(local_invocation_index) k: u32) {
    for (var size = 2u; size <= 65536u; size = size * 2u) {
        for (var half = size / 2u; half > 0u; half = half / 2u) {
            for (var n = k; n < 32768u; n += LANES) {
                let low = ((n & ~(half - 1u)) << 1u) | (n & (half - 1u));
                let x = keys[low];
                let y = keys[low + half];
                if ((x > y) == ((low & size) == 0u)) {
                    keys[low] = y;
                    keys[low + half] = x;
                }
            }
            storageBarrier();
        }
    }
}
