//! Shaders with undefined behaviour for all inputs that guards exclude: the verdict names it.

use crate::support::{SyntheticTarget, concluded, on_words, spirv};
use assay_check::{CheckError, CheckSession, Options, SessionOutput};
use assay_events::{CheckResult, Status};
use assay_testkit::Shader;

/// A word divided by zero, whatever it is.
const DIVISION: &str = "%i = OpLoad %uint %id
    %place = OpAccessChain %puint %data %zero %i
    %value = OpLoad %uint %place
    %none = OpISub %uint %value %value
    %quotient = OpUDiv %uint %value %none
    %sum = OpIAdd %uint %quotient %value
    OpStore %place %sum";

/// All invocations but the first write beyond a buffer of one word.
const SHORT_BUFFER: Shader<'_> = Shader {
    local_size: 8,
    inputs: &[("%id", "LocalInvocationIndex")],
    buffers: &[("%source", "%ublocks"), ("%out", "%pfixed")],
    decorations: "OpDecorate %row ArrayStride 4
        OpDecorate %fixed Block
        OpMemberDecorate %fixed 0 Offset 0",
    declared: "%row = OpTypeArray %uint %one
        %fixed = OpTypeStruct %row
        %pfixed = OpTypePointer StorageBuffer %fixed",
    body: "%i = OpLoad %uint %id
        %from = OpAccessChain %puint %source %zero %i
        %value = OpLoad %uint %from
        %twice = OpIMul %uint %value %two
        %sum = OpIAdd %uint %twice %i
        %to = OpAccessChain %puint %out %zero %i
        OpStore %to %sum",
    ..Shader::DEFAULT
};

fn searched(shader: &Shader<'_>) -> CheckSession {
    let mut session = CheckSession::new(spirv(shader), Options::default());
    session.search(&SyntheticTarget::default(), &|| ()).unwrap();
    session
}

fn judged(shader: &Shader<'_>, target: &SyntheticTarget) -> CheckResult {
    concluded(&searched(shader), target)
}

/// Returns the reason of a QualityWarning.
fn reason_of(result: &CheckResult) -> &str {
    assert_eq!(result.status, Status::QualityWarning, "{result:?}");
    result.reason.as_deref().unwrap_or_default()
}

#[test]
fn a_division_by_zero_is_named_and_the_rest_checked() {
    let session = searched(&on_words(8, "", "", DIVISION));
    let result = concluded(&session, &SyntheticTarget::default());
    let reason = reason_of(&result);
    assert!(reason.starts_with("integer division at test.spvasm"), "{reason}");
    assert!(reason.contains(", which is undefined behaviour; with guards that exclude it, "), "{reason}");
    assert!(result.notes.iter().any(|note| note.contains("has guards: an index outside of an array")), "{result:?}");
    // The session in another process has the variant, too.
    let again = CheckSession::from_request(session.request()).unwrap();
    assert_eq!(concluded(&again, &SyntheticTarget::default()).reason, result.reason);
}

#[test]
fn an_error_in_a_shader_with_guards_fails() {
    let spoilt = SyntheticTarget::spoilt(|output| {
        output.memory.values_mut().for_each(|bytes| bytes[0] ^= 4);
    });
    let result = judged(&on_words(8, "", "", DIVISION), &spoilt);
    assert_eq!(result.status, Status::Fail, "{result:?}");
}

#[test]
fn guards_that_lead_invocations_to_one_element_order_them() {
    let result = judged(&SHORT_BUFFER, &SyntheticTarget::default());
    let reason = reason_of(&result);
    assert!(reason.starts_with("access out of bounds at test.spvasm"), "{reason}");
    assert!(reason.contains("index 1 of an array of 1 (invocation 1, 0, 0)"), "{reason}");
    assert!(result.notes.iter().any(|note| note.contains("one after another in one invocation")), "{result:?}");
}

/// The last of nine invocations stores outside of an array, and in the variant to the element of the first one.
#[test]
fn a_race_that_guards_make_is_no_mistake_of_the_shader() {
    const DECLARED: &str = "%seven = OpConstant %uint 7
        %eight = OpConstant %uint 8
        %semantics = OpConstant %uint 264
        %row = OpTypeArray %uint %eight
        %prow = OpTypePointer Workgroup %row
        %pelement = OpTypePointer Workgroup %uint
        %shared = OpVariable %prow Workgroup";
    const BODY: &str = "%i = OpLoad %uint %id
        %to = OpAccessChain %pelement %shared %i
        OpStore %to %one
        OpControlBarrier %two %two %semantics
        %kept = OpBitwiseAnd %uint %i %seven
        %from = OpAccessChain %pelement %shared %kept
        %seen = OpLoad %uint %from
        %place = OpAccessChain %puint %data %zero %i
        %value = OpLoad %uint %place
        %sum = OpIAdd %uint %seen %value
        OpStore %place %sum";
    let shader = Shader { interface: "%shared", ..on_words(9, DECLARED, "", BODY) };
    let result = judged(&shader, &SyntheticTarget::default());
    let reason = reason_of(&result);
    assert!(reason.starts_with("access out of bounds at test.spvasm"), "{reason}");
    assert!(reason.contains("with guards that exclude it, all 18 written elements checked"), "{reason}");
    assert!(result.notes.iter().any(|note| note.contains("; guards lead invocations to one element")), "{result:?}");
    let spoilt = SyntheticTarget::spoilt(|output| output.memory.values_mut().for_each(|bytes| bytes[0] ^= 4));
    assert_eq!(judged(&shader, &spoilt).status, Status::Fail);
}

/// The number of the last invocations does not fit a word, whatever the inputs are.
#[test]
fn a_number_that_does_not_fit_is_named() {
    let body = "%i = OpLoad %uint %id
        %number = OpConvertUToF %float %i
        %large = OpFMul %float %number %billion
        %integer = OpConvertFToU %uint %large
        %place = OpAccessChain %puint %data %zero %i
        OpStore %place %integer";
    let result = judged(&on_words(8, "%billion = OpConstant %float 1e9", "", body), &SyntheticTarget::default());
    let reason = reason_of(&result);
    assert!(reason.starts_with("conversion out of range at test.spvasm"), "{reason}");
    assert!(reason.contains("(invocation 5, 0, 0)"), "{reason}");
    let note = "with the defaults the shader has undefined behaviour (conversion out of range); a search over ";
    assert!(result.notes.iter().any(|text| text.contains(note)), "{:?}", result.notes);
}

/// No guard lets all invocations reach a barrier.
#[test]
fn other_undefined_behaviour_is_refused() {
    let body = "%i = OpLoad %uint %id
        %is_zero = OpIEqual %bool %i %zero
        %place = OpAccessChain %puint %data %zero %i
        OpSelectionMerge %end None
        OpBranchConditional %is_zero %then %end
        %then = OpLabel
        OpControlBarrier %two %two %semantics
        OpBranch %end
        %end = OpLabel
        OpStore %place %one";
    let session = searched(&on_words(8, "%semantics = OpConstant %uint 264", "", body));
    let (check, output) = (session.check().unwrap(), SessionOutput { folder: None, command: &[] });
    let ran = session.run(&check, &SyntheticTarget::default(), None, output, &|_| ());
    assert!(matches!(ran, Err(CheckError::Undefined { .. })), "{ran:?}");
}
