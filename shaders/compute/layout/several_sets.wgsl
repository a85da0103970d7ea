// Bindings in several descriptor sets with gaps between them; each is separate memory.

@group(0) @binding(3) var<storage, read> a: array<u32>;
@group(1) @binding(0) var<storage, read> b: array<u32>;
@group(3) @binding(7) var<uniform> c: vec4<u32>;
@group(2) @binding(1) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i] = (a[i] - b[i]) ^ c[i & 3u];
}
