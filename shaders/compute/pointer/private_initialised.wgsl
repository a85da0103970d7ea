// Private variables start with their initialisers in every invocation.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

var<private> counter: u32 = 41u;
var<private> limits: array<u32, 3> = array<u32, 3>(7u, 8u, 9u);

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    counter += a[i];
    limits[1] = limits[0] + counter;
    out[i] = counter ^ limits[1] ^ limits[2];
}
