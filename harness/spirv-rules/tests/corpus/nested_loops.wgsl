// Loops in loops.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var n = 0u;
    for (var i = 0u; i < 4u; i++) {
        for (var j = i; j < 4u; j++) {
            if (i ^ j) == 3u { break; }
            n += i * j;
        }
    }
    out[id.x] = n;
}
