// Switches with shared and default cases.
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var r = 0;
    switch i32(id.x) {
        case 0, 1: { r = 10; }
        case 2: { r = 20; }
        case -5: { r = 30; }
        default: { r = 40; }
    }
    out[id.x] = r;
}
