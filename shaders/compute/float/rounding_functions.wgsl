// Five ways of rounding to an integer; `round` takes ties to even.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<array<f32, 5>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = a[i];
    out[i] = array<f32, 5>(floor(x), ceil(x), trunc(x), round(x), fract(x));
}
