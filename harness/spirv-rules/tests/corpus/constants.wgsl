// Constants of module scope.
const table = array<vec2<f32>, 3>(vec2(1.0, 2.0), vec2(3.0, 4.0), vec2(5.0, 6.0));
const pi = 3.14159265;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    out[id.x] = table[id.y % 3u].x * pi + dot(table[0], table[2]);
}
