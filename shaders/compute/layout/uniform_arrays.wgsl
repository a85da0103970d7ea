// In a uniform buffer every array element starts at a multiple of 16 bytes.

struct Settings {
    weights: array<vec4<u32>, 8>,
    pairs: array<vec4<u32>, 3>,
    scale: u32,
}

@group(0) @binding(0) var<uniform> settings: Settings;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = settings.weights[i & 7u][i >> 3u & 3u] * settings.scale + settings.pairs[i % 3u].z;
}
