// Booleans convert to 0 and 1, whatever their representation in the driver.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let less = a[i] < b[i];
    let f = f32(less);
    out[i] = vec4<u32>(u32(less), bitcast<u32>(-i32(less)), bitcast<u32>(f), u32(less) + u32(!less));
}
