// Bit reversal and bit count.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec3<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = vec3<u32>(reverseBits(a[i]), countOneBits(a[i]), countOneBits(reverseBits(a[i]) ^ a[i]));
}
