// Branches in branches.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var r = 0u;
    if id.x > 8u {
        if id.y > 2u { r = 1u; } else if id.y == 1u { r = 2u; } else { return; }
    } else { r = 3u; }
    out[id.x] = r;
}
