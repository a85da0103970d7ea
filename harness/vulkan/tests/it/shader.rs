//! A tiny SPIR-V writer: enough for kernels that turn one word into another.
//!
//! Every kernel has the same frame: buffers 0 (in) and 1 (out) of 32-bit words, four bytes of push constants, a
//! specialisation constant 0 (default 1), workgroups of 64 along x, and handles word `y * 65536 + x` of the grid.

/// Words of a row of the grid: more than 65535 workgroups along x are not to be had everywhere.
pub(crate) const ROW: usize = 1 << 16;
/// Invocations of a workgroup.
pub(crate) const LOCAL: usize = 64;

/// The workgroups that cover `words` words; a multiple of [`LOCAL`], and of [`ROW`] above it.
pub(crate) fn groups(words: usize) -> [u32; 3] {
    [(words.min(ROW) / LOCAL) as u32, words.div_ceil(ROW) as u32, 1]
}

/// Ids of the frame that bodies may use.
pub(crate) struct Frame {
    pub(crate) u32_type: u32,
    pub(crate) bool_type: u32,
    pub(crate) f32_type: u32,
    pub(crate) glsl: u32,
    pub(crate) zero: u32,
    pub(crate) one: u32,
    pub(crate) spec: u32,
    /// The push constant's value.
    pub(crate) push: u32,
    /// The word of buffer 0.
    pub(crate) word: u32,
    /// The block that the body begins in.
    pub(crate) block: u32,
}

#[derive(Default)]
pub(crate) struct Writer {
    words: Vec<u32>,
    next: u32,
}

impl Writer {
    /// A new id.
    pub(crate) fn id(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// An instruction.
    pub(crate) fn op(&mut self, opcode: u32, operands: &[u32]) {
        self.words.push((operands.len() as u32 + 1) << 16 | opcode);
        self.words.extend(operands);
    }

    /// An instruction with a result of this type.
    pub(crate) fn value(&mut self, opcode: u32, result_type: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        self.op(opcode, &[&[result_type, id], operands].concat());
        id
    }

    /// A type: the id comes first.
    fn declare(&mut self, opcode: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        self.op(opcode, &[&[id], operands].concat());
        id
    }
}

fn text(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(text.len() / 4 * 4 + 4, 0);
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// A module whose `main` stores what `body` makes of the frame's word.
pub(crate) fn kernel(body: impl FnOnce(&mut Writer, &Frame) -> u32) -> Vec<u32> {
    const DECORATE: u32 = 71;
    let mut w = Writer::default();
    let [main, grid, input, output, params, glsl] = [(); 6].map(|()| w.id());
    w.op(17, &[1]); // OpCapability Shader
    w.op(11, &[&[glsl], &text("GLSL.std.450")[..]].concat()); // OpExtInstImport
    w.op(14, &[0, 1]); // OpMemoryModel Logical GLSL450
    w.op(15, &[&[5, main], &text("main")[..], &[grid]].concat()); // OpEntryPoint GLCompute
    w.op(16, &[main, 17, LOCAL as u32, 1, 1]); // OpExecutionMode LocalSize
    let [array, block, params_block, spec] = [(); 4].map(|()| w.id());
    w.op(DECORATE, &[grid, 11, 28]); // BuiltIn GlobalInvocationId
    w.op(DECORATE, &[array, 6, 4]); // ArrayStride 4
    w.op(DECORATE, &[block, 2]); // Block
    w.op(DECORATE, &[params_block, 2]);
    w.op(72, &[block, 0, 35, 0]); // OpMemberDecorate Offset 0
    w.op(72, &[params_block, 0, 35, 0]);
    w.op(DECORATE, &[spec, 1, 0]); // SpecId 0
    for (variable, binding) in [(input, 0), (output, 1)] {
        w.op(DECORATE, &[variable, 34, 0]); // DescriptorSet 0
        w.op(DECORATE, &[variable, 33, binding]); // Binding
    }
    let void = w.declare(19, &[]);
    let function = w.declare(33, &[void]);
    let u32_type = w.declare(21, &[32, 0]);
    let f32_type = w.declare(22, &[32]);
    let bool_type = w.declare(20, &[]);
    let uvec3 = w.declare(23, &[u32_type, 3]);
    w.op(29, &[array, u32_type]); // OpTypeRuntimeArray
    w.op(30, &[block, array]); // OpTypeStruct
    w.op(30, &[params_block, u32_type]);
    let grid_pointer = w.declare(32, &[1, uvec3]);
    let block_pointer = w.declare(32, &[12, block]);
    let word_pointer = w.declare(32, &[12, u32_type]);
    let params_pointer = w.declare(32, &[9, params_block]);
    let param_pointer = w.declare(32, &[9, u32_type]);
    let zero = w.value(43, u32_type, &[0]);
    let one = w.value(43, u32_type, &[1]);
    let row = w.value(43, u32_type, &[ROW as u32]);
    w.op(50, &[u32_type, spec, 1]); // OpSpecConstant
    w.op(59, &[grid_pointer, grid, 1]); // OpVariable
    w.op(59, &[block_pointer, input, 12]);
    w.op(59, &[block_pointer, output, 12]);
    w.op(59, &[params_pointer, params, 9]);
    w.op(54, &[void, main, 0, function]); // OpFunction
    let start = w.declare(248, &[]); // OpLabel
    let at = w.value(61, uvec3, &[grid]);
    let x = w.value(81, u32_type, &[at, 0]);
    let y = w.value(81, u32_type, &[at, 1]);
    let y = w.value(132, u32_type, &[y, row]);
    let index = w.value(128, u32_type, &[x, y]);
    let pointer = w.value(65, param_pointer, &[params, zero]);
    let push = w.value(61, u32_type, &[pointer]);
    let pointer = w.value(65, word_pointer, &[input, zero, index]);
    let word = w.value(61, u32_type, &[pointer]);
    let frame = Frame { u32_type, bool_type, f32_type, glsl, zero, one, spec, push, word, block: start };
    let result = body(&mut w, &frame);
    let pointer = w.value(65, word_pointer, &[output, zero, index]);
    w.op(62, &[pointer, result]); // OpStore
    w.op(253, &[]); // OpReturn
    w.op(56, &[]); // OpFunctionEnd
    let mut module = vec![0x0723_0203, 0x0001_0300, 0, w.next + 1, 0];
    module.append(&mut w.words);
    module
}

/// word + specialisation constant + push constant.
pub(crate) fn add() -> Vec<u32> {
    kernel(|w, f| {
        let sum = w.value(128, f.u32_type, &[f.word, f.spec]);
        w.value(128, f.u32_type, &[sum, f.push])
    })
}

/// `Exp2` of the word as f32.
pub(crate) fn exp2() -> Vec<u32> {
    kernel(|w, f| {
        let x = w.value(124, f.f32_type, &[f.word]);
        let y = w.value(12, f.f32_type, &[f.glsl, 29, x]);
        w.value(124, f.u32_type, &[y])
    })
}

/// As many rounds of a linear congruential generator as the push constant says, from the word on.
pub(crate) fn rounds() -> Vec<u32> {
    kernel(|w, f| {
        let [head, test, work, next, end, i, value, new_i, new_value] = [(); 9].map(|()| w.id());
        w.op(249, &[head]); // OpBranch
        w.op(248, &[head]);
        w.op(245, &[f.u32_type, i, f.zero, f.block, new_i, next]); // OpPhi
        w.op(245, &[f.u32_type, value, f.word, f.block, new_value, next]);
        w.op(246, &[end, next, 0]); // OpLoopMerge
        w.op(249, &[test]);
        w.op(248, &[test]);
        let more = w.value(176, f.bool_type, &[i, f.push]); // OpULessThan
        w.op(250, &[more, work, end]);
        w.op(248, &[work]);
        let product = w.value(132, f.u32_type, &[value, value]);
        w.op(128, &[f.u32_type, new_value, product, f.one]);
        w.op(249, &[next]);
        w.op(248, &[next]);
        w.op(128, &[f.u32_type, new_i, i, f.one]);
        w.op(249, &[head]);
        w.op(248, &[end]);
        value
    })
}
