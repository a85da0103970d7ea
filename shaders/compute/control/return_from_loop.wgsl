// A return from two nested loops of a function, in a different iteration for each invocation.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

fn first_factor(n: u32) -> u32 {
    for (var d = 2u; d < 40u; d++) {
        var left = n;
        loop {
            if (left < d) { break; }
            left -= d;
            if (left == 0u) { return d; }
        }
    }
    return n;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = first_factor(a[i] % 1000u + 2u);
}
