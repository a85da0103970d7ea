// 64-bit quotients and remainders, which are library calls where there is no instruction for them.

@group(0) @binding(0) var<storage, read> a: array<u64>;
@group(0) @binding(1) var<storage, read> b: array<u64>;
@group(0) @binding(2) var<storage, read_write> out: array<array<u64, 2>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let d = b[i] | 1lu;
    out[i] = array<u64, 2>(a[i] / d, a[i] % d);
}
