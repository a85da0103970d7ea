// The right operand of && and || has a side effect, which must not happen if the left operand decides.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<vec3<u32>>;

fn seen(calls: ptr<function, u32>) -> bool {
    *calls = *calls + 1u;
    return true;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var calls = 0u;
    let both = (a[i] & 1u) == 1u && seen(&calls);
    let either = (a[i] & 2u) == 2u || seen(&calls);
    out[i] = vec3<u32>(calls, select(0u, 1u, both), select(0u, 1u, either));
}
