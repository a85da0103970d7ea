// A blocked matrix product.
var<workgroup> tile: array<array<f32, 8>, 8>;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    var sum = 0.0;
    for (var block = 0u; block < 4u; block++) {
        tile[local.y][local.x] = input[id.y * 32u + block * 8u + local.x];
        workgroupBarrier();
        for (var k = 0u; k < 8u; k++) { sum += tile[local.y][k] * tile[k][local.x]; }
        workgroupBarrier();
    }
    out[id.y * 32u + id.x] = sum;
}
