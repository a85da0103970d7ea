// The value of a loop variable before its last step is used after the loop (the lost-copy problem).

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var n = 0u;
    var before = 0u;
    loop {
        before = n;
        n = n + 1u;
        if (n > a[i] % 9u) { break; }
    }
    out[i] = vec2<u32>(before, n);
}
