// Four variables rotate in each iteration; replacing phis by copies requires the right order and a temporary.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var v = vec4<u32>(a[i], a[i] + 1u, a[i] + 2u, a[i] + 3u);
    var p = v.x;
    var q = v.y;
    var r = v.z;
    var s = v.w;
    for (var n = 0u; n < a[i] % 6u; n++) {
        let first = p;
        p = q;
        q = r;
        r = s;
        s = first;
    }
    out[i] = vec4<u32>(p, q, r, s);
}
