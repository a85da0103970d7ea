// Several values share one branch, and one of the branches is also the default.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    var x = 1u;
    switch (a[i] % 8u) {
        case 1u, 3u, 5u: { x = 2u; }
        case 0u, default: { x = 3u; }
        case 6u: { x = 4u; }
    }
    out[i] = x;
}
