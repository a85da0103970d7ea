// Conversion to Gray code and back: a chain of dependent shifts.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let gray = a[i] ^ (a[i] >> 1u);
    var x = gray;
    for (var s = 16u; s > 0u; s = s >> 1u) {
        x ^= x >> s;
    }
    out[i] = vec2<u32>(gray, x);
}
