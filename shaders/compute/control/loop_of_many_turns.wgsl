// Loops of a little more than 2^16 iterations: a driver's own iteration limit would cut them short.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let turns = 65536u + i + (a[i] & 1u);
    var done = 0u;
    for (var n = 0u; n < turns; n++) { done += 1u; }
    out[i] = done;
}
