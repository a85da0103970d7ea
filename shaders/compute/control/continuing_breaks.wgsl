// A loop whose exit condition is in its continuing block.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var x = a[i];
    var turns = 0u;
    loop {
        x = x ^ (x >> 3u);
        if (x % 5u == 0u) { continue; }
        x += 7u;
        continuing {
            turns++;
            break if turns >= 10u;
        }
    }
    out[i] = vec2<u32>(x, turns);
}
