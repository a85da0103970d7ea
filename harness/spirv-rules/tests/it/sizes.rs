//! Layouts of types that are larger than their declarations: each type is measured once.

use assay_spirv::reflect::Reflection;
use assay_spirv_rules::inspect::{ModuleSource, Report};
use assay_spirv_rules::requirements::Requirements;
use assay_testkit::Shader;

/// Returns a module with a variable of storage class `class` whose type nests structures of two
/// equal members, `levels` deep.
fn doubled(levels: u32, class: &str) -> ModuleSource {
    let offset = |level: u32| 4u32.checked_shl(level).unwrap_or(u32::MAX - 3);
    let mut decorations = "OpDecorate %b Block\nOpDecorate %v DescriptorSet 0\nOpDecorate %v Binding 0\n\
        OpMemberDecorate %b 0 Offset 0\n"
        .to_owned();
    for level in 0..=levels {
        decorations +=
            &format!("OpMemberDecorate %s{level} 0 Offset 0\nOpMemberDecorate %s{level} 1 Offset {}\n", offset(level));
    }
    let mut declared = "%s0 = OpTypeStruct %uint %uint\n".to_owned();
    for level in 1..=levels {
        declared += &format!("%s{level} = OpTypeStruct %s{} %s{}\n", level - 1, level - 1);
    }
    declared += &format!("%b = OpTypeStruct %s{levels}\n%p = OpTypePointer {class} %b\n%v = OpVariable %p {class}");
    let shader = Shader { decorations: &decorations, declared: &declared, ..Shader::default() };
    ModuleSource::from_text(&shader.text()).unwrap()
}

/// Without storing sizes, the time doubled with each level: 24 levels took half a second.
#[test]
fn nested_structures_take_linear_time() {
    for class in ["StorageBuffer", "Uniform", "Private", "PushConstant"] {
        let source = doubled(200, class);
        Report::new(&source);
        Requirements::of(&source.module);
        Reflection::new(&source.module);
    }
}

#[test]
fn sizes_are_exact_unless_they_overflow() {
    let source = doubled(20, "StorageBuffer");
    let mut layouts = assay_spirv::reflect::Layouts::new(&source.module);
    let sizes = |ty| layouts.type_layout(ty);
    let shapes: Vec<_> = source.module.types().map(|(ty, _)| ty).collect::<Vec<_>>().into_iter().map(sizes).collect();
    let largest = shapes.iter().map(|shape| shape.size()).max();
    assert_eq!(largest, Some(4 << 21));
    assert_eq!(shapes.iter().map(|shape| shape.parts()).max(), Some((1 << 21) + (1 << 21)));
}
