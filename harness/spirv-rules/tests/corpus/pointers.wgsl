// Pointers as arguments.
fn bump(p: ptr<function, u32>, by: u32) { *p += by; }
var<private> kept: u32 = 5u;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var n = id.x;
    bump(&n, 3u);
    kept += n;
    let q = &out[id.x];
    *q = kept;
}
