// A selection by component, and a selection of a whole vector.

@group(0) @binding(0) var<storage, read> a: array<vec4<i32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<i32>>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<i32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let picked = select(a[i], b[i], a[i] < b[i]);
    out[i] = select(picked, -picked, all(a[i] == b[i]));
}
