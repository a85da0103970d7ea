// `continue` still executes the step of the loop.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var sum = 0u;
    for (var n = 0u; n < 16u; n++) {
        if (((a[i] >> n) & 1u) == 0u) { continue; }
        sum += n * n;
    }
    out[i] = sum;
}
