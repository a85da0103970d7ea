// 64-bit shifts by amounts below and above 32.

@group(0) @binding(0) var<storage, read> a: array<u64>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<array<u64, 2>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let n = b[i] & 63u;
    out[i] = array<u64, 2>(a[i] << n, a[i] >> n);
}
