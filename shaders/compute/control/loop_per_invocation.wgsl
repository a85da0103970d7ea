// Each invocation has its own number of iterations; those that finish early keep their values.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var x = (a[i] & 0xffu) + 1u;
    var steps = 0u;
    while (x != 1u && steps < 200u) {
        if ((x & 1u) == 0u) { x = x / 2u; } else { x = 3u * x + 1u; }
        steps++;
    }
    out[i] = steps;
}
