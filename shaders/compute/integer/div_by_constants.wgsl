// Division by constants, which becomes multiplication: 7 requires an extra bit, 641 divides 2^32 + 1, and 65537 divides 2^32 - 1.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u32, 6>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = a[i];
    out[i] = array<u32, 6>(x / 3u, x / 7u, x / 10u, x / 641u, x / 65537u, x / 0xffffffffu);
}
