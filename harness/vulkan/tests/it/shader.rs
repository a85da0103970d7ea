//! Kernels that map each word to another, as text in one frame.

/// Words of a row of the grid: not every device takes more than 65535 workgroups along x.
pub(crate) const ROW: usize = 1 << 16;
/// Invocations of a workgroup.
pub(crate) const LOCAL: usize = 64;

/// Returns the workgroups that cover `words` words; a multiple of [`LOCAL`], and of [`ROW`] above
/// it.
pub(crate) fn groups(words: usize) -> [u32; 3] {
    [(words.min(ROW) / LOCAL) as u32, words.div_ceil(ROW) as u32, 1]
}

/// Frame with buffers 0 (in) and 1 (out) of 32-bit words, four bytes of push constants, and
/// specialisation constant 0 (default 1). Word `y * 65536 + x` is read as `%word`; the body
/// computes `%result` from it.
const FRAME: &str = include_str!("frame.spvasm");

fn kernel(body: &str) -> Vec<u32> {
    assay_spirv::assemble(&FRAME.replace("; BODY", body)).expect("the kernels of these tests are valid")
}

/// Returns a kernel: word + specialisation constant + push constant.
pub(crate) fn add() -> Vec<u32> {
    kernel(
        "%sum = OpIAdd %uint %word %spec
         %result = OpIAdd %uint %sum %push",
    )
}

/// Returns a kernel: `Exp2` of word + specialisation constant + push constant as f32.
pub(crate) fn exp2() -> Vec<u32> {
    kernel(
        "%sum = OpIAdd %uint %word %spec
         %bits = OpIAdd %uint %sum %push
         %x = OpBitcast %float %bits
         %y = OpExtInst %float %glsl Exp2 %x
         %result = OpBitcast %uint %y",
    )
}

/// Returns a kernel: as many rounds of `x * x + 1` as the push constant gives, starting with the
/// word.
pub(crate) fn rounds() -> Vec<u32> {
    kernel(
        "OpBranch %head
         %head = OpLabel
         %i = OpPhi %uint %zero %start %next_i %next
         %result = OpPhi %uint %word %start %next_result %next
         %more = OpULessThan %bool %i %push
         OpLoopMerge %end %next None
         OpBranchConditional %more %next %end
         %next = OpLabel
         %square = OpIMul %uint %result %result
         %next_result = OpIAdd %uint %square %one
         %next_i = OpIAdd %uint %i %one
         OpBranch %head
         %end = OpLabel",
    )
}
