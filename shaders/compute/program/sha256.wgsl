// SHA-256 of one block for each invocation; FIPS 180-4 gives the digest of the message "abc".

@group(0) @binding(0) var<storage, read> changes: array<array<u32, 16>>;
@group(0) @binding(1) var<storage, read_write> digests: array<array<u32, 8>>;

// The message "abc", padded; each invocation changes it by its input and hashes the result.
const MESSAGE = array<u32, 16>(0x61626380u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 24u);

const K = array<u32, 64>(
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u);

fn rotated(x: u32, n: u32) -> u32 {
    return (x >> n) | (x << (32u - n));
}

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var w: array<u32, 64>;
    var message = MESSAGE;
    for (var t = 0u; t < 16u; t++) { w[t] = message[t] ^ changes[id.x][t]; }
    for (var t = 16u; t < 64u; t++) {
        let x = w[t - 15u];
        let y = w[t - 2u];
        let s0 = rotated(x, 7u) ^ rotated(x, 18u) ^ (x >> 3u);
        let s1 = rotated(y, 17u) ^ rotated(y, 19u) ^ (y >> 10u);
        w[t] = w[t - 16u] + s0 + w[t - 7u] + s1;
    }
    var h = array<u32, 8>(0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u);
    let first = h;
    var constants = K;
    for (var t = 0u; t < 64u; t++) {
        let s1 = rotated(h[4], 6u) ^ rotated(h[4], 11u) ^ rotated(h[4], 25u);
        let chosen = (h[4] & h[5]) ^ (~h[4] & h[6]);
        let t1 = h[7] + s1 + chosen + constants[t] + w[t];
        let s0 = rotated(h[0], 2u) ^ rotated(h[0], 13u) ^ rotated(h[0], 22u);
        let most = (h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]);
        h = array<u32, 8>(t1 + s0 + most, h[0], h[1], h[2], h[3] + t1, h[4], h[5], h[6]);
    }
    for (var n = 0u; n < 8u; n++) { digests[id.x][n] = first[n] + h[n]; }
}
