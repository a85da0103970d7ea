// Negative and extreme selectors: a jump table that starts at the least value must not wrap around.

@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var x = 0;
    let least = -0x7fffffff - 1;
    let s = select(a[i] % 4, least, i % 5u == 0u);
    switch (s) {
        case -2147483648: { x = 1; }
        case -3: { x = 2; }
        case -1: { x = 3; }
        case 2: { x = 4; }
        default: { x = s; }
    }
    out[i] = x;
}
