// A three-word subtraction with borrows, which are computed from the wrapped differences.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec3<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let low = a[i] - b[i];
    let borrow = select(0u, 1u, a[i] < b[i]);
    let middle = b[i] - a[i] - borrow;
    let borrow2 = select(0u, 1u, b[i] < a[i] || (b[i] == a[i] && borrow == 1u));
    out[i] = vec3<u32>(low, middle, 0u - borrow2);
}
