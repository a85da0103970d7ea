// The exchange takes place exactly if the old value equals the comparator.

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> words: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    atomicStore(&words[i], a[i] & 7u);
    let tried = atomicCompareExchangeWeak(&words[i], 3u, 100u + i);
    out[i] = tried.old_value;
}
