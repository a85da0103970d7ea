// Boolean variables that live across a loop.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var odd = false;
    var any_high = false;
    for (var n = 0u; n < 8u; n++) {
        let digit = (a[i] >> (4u * n)) & 15u;
        odd = odd != ((digit & 1u) == 1u);
        any_high = any_high || digit > 12u;
    }
    out[i] = select(0u, 1u, odd) + select(0u, 2u, any_high) + select(0u, 4u, odd == any_high);
}
