// The lowest byte becomes the first component.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<vec4<u32>, 2>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = array<vec4<u32>, 2>(unpack4xU8(a[i]), bitcast<vec4<u32>>(unpack4xI8(a[i])));
}
