// The columns of a mat3x3 have a stride of four words, those of a mat2x2 of two.

struct Block {
    square: mat2x2<f32>,
    turn: mat3x3<f32>,
    tall: mat2x4<f32>,
}

@group(0) @binding(0) var<storage, read_write> blocks: array<Block>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    blocks[i].square = transpose(blocks[i].square);
    blocks[i].turn = transpose(blocks[i].turn);
    blocks[i].tall[1] = blocks[i].tall[0].wzyx;
}
