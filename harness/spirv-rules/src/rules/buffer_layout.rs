//! Explicit layouts of buffers: the requirements that hold whatever alignment features a device
//! has.

use super::analysis::facts::{EntryPointFacts, Facts};
use super::analysis::type_contents::TypeContents;
use super::{Check, Findings, Rule, Severity};
use assay_spirv::module::{Type, TypeId};
use assay_spirv::reflect::{TypeLayout, explicit_layout};
use assay_spirv::tables::{Capability, Decoration, Op, StorageClass};

/// Calls `check` for each member of each explicitly laid out structure and reports the problem that
/// it returns.
fn check_members(
    facts: &Facts,
    found: &mut Findings,
    check: impl Fn(&assay_spirv::reflect::Member, TypeId) -> Option<String>,
) {
    for (ty, shape) in facts.structures() {
        let TypeLayout::Struct { members, .. } = &**shape else { continue };
        for (i, (member, of)) in members.iter().zip(facts.module.members(*ty)).enumerate() {
            if let Some(problem) = check(member, *of) {
                let name = facts.type_word(*ty).map_or_else(String::new, |word| facts.name(word));
                found.report(facts.module.type_definition(*ty), format!("member {i} of {name}: {problem}"));
            }
        }
    }
}

/// Workgroup variables in the interface of an entry point, each with whether its type is a Block.
/// Empty without `WorkgroupMemoryExplicitLayoutKHR`.
fn workgroup_variables(facts: &Facts, entry: &EntryPointFacts) -> Vec<(u32, bool)> {
    if !facts.has(Capability::WorkgroupMemoryExplicitLayoutKHR) {
        return Vec::new();
    }
    let pointee = |word: u32| {
        let definition = facts.module.definition_of(word).filter(|i| i.op == Some(Op::Variable))?;
        let ty = definition.result_type().and_then(|ty| facts.module.type_declared(ty))?;
        let (class, pointee) = facts.module.pointer(ty)?;
        pointee.filter(|_| class == StorageClass::Workgroup)
    };
    let block = |ty: TypeId| facts.type_has(ty, Decoration::Block);
    let words = entry.usage.interface.iter();
    words.filter_map(|word| Some((*word, block(pointee(*word)?)))).collect()
}

/// Describes the first array inside a member whose ArrayStride is missing, too small or misaligned.
fn array_problem(shape: &TypeLayout) -> Option<String> {
    match shape {
        TypeLayout::Array { element, stride: None, .. } if !matches!(**element, TypeLayout::Opaque) => {
            Some("array without ArrayStride".to_owned())
        }
        TypeLayout::Array { element, stride: Some(stride), count } => {
            let (size, alignment) = (element.size(), element.scalar_alignment());
            // A single element cannot overlap another, but no array may have stride 0.
            if *stride == 0 || u64::from(*stride) < size && count.is_none_or(|n| n > 1) {
                return Some(format!("ArrayStride {stride}, expected at least the element size {size}"));
            }
            if !u64::from(*stride).is_multiple_of(alignment) {
                return Some(format!("ArrayStride {stride}, expected a multiple of {alignment}"));
            }
            array_problem(element)
        }
        _ => None,
    }
}

fn matrix_problem(shape: &TypeLayout) -> Option<String> {
    match shape {
        TypeLayout::Matrix { stride: None, .. } => Some("matrix without MatrixStride".to_owned()),
        TypeLayout::Matrix { component, columns, rows, stride: Some(stride), row_major } => {
            let line = component.size() * u64::from(if *row_major { *columns } else { *rows });
            let alignment = component.scalar_alignment();
            match u64::from(*stride) {
                stride if stride < line => Some(format!("MatrixStride {stride}, expected at least {line}")),
                stride if !stride.is_multiple_of(alignment) => {
                    Some(format!("MatrixStride {stride}, expected a multiple of {alignment}"))
                }
                _ => None,
            }
        }
        TypeLayout::Array { element, .. } => matrix_problem(element),
        _ => None,
    }
}

/// Name of the rule that forbids layout decorations in storage classes without an explicit layout.
pub const LAYOUT_NOT_ALLOWED_RULE: &str = "layout-not-allowed";

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: LAYOUT_NOT_ALLOWED_RULE,
        id: "VUID-StandaloneSpirv-None-10684 (no layout decorations in storage classes without a layout)",
        requirement: "types of Workgroup variables (without WorkgroupMemoryExplicitLayoutKHR) and, after SPIR-V 1.4, of Private and Function variables must not have Block, BufferBlock, Offset, ArrayStride or MatrixStride",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Variable], |facts, instruction, found| {
            let Some(class) = instruction.operand(0).and_then(StorageClass::from_word) else { return };
            if !explicit_layout::forbids_layout(facts.module, class) {
                return;
            }
            let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
            let Some((_, Some(pointee))) = ty.and_then(|ty| facts.module.pointer(ty)) else { return };
            if !facts.contents(pointee).any(TypeContents::LAYOUT) {
                return;
            }
            let Some((holder, decorated)) = explicit_layout::outermost_layout_decoration(facts.module, pointee) else {
                return;
            };
            let (Some(decoration), Some(variable)) = (decorated.decoration, instruction.result()) else { return };
            let (variable, holder) = (facts.name(variable), facts.name(holder));
            found.report(
                instruction,
                format!(
                    "{variable} in {class} has a type with {decoration} (on {holder}), which {class} does not permit"
                ),
            );
        }),
    },
    Rule {
        name: "workgroup-blocks",
        id: "SPV_KHR_workgroup_memory_explicit_layout: Either all or none of the Workgroup variables in the entry point interface must point to struct types decorated with Block",
        requirement: "with WorkgroupMemoryExplicitLayoutKHR, either all or none of the Workgroup variables in an interface must point to types decorated Block",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let shared = workgroup_variables(facts, entry);
            let (block, other) = (shared.iter().find(|one| one.1), shared.iter().find(|one| !one.1));
            if let Some((block, other)) = block.zip(other) {
                let (block, other) = (facts.name(block.0), facts.name(other.0));
                found.report(entry.instruction, format!("Workgroup variable {block} is a Block, but {other} is not"));
            }
        }),
    },
    Rule {
        name: "workgroup-blocks-aliased",
        id: "SPV_KHR_workgroup_memory_explicit_layout: If more than one Workgroup variable in the entry point interface point to a type decorated with Block, all of them must be decorated with Aliased",
        requirement: "with WorkgroupMemoryExplicitLayoutKHR, if an interface lists several Workgroup blocks, all of them must be decorated Aliased",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let mut blocks = workgroup_variables(facts, entry);
            blocks.retain(|(_, block)| *block);
            let aliased = |word: u32| facts.has_decoration(word, Decoration::Aliased);
            if let (true, Some((word, _))) = (blocks.len() > 1, blocks.iter().find(|(word, _)| !aliased(*word))) {
                let name = facts.name(*word);
                found.report(
                    entry.instruction,
                    format!("Workgroup block {name} is not decorated Aliased, but the interface lists several blocks"),
                );
            }
        }),
    },
    Rule {
        name: "offsets",
        id: "VUID-StandaloneSpirv-None-10684 (every member has an Offset)",
        requirement: "every member of an explicitly laid out structure must have an Offset",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            check_members(facts, found, |member, _| member.offset.is_none().then(|| "no Offset".to_owned()));
        }),
    },
    Rule {
        name: "offset-overlap",
        id: "VUID-StandaloneSpirv-None-10684 (members do not overlap)",
        requirement: "members of an explicitly laid out structure must not overlap",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            for (ty, shape) in facts.structures() {
                let TypeLayout::Struct { members, .. } = &**shape else { continue };
                let mut spans: Vec<(u64, u64)> = Vec::new();
                for member in members {
                    let Some(offset) = member.offset.map(u64::from) else { continue };
                    spans.push((offset, offset.saturating_add(member.shape.size())));
                }
                spans.sort_unstable();
                if spans.windows(2).any(|pair| pair[1].0 < pair[0].1) {
                    let name = facts.type_word(*ty).map_or_else(String::new, |word| facts.name(word));
                    found.report(facts.module.type_definition(*ty), format!("members of {name} overlap"));
                }
            }
        }),
    },
    Rule {
        name: "scalar-alignment",
        id: "VUID-StandaloneSpirv-None-10684 (offsets are multiples of the scalar alignment)",
        requirement: "Offset must be a multiple of the member's scalar alignment",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            check_members(facts, found, |member, _| {
                let alignment = member.shape.scalar_alignment();
                let offset = u64::from(member.offset?);
                (!offset.is_multiple_of(alignment))
                    .then(|| format!("Offset {offset}, expected a multiple of {alignment}"))
            });
        }),
    },
    Rule {
        name: "array-stride",
        id: "VUID-StandaloneSpirv-None-10684 (valid ArrayStride)",
        requirement: "ArrayStride must be present, at least the element's size and a multiple of the element's scalar alignment",
        severity: Severity::Error,
        check: Check::Module(|facts, found| check_members(facts, found, |member, _| array_problem(&member.shape))),
    },
    Rule {
        name: "matrix-stride",
        id: "VUID-StandaloneSpirv-None-10684 (valid MatrixStride)",
        requirement: "MatrixStride must be present, at least the size of a column (row-major: of a row) and a multiple of the component's size",
        severity: Severity::Error,
        check: Check::Module(|facts, found| check_members(facts, found, |member, _| matrix_problem(&member.shape))),
    },
    Rule {
        name: "matrix-order",
        id: "SPIR-V specification, 2.16.2: members that are matrices have MatrixStride and one of RowMajor and ColMajor",
        requirement: "a matrix member must have exactly one of RowMajor and ColMajor",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            for (ty, _) in facts.structures() {
                let Some(word) = facts.type_word(*ty) else { continue };
                let is_matrix = |member: &TypeId| {
                    let (element, _) = assay_spirv::reflect::elements(facts.module, *member);
                    matches!(facts.module.ty(element), Type::Matrix { .. })
                };
                let matrices = facts.module.members(*ty).iter().enumerate().filter(|(_, member)| is_matrix(member));
                for (i, _) in matrices {
                    let has = |wanted: Decoration| {
                        let mut decorations = facts.module.decorations(word);
                        decorations.any(|d| d.member == Some(i as u32) && d.decoration == Some(wanted))
                    };
                    let both = match (has(Decoration::RowMajor), has(Decoration::ColMajor)) {
                        (true, true) => "both",
                        (false, false) => "neither",
                        _ => continue,
                    };
                    let message = format!("member {i} of {}: {both} of RowMajor and ColMajor", facts.name(word));
                    found.report(facts.module.type_definition(*ty), message);
                }
            }
        }),
    },
    Rule {
        name: "pointer-stride",
        id: "VUID-StandaloneSpirv-None-10684 (no ArrayStride on pointers into storage classes without a layout)",
        requirement: "pointer types into Workgroup (without WorkgroupMemoryExplicitLayoutKHR) and, after SPIR-V 1.4, into Private and Function must not have ArrayStride",
        severity: Severity::Warning {
            reason: "the VUID speaks of variables, but the chapter that it cites speaks of any use of ArrayStride",
        },
        check: Check::Decorations(&[Decoration::ArrayStride], |facts, target, decorated, found| {
            let pointer = facts.module.type_declared(target).and_then(|ty| facts.module.pointer(ty));
            if let Some((class, _)) = pointer.filter(|(class, _)| explicit_layout::forbids_layout(facts.module, *class))
            {
                let name = facts.name(target);
                found.report(
                    decorated.instruction,
                    format!("ArrayStride on {name}, a pointer into {class}, which has no explicit layout"),
                );
            }
        }),
    },
    Rule {
        name: "boolean-in-buffer",
        id: "SPIR-V specification, OpTypeBool: booleans have no bit pattern and must not be in externally visible memory",
        requirement: "explicitly laid out structures must not contain booleans",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            check_members(facts, found, |_, ty| {
                let (element, _) = assay_spirv::reflect::elements(facts.module, ty);
                let boolean = match facts.module.ty(element) {
                    Type::Vector { component, .. } => *facts.module.ty(*component) == Type::Bool,
                    other => *other == Type::Bool,
                };
                boolean.then(|| "a boolean, which has no bit pattern".to_owned())
            });
        }),
    },
    Rule {
        name: "block-nesting",
        id: "SPIR-V specification, Block: a structure inside a Block must not be a Block",
        requirement: "a structure decorated Block or BufferBlock must not contain another one",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeStruct], |facts, instruction, found| {
            let Some(ty) = instruction.result().and_then(|word| facts.module.type_declared(word)) else { return };
            let is_block = |ty| facts.type_has(ty, Decoration::Block) || facts.type_has(ty, Decoration::BufferBlock);
            if is_block(ty) && facts.module.members(ty).iter().any(|m| facts.contents(*m).any(TypeContents::BLOCK)) {
                found.report(instruction, "Block that contains another Block");
            }
        }),
    },
];
