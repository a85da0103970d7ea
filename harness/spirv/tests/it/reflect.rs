//! Interfaces of modules.

use assay_spirv::reflect::{DescriptorCount, DescriptorKind, Reflection, TypeLayout};
use assay_testkit::spirv;

const SHADER: &str = include_str!("../shaders/called_function.spvasm");

#[test]
fn resources_of_called_functions_are_found_with_their_layout() {
    let module = spirv(SHADER);
    let reflection = Reflection::new(&module);
    let main = &reflection.entry_points[0];
    assert_eq!(main.name, "main");
    assert_eq!(main.workgroup_size.unwrap().size, [64, 2, 1]);
    assert_eq!(main.workgroup_bytes, 8);
    assert_eq!(main.push_constants.as_ref().unwrap().size(), 16);
    let [images, bytes] = &main.bindings[..] else { panic!("{:?}", main.bindings) };
    assert_eq!((images.set, images.binding, images.kind), (0, 1, Some(DescriptorKind::StorageImage)));
    assert_eq!(images.count, DescriptorCount::Fixed(2));
    assert_eq!((bytes.set, bytes.binding, bytes.kind), (1, 3, Some(DescriptorKind::StorageBuffer)));
    assert_eq!(bytes.name.as_deref(), Some("bytes"));
    let TypeLayout::Struct { name, members, .. } = &**bytes.block.as_ref().unwrap() else { panic!("not a structure") };
    assert_eq!(name.as_deref(), Some("Bytes"));
    assert_eq!(members[0].name.as_deref(), Some("head"));
    assert_eq!(members[1].shape.size(), 60, "three strides of 16 and a last column of 12");
    assert!(matches!(*members[2].shape, TypeLayout::Array { count: None, stride: Some(1), .. }));
    assert_eq!(bytes.block.as_ref().unwrap().size(), 80);
    let spec = &reflection.spec_constants[0];
    assert_eq!((spec.spec_id, spec.default), (7, 5));
}
