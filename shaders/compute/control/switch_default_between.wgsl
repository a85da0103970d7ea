// A default between the cases applies only to values that no case names.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var x = 0u;
    switch (a[i] % 6u) {
        case 0u: { x = 10u; }
        default: { x = 99u; }
        case 3u: { x = 13u; }
        case 5u: { x = 15u; }
    }
    out[i] = x;
}
