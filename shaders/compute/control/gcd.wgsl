// A loop whose exit depends on a remainder.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var x = a[i];
    var y = b[i];
    while (y != 0u) {
        let r = x % y;
        x = y;
        y = r;
    }
    out[i] = x;
}
