// Signed division by a power of two is not an arithmetic shift: -1 / 2 is 0.

@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<i32, 4>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = a[i];
    out[i] = array<i32, 4>(x / 2, x / 8, x / 65536, x / 0x40000000);
}
