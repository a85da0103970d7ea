// Bits outside the inserted field are kept; a count of 0 changes nothing, a count of 32 everything.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read> c: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let offset = c[i] & 31u;
    let count = min((c[i] >> 8u) & 63u, 32u - offset);
    out[i] = insertBits(a[i], b[i], offset, count);
}
