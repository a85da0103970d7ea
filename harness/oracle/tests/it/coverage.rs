//! Executed instructions of a program.

use crate::support::*;
use assay_oracle::{Coverage, Dispatch, ExecutedBlocks, Limits, Program, SkippedCode, Slot, SpecValues};
use assay_spirv::Module;

/// Runs WGSL once for each first word of its buffer. Returns the program, and its executed blocks.
fn executed(body: &str, words: &[u32]) -> (Program, ExecutedBlocks) {
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
    (program, executed)
}

fn line(place: assay_oracle::Place) -> u32 {
    place.line.expect("naga records lines")
}

/// Returns the coverage of all runs, and the skipped code with the lines of its branch and of its
/// beginning.
fn covered(body: &str, words: &[u32]) -> (Coverage, Option<(u32, u32, u64)>) {
    let (program, executed) = executed(body, words);
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
fn loops_whose_bodies_ran_once_are_named() {
    let body = "var sum = 0u;\nfor (var i = 0u; i < x; i++) {\nsum = sum * 3u + i;\n}\nd[1] = sum;";
    let loops = |words: &[u32]| {
        let (program, executed) = executed(body, words);
        program.loops_without_repetition(&executed).into_iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!((loops(&[0]), loops(&[1]), loops(&[0, 2])), (vec![6], vec![6], vec![6]));
    assert_eq!((loops(&[2]), loops(&[1, 2])), (vec![], vec![]));
}

#[test]
fn code_behind_a_constant_is_not_counted() {
    let (coverage, skipped) = covered("const debug = false;\nif debug {\nd[2] = much(x);\n}\nd[1] = x;", &[1]);
    assert_eq!((coverage.executed, skipped), (coverage.instructions, None), "{coverage:?}");
}

/// glslang passes an argument in a variable of the caller, by a pointer that takes those of all calls.
/// `first` is stored to the variable of the first call, 2 to that of the second.
fn passing(first: &str) -> Module {
    let functions = "%pick = OpFunction %uint None %picks
        %p = OpFunctionParameter %to
        %pick0 = OpLabel
        %mode = OpLoad %uint %p
        OpSelectionMerge %done None
        OpSwitch %mode %done 1 %first 2 %second 3 %third
        %first = OpLabel
        OpReturnValue %two
        %second = OpLabel
        OpReturnValue %one
        %third = OpLabel
        %square = OpIMul %uint %mode %mode
        OpReturnValue %square
        %done = OpLabel
        OpReturnValue %zero
        OpFunctionEnd";
    let body = format!(
        "%a = OpVariable %to Function
        %b = OpVariable %to Function
        %at = OpAccessChain %puint %d %zero %zero
        {first}
        %x = OpFunctionCall %uint %pick %a
        OpStore %b %two
        %y = OpFunctionCall %uint %pick %b
        %both = OpIAdd %uint %x %y
        OpStore %at %both"
    );
    let declared = "%to = OpTypePointer Function %uint %picks = OpTypeFunction %uint %to";
    let buffers = &[("%d", "%ublocks")];
    Shader { buffers, declared, functions, body: &body, ..Shader::default() }.module()
}

#[test]
fn code_behind_a_constant_argument_is_not_counted() {
    let coverage = |first: &str| {
        let module = passing(first);
        let program = Program::new(&module, "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
        let bindings = [(Slot::new(0, 0), crate::support::words(&[7, 0, 0, 0]))].into();
        let dispatch = Dispatch { groups: [1; 3], bindings, ..Dispatch::default() };
        let outcome = program.run(&dispatch, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
        let coverage = program.coverage(&outcome.executed);
        assert_eq!(program.executed_instructions(&outcome.executed).len() as u64, coverage.executed);
        assert_eq!(program.reachable_instructions().len() as u64, coverage.instructions);
        (coverage.executed, coverage.instructions)
    };
    // The case of 3 is never executed.
    let (executed, all) = coverage("%sum = OpIAdd %uint %one %zero\nOpStore %a %sum");
    assert_eq!(executed, all);
    // A value of the input may be any.
    let (executed, all) = coverage("%given = OpLoad %uint %at\nOpStore %a %given");
    assert!(executed < all, "{executed} of {all}");
}
