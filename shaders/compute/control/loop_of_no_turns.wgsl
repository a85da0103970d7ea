// A loop that some invocations do not enter, with a value from before it.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var sum = 100u;
    for (var n = 0u; n < a[i] % 3u; n++) {
        sum += n + 1u;
    }
    out[i] = sum;
}
