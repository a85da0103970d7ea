// In a switch within a loop, `break` leaves the switch and `continue` ends the iteration.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var sum = 0u;
    var skipped = 0u;
    for (var n = 0u; n < 12u; n++) {
        switch ((a[i] >> n) & 3u) {
            case 0u: { break; }
            case 1u: { skipped++; continue; }
            default: { sum += n; }
        }
        sum += 100u;
    }
    out[i] = vec2<u32>(sum, skipped);
}
