// The lowest set bit; zero has none.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = vec2<u32>(firstTrailingBit(a[i]), countTrailingZeros(a[i]));
}
