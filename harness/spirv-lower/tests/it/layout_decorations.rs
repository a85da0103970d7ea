//! Removal of layout decorations that are not permitted.

use crate::corpus;
use assay_spirv::Module;
use assay_spirv::module::Type;
use assay_spirv_lower::without_forbidden_layout;
use assay_spirv_rules::rules::{self, Environment, LAYOUT_NOT_ALLOWED_RULE, Violation};
use assay_testkit::{Shader, spirv};

#[test]
fn modules_of_naga_with_forbidden_layout_and_only_these_are_repaired() {
    let is_forbidden = |violation: &Violation| violation.rule.name == LAYOUT_NOT_ALLOWED_RULE;
    let mut repairs = 0;
    for (name, words) in corpus::modules() {
        let module = Module::parse(words).unwrap_or_else(|e| panic!("{name}: {e}"));
        let forbidden = rules::violations(&module, Environment::Vulkan).iter().any(is_forbidden);
        let repaired = without_forbidden_layout(&module);
        assert_eq!(repaired.is_some(), forbidden, "{name}");
        if let Some(words) = repaired {
            let again = rules::violations(&Module::parse(words).unwrap(), Environment::Vulkan);
            assert!(again.is_empty(), "{name}, repaired: {again:?}");
            repairs += 1;
        }
    }
    assert!(repairs > 3, "{repairs}");
}

#[test]
fn layout_that_a_buffer_needs_is_kept() {
    let text = "OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpDecorate %array ArrayStride 4
        OpDecorate %outer ArrayStride 16
        OpDecorate %Block Block
        OpMemberDecorate %Block 0 Offset 0
        %uint = OpTypeInt 32 0
        %u4 = OpConstant %uint 4
        %array = OpTypeArray %uint %u4
        %outer = OpTypeArray %array %u4
        %Block = OpTypeStruct %array
        %buffer = OpTypePointer StorageBuffer %Block
        %pointer = OpTypePointer Workgroup %outer
        %memory = OpVariable %pointer Workgroup";
    let module = spirv(text);
    let stripped = without_forbidden_layout(&module).unwrap();
    let stripped = Module::parse(stripped).unwrap();
    let strides: Vec<(u32, u32)> = stripped
        .all_decorations()
        .filter(|(_, d)| d.decoration == Some(assay_spirv::tables::Decoration::ArrayStride))
        .map(|(target, d)| (target, d.operands[0]))
        .collect();
    let array = module.types().find(|(_, ty)| matches!(ty, Type::Array { .. })).unwrap().0;
    assert_eq!(strides, [(module.type_definition(array).result().unwrap(), 4)]);
    let broken = rules::violations(&stripped, Environment::Vulkan);
    assert!(broken.is_empty(), "{broken:?}");
    assert!(without_forbidden_layout(&stripped).is_none());
}

/// SPIR-V 1.5 forbids a layout in memory of functions and invocations, too.
#[test]
fn memory_of_functions_gets_types_of_its_own() {
    let shader = Shader {
        version: "1.5",
        interface: "%kept",
        buffers: &[("%buffer", "%blocks")],
        decorations: "OpDecorate %array ArrayStride 4
            OpDecorate %Block Block
            OpMemberDecorate %Block 0 Offset 0",
        declared: "%u4 = OpConstant %uint 4
            %array = OpTypeArray %uint %u4
            %Block = OpTypeStruct %array
            %blocks = OpTypePointer StorageBuffer %Block
            %arrays = OpTypePointer StorageBuffer %array
            %private = OpTypePointer Private %array
            %function = OpTypePointer Function %array
            %kept = OpVariable %private Private",
        body: "%local = OpVariable %function Function
            %from = OpAccessChain %arrays %buffer %zero
            %value = OpLoad %array %from
            OpStore %local %value
            %again = OpLoad %array %local
            OpStore %kept %again",
        ..Shader::default()
    };
    let module = shader.module();
    assert!(!rules::violations(&module, Environment::Vulkan).is_empty());
    let again = Module::parse(without_forbidden_layout(&module).unwrap()).unwrap();
    let broken = rules::violations(&again, Environment::Vulkan);
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn values_that_cannot_be_converted_keep_their_layout_and_are_reported() {
    // A copy with memory operands between workgroup memory and a buffer.
    for (aligned, repaired) in [("", true), ("Aligned 4", false)] {
        let shader = Shader {
            interface: "%memory",
            buffers: &[("%buffer", "%blocks")],
            decorations: "OpDecorate %array ArrayStride 4
                OpDecorate %Block Block
                OpMemberDecorate %Block 0 Offset 0",
            declared: "%u4 = OpConstant %uint 4
                %array = OpTypeArray %uint %u4
                %Block = OpTypeStruct %array
                %blocks = OpTypePointer StorageBuffer %Block
                %arrays = OpTypePointer StorageBuffer %array
                %pointer = OpTypePointer Workgroup %array
                %memory = OpVariable %pointer Workgroup",
            body: &format!("%from = OpAccessChain %arrays %buffer %zero\nOpCopyMemory %memory %from {aligned}"),
            ..Shader::default()
        };
        let module = shader.module();
        let again = Module::parse(without_forbidden_layout(&module).unwrap_or(module.words().to_vec())).unwrap();
        let broken = rules::violations(&again, Environment::Vulkan);
        assert_eq!(broken.is_empty(), repaired, "{broken:?}");
        assert!(broken.iter().all(|v| v.rule.name == LAYOUT_NOT_ALLOWED_RULE), "{broken:?}");
    }
}
