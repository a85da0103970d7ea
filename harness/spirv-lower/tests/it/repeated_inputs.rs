//! Merging of input variables that have the same built-in.

use assay_spirv::{Module, Style, disassemble};
use assay_spirv_lower::with_single_inputs;
use assay_spirv_rules::rules::{self, Environment, Violation};
use assay_testkit::spirv;

/// A shader with two inputs, of which the second has a built-in.
fn shader(second: &str) -> Module {
    spirv(&format!(
        "OpCapability Shader
        OpCapability GroupNonUniform
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %one %two
        OpExecutionMode %main LocalSize 1 1 1
        OpName %two \"two\"
        OpDecorate %one BuiltIn SubgroupSize
        OpDecorate %two BuiltIn {second}
        %void = OpTypeVoid
        %function = OpTypeFunction %void
        %uint = OpTypeInt 32 0
        %pointer = OpTypePointer Input %uint
        %one = OpVariable %pointer Input
        %two = OpVariable %pointer Input
        %main = OpFunction %void None %function
        %entry = OpLabel
        %a = OpLoad %uint %one
        %b = OpLoad %uint %two
        OpReturn
        OpFunctionEnd"
    ))
}

#[test]
fn inputs_with_the_same_built_in_become_one() {
    let module = shader("SubgroupSize");
    let broken = |module: &Module| -> Vec<&str> {
        rules::violations(module, Environment::Vulkan).iter().map(|Violation { rule, .. }| rule.name).collect()
    };
    assert_eq!(broken(&module), ["repeated-input-built-in"]);
    let words = with_single_inputs(&module).unwrap();
    let mended = Module::parse(words.clone()).unwrap();
    assert_eq!(broken(&mended), Vec::<&str>::new());
    let text = disassemble(&words, Style::Plain).unwrap();
    let loads: Vec<&str> = text.lines().filter_map(|line| line.split_once("OpLoad").map(|(_, load)| load)).collect();
    assert!(loads.len() == 2 && loads[0] == loads[1], "{text}");
    assert_eq!(text.matches("OpVariable").count(), 1, "{text}");
    assert_eq!(with_single_inputs(&mended), None);
}

#[test]
fn inputs_with_different_built_ins_stay() {
    assert_eq!(with_single_inputs(&shader("SubgroupLocalInvocationId")), None);
}
