// A signed bit field is extended from its own top bit.

@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let offset = b[i] & 31u;
    let count = min((b[i] >> 8u) & 63u, 32u - offset);
    out[i] = extractBits(a[i], offset, count);
}
