// Multiplication by constants, which becomes shifts and additions; the sequences for 3, 7, 10, 255 and 0x80000001 are easily off by one.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<u32, 5>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = a[i];
    out[i] = array<u32, 5>(x * 3u, x * 7u, x * 10u, x * 255u, x * 0x80000001u);
}
