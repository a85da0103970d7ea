// Lengths of runtime arrays with strides of 4, 8, 16 and 48 bytes, in buffers with a remainder.

struct Row {
    a: vec3<u32>,
    b: vec3<u32>,
    c: u32,
}

@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(1)
fn main() {
    out[0] = arrayLength(&words);
    out[1] = arrayLength(&pairs);
    out[2] = arrayLength(&rows);
    out[3] = arrayLength(&out) + words[0] + pairs[0].x + rows[0].c;
}
