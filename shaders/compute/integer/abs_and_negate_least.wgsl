// The least integer is its own negation and its own absolute value.

@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<i32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = select(a[i], -0x7fffffff - 1, i % 8u == 0u);
    out[i] = vec4<i32>(abs(x), -x, sign(x), abs(x) - abs(-x));
}
