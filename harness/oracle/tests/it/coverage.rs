//! Executed instructions of a program.

use crate::support::*;
use assay_oracle::{Coverage, Dispatch, ExecutedBlocks, Limits, Program, SkippedCode, Slot, SpecValues};

/// Runs WGSL once for each first word of its buffer. Returns the coverage of all runs, and the
/// skipped code with the lines of its branch and of its beginning.
fn covered(body: &str, words: &[u32]) -> (Coverage, Option<(u32, u32, u64)>) {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> d: array<u32, 4>;
fn much(x: u32) -> u32 {{ return ((x * 3u) ^ (x >> 5u)) + (x * x * 7u); }}
@compute @workgroup_size(1) fn main() {{
let x = d[0];
{body}
}}"
    );
    let module = wgsl(&text);
    let program = Program::new(&module, "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    let mut executed = ExecutedBlocks::default();
    for word in words {
        let bindings = [(Slot::new(0, 0), crate::support::words(&[*word, 0, 0, 0]))].into();
        let dispatch = Dispatch { groups: [1; 3], bindings, ..Dispatch::default() };
        executed.add(&program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}")).executed);
    }
    let line = |place: assay_oracle::Place| place.line.expect("naga records lines");
    let skipped = program.skipped_code(&executed);
    let skipped = skipped.map(|SkippedCode { branch, first, instructions }| (line(branch), line(first), instructions));
    (program.coverage(&executed), skipped)
}

#[test]
fn the_largest_skipped_code_is_named_with_its_branch() {
    let body = "if x < 4u {\nd[1] = x;\n}\nif x > 9u {\nd[2] = much(x);\n}";
    let (none, skipped) = covered(body, &[5]);
    // `much` is called only there.
    assert!(none.executed * 2 < none.instructions, "{none:?}");
    let (branch, first, instructions) = skipped.expect("two branches skip code");
    assert_eq!((branch, first), (8, 9));
    assert!(instructions * 2 > none.instructions && none.executed + instructions < none.instructions, "{none:?}");
    let (some, skipped) = covered(body, &[5, 10]);
    assert_eq!(skipped.map(|(branch, first, _)| (branch, first)), Some((5, 6)), "{some:?}");
    let (all, skipped) = covered(body, &[5, 10, 3]);
    assert_eq!((all.executed, skipped), (all.instructions, None));
    assert_eq!((none.instructions, some.instructions), (all.instructions, all.instructions));
}

#[test]
fn code_behind_a_constant_is_not_counted() {
    let (coverage, skipped) = covered("const debug = false;\nif debug {\nd[2] = much(x);\n}\nd[1] = x;", &[1]);
    assert_eq!((coverage.executed, skipped), (coverage.instructions, None), "{coverage:?}");
}

/// glslang passes an argument in a variable of the caller, by a pointer that takes those of all calls.
/// `mode` of `pick` is 1 or 2, so that its case 3 is never executed.
const PASSED: &str = "
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %words ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %d DescriptorSet 0
OpDecorate %d Binding 0
%void = OpTypeVoid
%proc = OpTypeFunction %void
%u32 = OpTypeInt 32 0
%to = OpTypePointer Function %u32
%picks = OpTypeFunction %u32 %to
%u0 = OpConstant %u32 0
%u1 = OpConstant %u32 1
%u2 = OpConstant %u32 2
%u4 = OpConstant %u32 4
%words = OpTypeArray %u32 %u4
%block = OpTypeStruct %words
%buffer = OpTypePointer StorageBuffer %block
%word = OpTypePointer StorageBuffer %u32
%d = OpVariable %buffer StorageBuffer
%pick = OpFunction %u32 None %picks
%p = OpFunctionParameter %to
%pick0 = OpLabel
%mode = OpLoad %u32 %p
OpSelectionMerge %done None
OpSwitch %mode %done 1 %one 2 %two 3 %three
%one = OpLabel
OpReturnValue %u4
%two = OpLabel
OpReturnValue %u2
%three = OpLabel
%square = OpIMul %u32 %mode %mode
OpReturnValue %square
%done = OpLabel
OpReturnValue %u0
OpFunctionEnd
%main = OpFunction %void None %proc
%main0 = OpLabel
%a = OpVariable %to Function
%b = OpVariable %to Function
%sum1 = OpIAdd %u32 %u1 %u0
OpStore %a %sum1
%first = OpFunctionCall %u32 %pick %a
OpStore %b %u2
%second = OpFunctionCall %u32 %pick %b
%at = OpAccessChain %word %d %u0 %u0
%both = OpIAdd %u32 %first %second
OpStore %at %both
OpReturn
OpFunctionEnd";

#[test]
fn code_behind_a_constant_argument_is_not_counted() {
    let coverage = |text: &str| {
        let module = spirv(text);
        let program = Program::new(&module, "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
        let bindings = [(Slot::new(0, 0), crate::support::words(&[7, 0, 0, 0]))].into();
        let dispatch = Dispatch { groups: [1; 3], bindings, ..Dispatch::default() };
        let outcome = program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
        let coverage = program.coverage(&outcome.executed);
        assert_eq!(program.executed_instructions(&outcome.executed).len() as u64, coverage.executed);
        assert_eq!(program.reachable_instructions().len() as u64, coverage.instructions);
        (coverage.executed, coverage.instructions)
    };
    let (executed, all) = coverage(PASSED);
    assert_eq!(executed, all);
    // A value of the input may be any.
    let (executed, all) = coverage(&PASSED.replace(
        "OpStore %a %sum1",
        "%from = OpAccessChain %word %d %u0 %u0\n%given = OpLoad %u32 %from\nOpStore %a %given",
    ));
    assert!(executed < all, "{executed} of {all}");
}
