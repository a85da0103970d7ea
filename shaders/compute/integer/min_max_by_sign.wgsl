// Minimum and maximum differ between signed and unsigned order above 0x7fffffff.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let s = bitcast<i32>(a[i]);
    let t = bitcast<i32>(b[i]);
    out[i] = vec4<u32>(min(a[i], b[i]), max(a[i], b[i]), bitcast<u32>(min(s, t)), bitcast<u32>(max(s, t)));
}
