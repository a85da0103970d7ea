// Signed division by constants, which becomes multiplication; some divisors are negative.

@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<i32, 6>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = a[i];
    out[i] = array<i32, 6>(x / 3, x / 7, x / -10, x / 125, x / -641, x / 0x7fffffff);
}
