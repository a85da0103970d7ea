// Private variables are separate for each invocation, and shared by its functions.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

var<private> stack: array<u32, 4>;
var<private> depth: u32 = 0u;

fn push(x: u32) {
    stack[depth] = x;
    depth++;
}

fn pop() -> u32 {
    depth--;
    return stack[depth];
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    push(a[i]);
    push(a[i] >> 3u);
    if ((a[i] & 1u) == 1u) { push(5u); }
    let top = pop();
    out[i] = vec2<u32>(top * 16u + depth, stack[0]);
}
