// Signed division and remainder, which are made safe by hand.
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@group(0) @binding(1) var<storage, read> input: array<i32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = input[id.x];
    let b = input[id.y];
    out[id.x] = a / b + a % b - a * b + (a >> 3u) + (a << 2u);
}
