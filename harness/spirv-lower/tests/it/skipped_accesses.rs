//! Accesses, divisions and conversions in operands that short-circuit evaluation skips.

use assay_spirv::Module;
use assay_spirv::module::Instruction;
use assay_spirv::tables::Op;
use assay_spirv_lower::with_skipped_accesses;
use assay_spirv_rules::inspect::{ModuleSource, Report};
use assay_testkit::spirv;

/// A shader that loads `array[index]` as `element`, with code after the load, which may use
/// `condition`.
fn shader(after: &str) -> Module {
    spirv(&format!(
        "OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %input %shared
        OpExecutionMode %main LocalSize 4 1 1
        OpDecorate %input BuiltIn LocalInvocationIndex
        %void = OpTypeVoid
        %function = OpTypeFunction %void
        %bool = OpTypeBool
        %uint = OpTypeInt 32 0
        %float = OpTypeFloat 32
        %pair = OpTypeVector %uint 2
        %zero = OpConstant %uint 0
        %four = OpConstant %uint 4
        %five = OpConstant %uint 5
        %inputs = OpTypePointer Input %uint
        %array = OpTypeArray %uint %four
        %arrays = OpTypePointer Workgroup %array
        %elements = OpTypePointer Workgroup %uint
        %input = OpVariable %inputs Input
        %shared = OpVariable %arrays Workgroup
        %main = OpFunction %void None %function
        %entry = OpLabel
        %index = OpLoad %uint %input
        %condition = OpULessThan %bool %index %four
        %chain = OpAccessChain %elements %shared %index
        %element = OpLoad %uint %chain
        {after}
        OpReturn
        OpFunctionEnd"
    ))
}

/// Returns the operands of the selections that replace the index, `None` if the shader stays as it
/// is.
fn selections(after: &str) -> Option<Vec<String>> {
    let module = Module::parse(with_skipped_accesses(&shader(after))?).unwrap();
    let name = |id: &u32| match module.definition_of(*id).and_then(|i| i.op) {
        Some(Op::ULessThan) => "condition",
        Some(Op::Load) => "index",
        Some(Op::Constant) if module.constant_int(*id) == Some(0) => "zero",
        _ => "other",
    };
    let before_access = module.instructions().take_while(|i| i.op != Some(Op::AccessChain));
    let selections = before_access.filter(|i| i.op == Some(Op::Select));
    Some(selections.map(|i| i.operands().iter().map(name).collect::<Vec<_>>().join(" ")).collect())
}

#[test]
fn index_is_zero_where_an_alternative_is_not_selected() {
    let yes = selections("%value = OpSelect %uint %condition %element %zero").unwrap();
    assert_eq!(yes, ["condition index zero"]);
    let no = selections("%value = OpSelect %uint %condition %zero %element").unwrap();
    assert_eq!(no, ["condition zero index"]);
    let sum = selections("%sum = OpIAdd %uint %element %five\n%value = OpSelect %uint %condition %sum %zero");
    assert_eq!(sum.unwrap(), ["condition index zero"]);
}

#[test]
fn index_is_zero_where_the_second_operand_of_a_logical_operation_is_skipped() {
    let and = selections(
        "%is_five = OpIEqual %bool %element %five\n%both = OpLogicalAnd %bool %condition %is_five
        %value = OpSelect %uint %both %five %zero",
    );
    assert_eq!(and.unwrap(), ["condition index zero"]);
    let or = selections("%is_five = OpIEqual %bool %element %five\n%either = OpLogicalOr %bool %condition %is_five");
    assert_eq!(or.unwrap(), ["condition zero index"]);
    let first = "%is_five = OpIEqual %bool %element %five\n%both = OpLogicalAnd %bool %is_five %condition";
    assert_eq!(selections(first), None);
}

/// Returns whether a module breaks no rule.
fn is_legal(module: &Module) -> bool {
    let source = ModuleSource::from_words(module.words().to_vec()).expect("a module");
    Report::new(&source).is_legal()
}

/// Returns whether each instruction with this code stands in the first block.
fn are_in_first_block(module: &Module, op: Op) -> Vec<bool> {
    let first = module.blocks().first().expect("a block").label;
    let label = |i: Instruction<'_>| Some(module.block(module.block_at(i.index)?).label);
    module.instructions().filter(|i| i.op == Some(op)).filter_map(label).map(|label| label == first).collect()
}

#[test]
fn a_branch_skips_the_load_and_later_phis_name_the_block_after_it() {
    let before = shader(
        "%value = OpSelect %uint %condition %element %zero
        OpSelectionMerge %last None
        OpBranchConditional %condition %other %last
        %other = OpLabel
        OpBranch %last
        %last = OpLabel
        %chosen = OpPhi %uint %value %entry %five %other",
    );
    assert!(is_legal(&before));
    let after = Module::parse(with_skipped_accesses(&before).expect("changes")).unwrap();
    assert!(is_legal(&after));
    // The index is loaded in the first block, and the element in another.
    assert_eq!(are_in_first_block(&after, Op::Load), [true, false]);
    assert_eq!(are_in_first_block(&after, Op::Select), [true, false]);
    assert_eq!(after.instructions().filter(|i| i.op == Some(Op::Phi)).count(), 2);
}

#[test]
fn index_stays_where_the_value_is_used_otherwise() {
    for after in [
        "%value = OpSelect %uint %condition %element %element",
        "%value = OpSelect %uint %condition %element %zero\n%sum = OpIAdd %uint %element %five",
        "%value = OpSelect %uint %condition %element %zero\nOpStore %chain %element",
        "%late = OpULessThan %bool %index %five\n%value = OpSelect %uint %late %element %zero",
        "OpBranch %next\n%next = OpLabel\n%value = OpSelect %uint %condition %element %zero",
    ] {
        assert_eq!(selections(after), None, "{after}");
    }
}

/// Returns the constant that takes the place of an operand of the only instruction with a code where it is
/// not selected.
fn replacement_of(op: Op, operand: usize, after: &str) -> Option<i64> {
    let before = shader(after);
    assert!(is_legal(&before), "{after}");
    let module = Module::parse(with_skipped_accesses(&before)?).unwrap();
    assert!(is_legal(&module), "{after}");
    let changed = module.instructions().find(|i| i.op == Some(op)).unwrap();
    let select = module.definition_of(changed.operand(operand)?)?;
    module.constant_int(select.operand(2)?).or_else(|| {
        let other = module.definition_of(select.operand(2)?)?;
        other.operand(0).map(i64::from)
    })
}

#[test]
fn a_divisor_is_one_and_a_converted_float_zero_where_they_are_not_selected() {
    let quotient = "%quotient = OpUDiv %uint %five %index\n%value = OpSelect %uint %condition %quotient %zero";
    assert_eq!(replacement_of(Op::UDiv, 1, quotient), Some(1));
    let integer = "%float_index = OpConvertUToF %float %index
        %integer = OpConvertFToU %uint %float_index
        %value = OpSelect %uint %condition %integer %zero";
    assert_eq!(replacement_of(Op::ConvertFToU, 0, integer), Some(0));
    let pairs = "%many = OpCompositeConstruct %pair %index %index
        %quotients = OpUMod %pair %many %many
        %one = OpCompositeExtract %uint %quotients 1
        %value = OpSelect %uint %condition %one %zero";
    assert!(replacement_of(Op::UMod, 1, pairs).is_some());
    let by_five = "%quotient = OpUDiv %uint %index %five\n%value = OpSelect %uint %condition %quotient %zero";
    assert_eq!(with_skipped_accesses(&shader(by_five)), None);
}
