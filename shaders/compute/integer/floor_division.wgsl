// Floor division and the non-negative remainder, computed from truncating division with a correction where the signs differ.

@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read> b: array<i32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec2<i32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let d = select(b[i], 3, b[i] == 0 || b[i] == -1);
    let q = a[i] / d;
    let r = a[i] % d;
    let down = r != 0 && ((r < 0) != (d < 0));
    out[i] = vec2<i32>(select(q, q - 1, down), select(r, r + d, down));
}
