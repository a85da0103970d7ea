// Two variables are swapped in each iteration; copies in place of phis lose one of them (the swap problem).

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var x = a[i];
    var y = ~a[i];
    for (var n = 0u; n < a[i] % 7u; n++) {
        let old = x;
        x = y;
        y = old + n;
    }
    out[i] = vec2<u32>(x, y);
}
