//! Parsing of modules: sections, ids, types, functions, control flow, and errors.

use assay_spirv::module::{ConstructKind, Merge, Section, Type};
use assay_spirv::tables::{Decoration, Op, StorageClass};
use assay_spirv::{Module, assemble};
use assay_testkit::spirv;

const SHADER: &str = r#"
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
%file = OpString "a.comp"
OpName %main "main"
OpName %block "Block"
OpMemberName %block 1 "data"
OpDecorate %group Aliased
OpDecorate %group DescriptorSet 2
%group = OpDecorationGroup
OpGroupDecorate %group %buffer
OpMemberDecorate %block 1 Offset 16
OpDecorate %block Block
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%again = OpTypeInt 32 0
%int = OpTypeInt 32 1
%bool = OpTypeBool
%n = OpConstant %uint 4
%minus = OpConstant %int -3
%array = OpTypeRuntimeArray %uint
%block = OpTypeStruct %uint %array
%ptr = OpTypePointer StorageBuffer %block
%buffer = OpVariable %ptr StorageBuffer
%true = OpConstantTrue %bool
%main = OpFunction %void None %fn
%entry = OpLabel
OpLine %file 3 9
OpBranch %loop
%loop = OpLabel
OpLoopMerge %done %next None
OpBranch %body
%body = OpLabel
OpSelectionMerge %joined None
OpBranchConditional %true %then %joined
%then = OpLabel
OpBranch %done
%joined = OpLabel
OpBranch %next
%next = OpLabel
OpBranchConditional %true %loop %done
%done = OpLabel
OpReturn
OpFunctionEnd
"#;

#[test]
fn sections_ids_and_types_are_parsed() {
    let words = assemble(SHADER).unwrap();
    let module = Module::parse(words.clone()).unwrap();
    assert_eq!(module.section(Section::Capabilities).count(), 1);
    assert_eq!(module.section(Section::Names).count(), 3);
    assert_eq!(module.section(Section::Annotations).count(), 6);
    assert_eq!(module.section(Section::Globals).count(), 13);
    assert_eq!(module.id_count(), module.header().bound as usize - 1);
    let named = |name: &str| {
        let found = module.section(Section::Names).find(|i| module.string_at(*i, 1) == name);
        found.unwrap().operand(0).unwrap()
    };
    let block = named("Block");
    let Type::Struct { .. } = module.ty(module.type_declared(block).unwrap()) else { panic!("not a structure") };
    let members = module.members(module.type_declared(block).unwrap());
    assert_eq!(*module.ty(members[0]), Type::Int { width: 32, signed: false });
    assert!(matches!(module.ty(members[1]), Type::RuntimeArray { element } if *element == members[0]));
    assert_eq!(module.types().filter(|(_, ty)| matches!(ty, Type::Int { .. })).count(), 2, "equal types are one");
    assert_eq!(module.names().of_member(block, 1).as_deref(), Some("data"));
    assert_eq!(module.names().display(named("main")), "%main");
    let offset = module.decorations(block).find(|d| d.member == Some(1)).unwrap();
    assert_eq!((offset.decoration, offset.operands), (Some(Decoration::Offset), &[16][..]));
    assert_eq!(module.into_words(), words);
}

#[test]
fn groups_constants_and_pointers_are_resolved() {
    let module = spirv(SHADER);
    let variable = module.instructions().find(|i| i.op == Some(Op::Variable)).unwrap();
    let said: Vec<_> = module.decorations(variable.result().unwrap()).map(|d| d.decoration.unwrap()).collect();
    assert_eq!(said, [Decoration::Aliased, Decoration::DescriptorSet]);
    let (class, pointee) = module.pointer(module.type_of(variable.result().unwrap()).unwrap()).unwrap();
    assert_eq!(class, StorageClass::StorageBuffer);
    assert!(matches!(module.ty(pointee.unwrap()), Type::Struct { .. }));
    let constants = module.instructions().filter(|i| i.op == Some(Op::Constant));
    let values: Vec<_> = constants.map(|i| module.constant_int(i.result().unwrap()).unwrap()).collect();
    assert_eq!(values, [4, -3]);
}

#[test]
fn structured_control_flow_is_parsed() {
    let module = spirv(SHADER);
    let function = &module.functions()[0];
    let flow = module.flow(function);
    let block = |i: u32| assay_spirv::module::BlockIndex(function.blocks.start + i);
    let (entry, looping, body, then, joined, next, done) =
        (block(0), block(1), block(2), block(3), block(4), block(5), block(6));
    assert_eq!(module.block(looping).merge, Some(Merge::Loop { merge: done, continue_target: next }));
    let kind = |b| flow.innermost_construct(b).map(|c| flow.constructs()[c].kind);
    assert_eq!(kind(entry), None);
    assert_eq!(kind(looping), Some(ConstructKind::Loop));
    assert_eq!(kind(body), Some(ConstructKind::Selection));
    assert_eq!(kind(then), Some(ConstructKind::Selection));
    assert_eq!(kind(joined), Some(ConstructKind::Loop));
    assert_eq!(kind(next), Some(ConstructKind::Continue));
    assert_eq!(kind(done), None);
    assert_eq!(flow.dominator(done), Some(looping));
    assert!(flow.dominates(looping, then) && !flow.dominates(body, next) || flow.dominates(looping, next));
    assert_eq!(flow.order().first(), Some(&entry));
}

#[test]
fn lines_end_with_their_block() {
    let module = spirv(SHADER);
    let lines: Vec<_> =
        module.instructions().filter(|i| module.line(i.index).is_some()).map(|i| i.op.unwrap()).collect();
    assert_eq!(lines, [Op::Line, Op::Branch]);
}

#[test]
fn both_byte_orders_are_read() {
    let words = assemble(SHADER).unwrap();
    let little: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let big: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
    assert_eq!(Module::from_bytes(&little).unwrap().words(), words);
    assert_eq!(Module::from_bytes(&big).unwrap().words(), words);
}

#[test]
fn invalid_modules_are_rejected_with_a_position() {
    let function =
        "OpMemoryModel Logical GLSL450\n%1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%3 = OpFunction %1 None %2\n";
    let cases = [
        (
            "OpMemoryModel Logical GLSL450\nOpCapability Shader".to_owned(),
            "word 8: OpCapability belongs to section Capabilities, but follows the start of section MemoryModel",
        ),
        ("OpName %1 \"x\"".to_owned(), "word 5: id 1 is used but not defined"),
        ("%1 = OpTypeVoid\n%1 = OpTypeBool".to_owned(), "word 7: id 1 is defined twice"),
        (
            "%1 = OpTypeStruct %1".to_owned(),
            "word 5: OpTypeStruct refers to id 1, which is not a type declared before it",
        ),
        (format!("{function}OpReturn"), "word 18: OpReturn is outside a block"),
        ("OpReturn".to_owned(), "word 5: OpReturn is outside a function"),
        (function.to_owned(), "word 18: the end of the module inside an unfinished function"),
        (format!("{function}%4 = OpLabel\n%5 = OpLabel"), "word 20: OpLabel inside an unfinished block"),
        (
            format!("{function}%4 = OpLabel\nOpBranch %2\nOpFunctionEnd"),
            "word 20: OpBranch refers to id 2, which is not a block of its function",
        ),
        (
            format!("{function}%4 = OpLabel\nOpSelectionMerge %4 None\nOpNop\nOpBranch %4\nOpFunctionEnd"),
            "word 23: OpSelectionMerge does not immediately precede the last instruction of its block",
        ),
        (
            format!("{function}%4 = OpLabel\nOpDecorate %3 Block\nOpReturn\nOpFunctionEnd"),
            "word 20: OpDecorate belongs to section Annotations, but follows the start of section Functions",
        ),
        (
            format!("{function}%4 = OpLabel\n%5 = OpTypeBool\nOpReturn\nOpFunctionEnd"),
            "word 20: OpTypeBool belongs to section Globals, but follows the start of section Functions",
        ),
        ("OpCapability Shader !7".to_owned(), "word 5: OpCapability: operand word 2 is unexpected"),
        ("!0x00010017".to_owned(), "word 5: OpTypeVector: operand IdResult is missing"),
    ];
    for (text, expected) in cases {
        assert_eq!(Module::parse(assemble(&text).unwrap()).unwrap_err().to_string(), expected, "{text}");
    }
    for (bytes, expected) in [
        (&[][..], "word 0: a header has 5 words, found 0"),
        (&[1, 2, 3], "word 0: 3 bytes are not a whole number of words"),
        (&[0; 20], "word 0: first word is 0x00000000, expected the magic number 0x07230203 in either byte order"),
        (&[3, 2, 0x23, 7, 0, 0, 0, 0], "word 0: a header has 5 words, found 2"),
    ] {
        assert_eq!(Module::from_bytes(bytes).unwrap_err().to_string(), expected);
    }
    let mut words = assemble("OpCapability Shader").unwrap();
    words[5] = 17 | 9 << 16;
    assert_eq!(
        Module::parse(words.clone()).unwrap_err().to_string(),
        "word 5: the instruction at word 5 has 9 words, but only 2 are left"
    );
    words[3] = u32::MAX;
    words[5] = 17 | 2 << 16;
    assert_eq!(Module::parse(words).unwrap_err().to_string(), "word 3: id bound 4294967295, expected 1 to 4194303");
}

#[test]
fn forward_pointers_allow_recursive_types() {
    let module = spirv(
        "OpCapability PhysicalStorageBufferAddresses\nOpMemoryModel PhysicalStorageBuffer64 GLSL450\n\
         OpTypeForwardPointer %p PhysicalStorageBuffer\n%node = OpTypeStruct %p\n%p = OpTypePointer PhysicalStorageBuffer %node",
    );
    let (node, _) = module.types().find(|(_, ty)| matches!(ty, Type::Struct { .. })).unwrap();
    let pointer = module.members(node)[0];
    assert_eq!(module.pointer(pointer), Some((StorageClass::PhysicalStorageBuffer, Some(node))));
}

#[test]
fn unknown_instructions_and_enumerants_are_counted() {
    let module =
        spirv("OpCapability Shader\nOpCapability !60000\n!0x0002ffff !5\nOpName %9 \"made by it\"\n%1 = OpTypeVoid");
    assert!(module.unknown_instructions() == 2);
}

#[test]
fn source_text_may_have_invalid_characters() {
    let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n%file = OpString \"a.comp\"\n\
                OpSource GLSL 450 %file \"//(c) a\"\nOpSourceContinued \"b\"\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
                %main = OpFunction %void None %fn\n%entry = OpLabel\nOpLine %file 1 1\nOpReturn\nOpFunctionEnd";
    let mut words = assemble(text).unwrap();
    let broken = words.iter().position(|word| *word == u32::from_le_bytes(*b"//(c")).unwrap();
    // A character of two bytes, of which the second is lost.
    words[broken] = u32::from_le_bytes([b'/', b'/', 0xc2, 0xff]);
    let module = Module::parse(words).unwrap();
    let line = module.instructions().find(|i| i.op == Some(Op::Return)).and_then(|i| module.line(i.index)).unwrap();
    assert_eq!(module.source_text(line).unwrap(), "//\u{fffd}\u{fffd}) ab");
}
