// An atomic returns the old value; no other invocation accesses the word.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> words: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let x = atomicAdd(&words[i], a[i]);
    let y = atomicExchange(&words[i], a[i] ^ 5u);
    let z = atomicMax(&words[i], 0x80000000u);
    out[i] = vec4<u32>(x, y, z, atomicLoad(&words[i]));
}
