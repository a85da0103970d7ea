// A short loop in a short loop: an iteration limit must not count the iterations of other loops.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let turns = 260u + (a[i] & 1u);
    var outer = 0u;
    var x = 1u;
    for (var n = 0u; n < turns; n++) {
        outer += 1u;
        for (var m = 0u; m < turns; m++) { x = x * 5u + 1u; }
    }
    out[i] = x + outer;
}
