// Push constants of several types, with an index that is uniform in the workgroup.

struct Push {
    scale: u32,
    offset: vec2<u32>,
    mask: vec4<u32>,
}

var<immediate> push: Push;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>) {
    let i = id.x;
    out[i] = (i * push.scale + push.offset[group.x & 1u]) & push.mask[group.x & 3u];
}
