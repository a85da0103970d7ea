// Saturating addition and subtraction by comparisons, as written where there is no instruction for them.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let sum = a[i] + b[i];
    out[i] = vec2<u32>(select(sum, 0xffffffffu, sum < a[i]), select(a[i] - b[i], 0u, a[i] < b[i]));
}
