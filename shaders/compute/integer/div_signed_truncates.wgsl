// Signed division truncates toward zero, and the remainder has the sign of the dividend.

@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read> b: array<i32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec2<i32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let d = select(b[i], 1, b[i] == 0 || b[i] == -1);
    out[i] = vec2<i32>(a[i] / d, a[i] % d);
}
