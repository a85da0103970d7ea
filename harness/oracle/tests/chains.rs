//! What rearranging a chain may make of it, whatever the chain goes through.

mod support;

use assay_oracle::{CauseKind, Outcome, Program, SpecValues};
use support::*;

/// Runs one invocation that has the floats `%a`, `%b` and `%c`; `body` makes the word `%r` of them, which is written. `modes` are execution
/// modes of 32-bit floats (none of float_controls2), or the flags that are the default.
fn outcome(modes: &[&str], decorations: &str, body: &str, given: [f32; 3]) -> Outcome {
    let (flags, widths): (Vec<&str>, Vec<&str>) = modes.iter().partition(|mode| mode.starts_with("0x"));
    let capabilities: String = widths.iter().map(|mode| format!("OpCapability {mode}\n")).collect();
    let declared: String = widths.iter().map(|mode| format!("OpExecutionMode %main {mode} 32\n")).collect();
    let (controls, default, value) = match flags[..] {
        [] if !decorations.contains("FPFastMathMode") => ("", "", String::new()),
        [] => (CONTROLS, "", String::new()),
        _ => (
            CONTROLS,
            "OpExecutionModeId %main FPFastMathDefault %float %flags\n",
            format!("%flags = OpConstant %uint {}", flags[0]),
        ),
    };
    let text = format!(
        "OpCapability Shader
        OpCapability Float16
        OpCapability GroupNonUniformBallot
        {capabilities}{controls}
        %glsl = OpExtInstImport \"GLSL.std.450\"
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %in %out %kept %shared
        OpExecutionMode %main LocalSize 1 1 1
        {declared}{default}
        OpDecorate %floats ArrayStride 4
        OpDecorate %words ArrayStride 4
        OpDecorate %fblock Block
        OpMemberDecorate %fblock 0 Offset 0
        OpDecorate %ublock Block
        OpMemberDecorate %ublock 0 Offset 0
        OpDecorate %in DescriptorSet 0
        OpDecorate %in Binding 0
        OpDecorate %out DescriptorSet 0
        OpDecorate %out Binding 1
        OpDecorate %kept DescriptorSet 0
        OpDecorate %kept Binding 2
        {decorations}
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %bool = OpTypeBool
        %uint = OpTypeInt 32 0
        %int = OpTypeInt 32 1
        %float = OpTypeFloat 32
        %half = OpTypeFloat 16
        %v3float = OpTypeVector %float 3
        {value}
        %zero = OpConstant %uint 0
        %one = OpConstant %uint 1
        %two = OpConstant %uint 2
        %subgroup = OpConstant %uint 3
        %i0 = OpConstant %int 0
        %i1 = OpConstant %int 1
        %f0 = OpConstant %float 0
        %f1 = OpConstant %float 1
        %f2 = OpConstant %float 2
        %tenth = OpConstant %float 0.1
        %true = OpConstantTrue %bool
        %floats = OpTypeRuntimeArray %float
        %words = OpTypeRuntimeArray %uint
        %fblock = OpTypeStruct %floats
        %ublock = OpTypeStruct %words
        %fblocks = OpTypePointer StorageBuffer %fblock
        %ublocks = OpTypePointer StorageBuffer %ublock
        %pfloat = OpTypePointer StorageBuffer %float
        %puint = OpTypePointer StorageBuffer %uint
        %wfloat = OpTypePointer Workgroup %float
        %in = OpVariable %fblocks StorageBuffer
        %out = OpVariable %ublocks StorageBuffer
        %kept = OpVariable %fblocks StorageBuffer
        %shared = OpVariable %wfloat Workgroup
        %main = OpFunction %void None %fn
        %entry = OpLabel
        %pa = OpAccessChain %pfloat %in %zero %zero
        %a = OpLoad %float %pa
        %pb = OpAccessChain %pfloat %in %zero %one
        %b = OpLoad %float %pb
        %pc = OpAccessChain %pfloat %in %zero %two
        %c = OpLoad %float %pc
        %pk = OpAccessChain %pfloat %kept %zero %zero
        {body}
        %to = OpAccessChain %puint %out %zero %zero
        OpStore %to %r
        OpReturn
        OpFunctionEnd"
    );
    let program = Program::new(&spirv(&text), "main", &SpecValues::new()).unwrap_or_else(|e| panic!("{e}"));
    run_program(&program, [1; 3], vec![floats(&given), words(&[0]), floats(&[0.0])])
}

const CONTROLS: &str = "OpCapability FloatControls2\nOpExtension \"SPV_KHR_float_controls2\"\n";

/// The same of a body that makes the float `%f`.
fn of(modes: &[&str], decorations: &str, body: &str, given: [f32; 3]) -> Outcome {
    outcome(modes, decorations, &format!("{body}\n%r = OpBitcast %uint %f"), given)
}

/// An exact product is still a product when it has been selected.
#[test]
fn a_selected_value_came_about_as_before() {
    let [x, y] = [0.1f32, 1.1];
    let body = "%m = OpFMul %float %a %b
        %s = OpSelect %float %true %m %c
        %f = OpFSub %float %s %c";
    // The rounding mode makes the product one value; fused, the difference is what was rounded away.
    let fused = x.mul_add(y, -(x * y));
    let outcome = of(&["RoundingModeRTE"], "", body, [x, y, x * y]);
    assert!(permits(&outcome, 1, 0, fused) && permits(&outcome, 1, 0, 0.0) && !permits(&outcome, 1, 0, 1.0));
}

#[test]
fn a_nan_is_no_zero_in_a_chain() {
    let body = "%q = OpFDiv %float %f0 %a
        %s = OpFAdd %float %q %b
        %f = OpFAdd %float %s %f1";
    let outcome = of(&["SignedZeroInfNanPreserve"], "", body, [0.0, 2.0, 0.0]);
    assert!(!permits(&outcome, 1, 0, 3.0));
    assert_eq!(cause(&outcome, 1, 0), CauseKind::NoRequirement);
}
