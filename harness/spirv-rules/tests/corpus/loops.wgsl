// Loops with breaks and continues.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = 0u;
    for (var i = 0u; i < id.x; i++) {
        if i % 3u == 0u { continue; }
        if sum > 100u { break; }
        sum += i;
    }
    while sum < 7u { sum += 2u; }
    loop {
        sum += 1u;
        continuing { break if sum > 20u; }
    }
    out[id.x] = sum;
}
