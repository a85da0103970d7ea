//! Modules that naga emits for a corpus of compute shaders: they violate no rule and survive
//! conversion to text.

use std::collections::BTreeSet;

use assay_spirv::lower::without_forbidden_layout;
use assay_spirv::module::Type;
use assay_spirv::requirements::Requirements;
use assay_spirv::rules::{self, Environment, LAYOUT_NOT_ALLOWED_RULE};
use assay_spirv::{Module, Style, assemble, disassemble};
use assay_testkit::{Shader, spirv};

/// Rules that modules of naga 30 violate: group operations were added in SPIR-V 1.3, and arrays in
/// workgroup memory may not have a stride.
const NAGA: [(&str, &str); 7] = [
    ("subgroups as SPIR-V 1.0", "version-or-extension"),
    ("matrix_multiply as SPIR-V 1.0", LAYOUT_NOT_ALLOWED_RULE),
    ("matrix_multiply as SPIR-V 1.3", LAYOUT_NOT_ALLOWED_RULE),
    ("matrix_multiply as SPIR-V 1.4", LAYOUT_NOT_ALLOWED_RULE),
    ("workgroup_memory as SPIR-V 1.0", LAYOUT_NOT_ALLOWED_RULE),
    ("workgroup_memory as SPIR-V 1.3", LAYOUT_NOT_ALLOWED_RULE),
    ("workgroup_memory as SPIR-V 1.4", LAYOUT_NOT_ALLOWED_RULE),
];

#[test]
fn modules_of_naga_are_legal_and_survive_text() {
    let modules = crate::support::corpus::modules();
    assert!(modules.len() > 130, "{}", modules.len());
    let mut capabilities = BTreeSet::new();
    for (name, words) in modules {
        let module = Module::parse(words.clone()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let broken = rules::violations(&module, Environment::Vulkan);
        let names: BTreeSet<&str> = broken.iter().map(|violation| violation.rule.name).collect();
        let expected: Vec<&str> = NAGA.iter().filter(|(of, _)| *of == name).map(|(_, rule)| *rule).collect();
        let shown = || disassemble(&words, Style::Indented).unwrap();
        assert!(names.iter().eq(&expected), "{name}: {broken:?}\n{}", shown());
        // Removing the layout repairs the module, and changes no other module.
        let repaired = without_forbidden_layout(&module);
        assert_eq!(repaired.is_some(), expected.contains(&LAYOUT_NOT_ALLOWED_RULE), "{name}");
        if let Some(words) = repaired {
            let again = rules::violations(&Module::parse(words).unwrap(), Environment::Vulkan);
            assert!(again.is_empty(), "{name}, repaired: {again:?}");
        }
        let text = disassemble(&words, Style::Plain).unwrap();
        let again = assemble(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(again[5..] == words[5..], "{name}: words change by way of text");
        capabilities.extend(Requirements::of(&module).items.into_iter().map(|item| item.imposed_by));
    }
    assert!(capabilities.contains("capability GroupNonUniformBallot"), "{capabilities:?}");
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
