//! Explicit layouts of buffers: what every device asks for, whatever alignments its features relax.

use super::contents::Contents;
use super::facts::{Entry, Facts};
use super::{Findings, On, Rule, Severity};
use crate::module::{Type, TypeId};
use crate::reflect::{Shape, explicit};
use crate::tables::{Capability, Decoration, Op, StorageClass};

/// Calls `check` for each member of each structure: its number, its offset, its type.
fn members(facts: &Facts, found: &mut Findings, check: impl Fn(&crate::reflect::Member, TypeId) -> Option<String>) {
    for (ty, shape) in facts.structures() {
        let Shape::Struct { members, .. } = &**shape else { continue };
        for (i, (member, of)) in members.iter().zip(facts.module.members(*ty)).enumerate() {
            if let Some(problem) = check(member, *of) {
                let name = facts.type_word(*ty).map_or_else(String::new, |word| facts.name(word));
                found.at(facts.module.type_definition(*ty), format!("member {i} of {name}: {problem}"));
            }
        }
    }
}

/// The Workgroup variables in an entry point's interface, and whether each is a block; none where they have no layout.
fn shared(facts: &Facts, entry: &Entry) -> Vec<(u32, bool)> {
    if !facts.has(Capability::WorkgroupMemoryExplicitLayoutKHR) {
        return Vec::new();
    }
    let pointee = |word: u32| {
        let definition = facts.module.definition_of_word(word).filter(|i| i.op == Some(Op::Variable))?;
        let ty = definition.result_type().and_then(|ty| facts.module.type_declared(ty))?;
        let (class, pointee) = facts.module.pointer(ty)?;
        pointee.filter(|_| class == StorageClass::Workgroup)
    };
    let block = |ty: TypeId| facts.type_has(ty, Decoration::Block);
    let words = entry.usage.interface.iter();
    words.filter_map(|word| Some((*word, block(pointee(*word)?)))).collect()
}

/// The first array without its stride, or with one that is too small, inside a member.
fn array_problem(shape: &Shape) -> Option<String> {
    match shape {
        Shape::Array { element, stride: None, .. } if !matches!(**element, Shape::Opaque) => {
            Some("an array without ArrayStride".to_owned())
        }
        Shape::Array { element, stride: Some(stride), count } => {
            let (size, alignment) = (element.size(), element.scalar_alignment());
            // A single element overlaps no other, but 0 is a stride of no array.
            if *stride == 0 || u64::from(*stride) < size && count.is_none_or(|n| n > 1) {
                return Some(format!("ArrayStride {stride} of elements of {size} bytes"));
            }
            if !u64::from(*stride).is_multiple_of(alignment) {
                return Some(format!("ArrayStride {stride}, expected a multiple of {alignment}"));
            }
            array_problem(element)
        }
        _ => None,
    }
}

fn matrix_problem(shape: &Shape) -> Option<String> {
    match shape {
        Shape::Matrix { stride: None, .. } => Some("a matrix without MatrixStride".to_owned()),
        Shape::Matrix { component, columns, rows, stride: Some(stride), row_major } => {
            let line = component.size() * u64::from(if *row_major { *columns } else { *rows });
            let alignment = component.scalar_alignment();
            match u64::from(*stride) {
                stride if stride < line => Some(format!("MatrixStride {stride} of lines of {line} bytes")),
                stride if !stride.is_multiple_of(alignment) => {
                    Some(format!("MatrixStride {stride}, expected a multiple of {alignment}"))
                }
                _ => None,
            }
        }
        Shape::Array { element, .. } => matrix_problem(element),
        _ => None,
    }
}

/// Name of the rule that layout decorations are only on types of the storage classes that take them.
pub const LAYOUT_NOT_ALLOWED: &str = "layout-not-allowed";

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: LAYOUT_NOT_ALLOWED,
        id: "VUID-StandaloneSpirv-None-10684 (no layout where none is allowed)",
        says: "types of Workgroup variables (without WorkgroupMemoryExplicitLayoutKHR) and, after SPIR-V 1.4, of Private and Function variables carry no Block, BufferBlock, Offset, ArrayStride or MatrixStride",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Variable], |facts, instruction, found| {
            let Some(class) = instruction.operand(0).and_then(StorageClass::from_word) else { return };
            if !explicit::forbids_layout(facts, class) {
                return;
            }
            let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
            let Some((_, Some(pointee))) = ty.and_then(|ty| facts.module.pointer(ty)) else { return };
            if !facts.contents(pointee).any(Contents::LAYOUT) {
                return;
            }
            let Some((holder, decorated)) = explicit::first_layout(facts.module, pointee) else { return };
            let (Some(decoration), Some(variable)) = (decorated.decoration, instruction.result()) else { return };
            let (variable, holder) = (facts.name(variable), facts.name(holder));
            found.at(
                instruction,
                format!(
                    "{variable} in {class} is of a type with {decoration} (on {holder}), which {class} does not allow"
                ),
            );
        }),
    },
    Rule {
        name: "workgroup-blocks",
        id: "SPV_KHR_workgroup_memory_explicit_layout: Either all or none of the Workgroup variables in the entry point interface must point to struct types decorated with Block",
        says: "with WorkgroupMemoryExplicitLayoutKHR, all Workgroup variables of an entry point are blocks or none is",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let shared = shared(facts, entry);
            let (block, other) = (shared.iter().find(|one| one.1), shared.iter().find(|one| !one.1));
            if let Some((block, other)) = block.zip(other) {
                let (block, other) = (facts.name(block.0), facts.name(other.0));
                found.at(entry.instruction, format!("{block} in Workgroup is a Block, {other} is none"));
            }
        }),
    },
    Rule {
        name: "workgroup-blocks-aliased",
        id: "SPV_KHR_workgroup_memory_explicit_layout: If more than one Workgroup variable in the entry point interface point to a type decorated with Block, all of them must be decorated with Aliased",
        says: "with WorkgroupMemoryExplicitLayoutKHR, several Workgroup blocks of an entry point are Aliased",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let mut blocks = shared(facts, entry);
            blocks.retain(|(_, block)| *block);
            let aliased = |word: u32| facts.has_decoration(word, Decoration::Aliased);
            if let (true, Some((word, _))) = (blocks.len() > 1, blocks.iter().find(|(word, _)| !aliased(*word))) {
                let name = facts.name(*word);
                found.at(entry.instruction, format!("{name} shares its memory with other blocks, but is not Aliased"));
            }
        }),
    },
    Rule {
        name: "offsets",
        id: "VUID-StandaloneSpirv-None-10684 (every member has an Offset)",
        says: "members of buffers' structures have an Offset",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            members(facts, found, |member, _| member.offset.is_none().then(|| "no Offset".to_owned()));
        }),
    },
    Rule {
        name: "offset-overlap",
        id: "VUID-StandaloneSpirv-None-10684 (members do not overlap)",
        says: "members of a buffer's structure do not overlap",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            for (ty, shape) in facts.structures() {
                let Shape::Struct { members, .. } = &**shape else { continue };
                let mut spans: Vec<(u64, u64)> = Vec::new();
                for member in members {
                    let Some(offset) = member.offset.map(u64::from) else { continue };
                    spans.push((offset, offset.saturating_add(member.shape.size())));
                }
                spans.sort_unstable();
                if spans.windows(2).any(|pair| pair[1].0 < pair[0].1) {
                    let name = facts.type_word(*ty).map_or_else(String::new, |word| facts.name(word));
                    found.at(facts.module.type_definition(*ty), format!("members of {name} overlap"));
                }
            }
        }),
    },
    Rule {
        name: "scalar-alignment",
        id: "VUID-StandaloneSpirv-None-10684 (offsets are multiples of the scalar alignment)",
        says: "offsets are aligned to the largest number that a member holds",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            members(facts, found, |member, _| {
                let alignment = member.shape.scalar_alignment();
                let offset = u64::from(member.offset?);
                (!offset.is_multiple_of(alignment))
                    .then(|| format!("Offset {offset}, expected a multiple of {alignment}"))
            });
        }),
    },
    Rule {
        name: "array-stride",
        id: "VUID-StandaloneSpirv-None-10684 (arrays have an ArrayStride that fits)",
        says: "arrays in buffers have an ArrayStride of at least an element's size, a multiple of the largest number that it holds",
        severity: Severity::Error,
        on: On::Module(|facts, found| members(facts, found, |member, _| array_problem(&member.shape))),
    },
    Rule {
        name: "matrix-stride",
        id: "VUID-StandaloneSpirv-None-10684 (matrices have a MatrixStride that fits)",
        says: "matrices in buffers have a MatrixStride of at least a column's (or row's) size, a multiple of a component's",
        severity: Severity::Error,
        on: On::Module(|facts, found| members(facts, found, |member, _| matrix_problem(&member.shape))),
    },
    Rule {
        name: "matrix-order",
        id: "SPIR-V specification, 2.16.2: members that are matrices have MatrixStride and one of RowMajor and ColMajor",
        says: "matrices in buffers are RowMajor or ColMajor, and not both",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            for (ty, _) in facts.structures() {
                let Some(word) = facts.type_word(*ty) else { continue };
                let is_matrix = |member: &TypeId| {
                    let (element, _) = crate::reflect::elements(facts.module, *member);
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
                    found.at(facts.module.type_definition(*ty), message);
                }
            }
        }),
    },
    Rule {
        name: "pointer-stride",
        id: "VUID-StandaloneSpirv-None-10684 (no ArrayStride on pointers into memory without a layout)",
        says: "pointers into Workgroup (without WorkgroupMemoryExplicitLayoutKHR) and, after SPIR-V 1.4, Private and Function have no ArrayStride",
        severity: Severity::Warning {
            why: "the rule speaks of variables, the chapter that it cites of any use of ArrayStride",
        },
        on: On::Decorations(&[Decoration::ArrayStride], |facts, target, decorated, found| {
            let pointer = facts.module.type_declared(target).and_then(|ty| facts.module.pointer(ty));
            if let Some((class, _)) = pointer.filter(|(class, _)| explicit::forbids_layout(facts, *class)) {
                let name = facts.name(target);
                found.at(
                    decorated.instruction,
                    format!("ArrayStride on {name}, a pointer into {class} without a layout"),
                );
            }
        }),
    },
    Rule {
        name: "boolean-in-buffer",
        id: "SPIR-V specification, OpTypeBool: no bit pattern, so not in memory that others see",
        says: "buffers hold no booleans",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            members(facts, found, |_, ty| {
                let (element, _) = crate::reflect::elements(facts.module, ty);
                let boolean = match facts.module.ty(element) {
                    Type::Vector { component, .. } => *facts.module.ty(*component) == Type::Bool,
                    other => *other == Type::Bool,
                };
                boolean.then(|| "a boolean, which has no layout".to_owned())
            });
        }),
    },
    Rule {
        name: "block-nesting",
        id: "SPIR-V specification, Block: not on a structure inside a Block",
        says: "a Block holds no Block",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeStruct], |facts, instruction, found| {
            let Some(ty) = instruction.result().and_then(|word| facts.module.type_declared(word)) else { return };
            let is_block = |ty| facts.type_has(ty, Decoration::Block) || facts.type_has(ty, Decoration::BufferBlock);
            if is_block(ty) && facts.module.members(ty).iter().any(|m| facts.contents(*m).any(Contents::BLOCK)) {
                found.at(instruction, "a Block inside a Block");
            }
        }),
    },
];
