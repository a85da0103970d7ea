//! Requirements of block layouts that not every device supports (Vulkan, "Offset and Stride
//! Assignment").

use super::Condition;
use super::derivation::{Derivation, feature};
use assay_spirv::module::Instruction;
use assay_spirv::reflect::{self, Layouts, Member, TypeLayout};
use assay_spirv::tables::StorageClass;
use std::collections::HashMap;

/// Alignment rules, least strict first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AlignmentRules {
    /// Scalar alignment: each scalar is aligned to its size.
    Scalar,
    /// Base alignment (std430), which storage buffers always support. Vectors are aligned to their
    /// components and do not straddle 16 bytes.
    Base,
    /// Extended alignment (std140), which uniform buffers always support: in addition, arrays and
    /// structures are aligned to 16 bytes.
    Extended,
}

const ROUND: u64 = 16;

/// Returns the base alignment, or the extended alignment: that of arrays, structures and matrices
/// is rounded up to 16.
fn alignment(shape: &TypeLayout, rules: AlignmentRules) -> u64 {
    let base = shape.base_alignment();
    match shape {
        TypeLayout::Matrix { .. } | TypeLayout::Array { .. } | TypeLayout::Struct { .. }
            if rules == AlignmentRules::Extended =>
        {
            base.checked_next_multiple_of(ROUND).unwrap_or(u64::MAX)
        }
        _ => base,
    }
}

/// Checks types against alignment rules. Structures share members, so the result for each
/// structure is stored.
struct LayoutCheck {
    rules: AlignmentRules,
    /// Results for the members of structures, by the structure's address.
    known: HashMap<*const TypeLayout, bool>,
}

impl LayoutCheck {
    fn is_satisfied(shape: &TypeLayout, rules: AlignmentRules) -> bool {
        LayoutCheck { rules, known: HashMap::new() }.at(shape, 0)
    }

    /// Returns true if a type at an offset satisfies the rules.
    fn at(&mut self, shape: &TypeLayout, offset: u64) -> bool {
        let aligned = |n: u64, to: u64| to == 0 || n.is_multiple_of(to);
        let to = alignment(shape, self.rules);
        match shape {
            TypeLayout::Vector { component, .. } => {
                let size = shape.size();
                let straddles = if size > ROUND {
                    !aligned(offset, ROUND)
                } else {
                    offset / ROUND != offset.saturating_add(size.saturating_sub(1)) / ROUND
                };
                aligned(offset, component.size()) && !straddles
            }
            TypeLayout::Matrix { stride, .. } => {
                aligned(offset, to) && stride.is_none_or(|stride| aligned(u64::from(stride), to))
            }
            TypeLayout::Array { element, stride, .. } => {
                aligned(offset, to) && stride.is_none_or(|s| aligned(u64::from(s), to)) && self.at(element, 0)
            }
            TypeLayout::Struct { members, .. } => {
                aligned(offset, to)
                    && match self.known.get(&std::ptr::from_ref(shape)) {
                        Some(known) => *known,
                        None => {
                            let satisfied = self.members(members);
                            self.known.insert(std::ptr::from_ref(shape), satisfied);
                            satisfied
                        }
                    }
            }
            other => aligned(offset, other.scalar_alignment()),
        }
    }

    fn members(&mut self, members: &[Member]) -> bool {
        let start = |member: &Member| member.offset.map_or(0, u64::from);
        let mut starts: Vec<u64> = members.iter().map(start).collect();
        starts.sort_unstable();
        // No member may start in the padding at the end of a structure, array or matrix.
        let free = members.iter().all(|member| {
            if !matches!(
                *member.shape,
                TypeLayout::Struct { .. } | TypeLayout::Array { .. } | TypeLayout::Matrix { .. }
            ) {
                return true;
            }
            let end = start(member).saturating_add(member.shape.size());
            let padded = end.checked_next_multiple_of(alignment(&member.shape, self.rules).max(1)).unwrap_or(u64::MAX);
            // A member without bytes starts at its own end.
            let within = |from: u64| starts.partition_point(|at| *at < from);
            let own = usize::from(start(member) == end && padded > end);
            within(padded) - within(end) <= own
        });
        free && members.iter().all(|member| self.at(&member.shape, start(member)))
    }
}

/// Returns the strictest alignment rules that a block satisfies.
fn strictest_rules(shape: &TypeLayout) -> AlignmentRules {
    [AlignmentRules::Extended, AlignmentRules::Base]
        .into_iter()
        .find(|rules| LayoutCheck::is_satisfied(shape, *rules))
        .unwrap_or(AlignmentRules::Scalar)
}

impl Derivation<'_> {
    /// Adds the requirement of a buffer, push constant block or workgroup block whose layout not
    /// every device supports.
    pub(super) fn block_layout(&mut self, instruction: Instruction) {
        let module = self.module;
        let Some(word) = instruction.result() else { return };
        let Some((class, ty)) = reflect::variable(module, word) else { return };
        let uniform = class == StorageClass::Uniform && !self.is_buffer_block(ty);
        let (block, _) = reflect::elements(module, ty);
        let buffer = matches!(class, StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::PushConstant);
        let workgroup = class == StorageClass::Workgroup && self.has_block(ty);
        if !buffer && !workgroup {
            return;
        }
        let shape = Layouts::new(module).type_layout(block);
        let (needs, how) = match (strictest_rules(&shape), uniform) {
            (AlignmentRules::Extended, _) | (AlignmentRules::Base, false) => return,
            (AlignmentRules::Base, true) => (
                Condition::Any(vec![feature("uniformBufferStandardLayout"), feature("scalarBlockLayout")]),
                "only storage buffers always support (std430)",
            ),
            (AlignmentRules::Scalar, _) if workgroup => {
                (feature("workgroupMemoryExplicitLayoutScalarBlockLayout"), "aligns scalars only")
            }
            (AlignmentRules::Scalar, _) => (feature("scalarBlockLayout"), "aligns scalars only"),
        };
        let imposed_by = format!("{class} {} with a layout that {how}", module.names().display(word));
        self.push(instruction.at, imposed_by, None, needs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn int(width: u32) -> Arc<TypeLayout> {
        Arc::new(TypeLayout::Int { width, signed: false })
    }

    fn vector(width: u32, count: u32) -> Arc<TypeLayout> {
        Arc::new(TypeLayout::Vector { component: int(width), count })
    }

    fn array(element: Arc<TypeLayout>, stride: u32) -> Arc<TypeLayout> {
        Arc::new(TypeLayout::Array { element, count: Some(3), stride: Some(stride) })
    }

    fn block(members: &[(u32, Arc<TypeLayout>)]) -> Arc<TypeLayout> {
        let member = |(offset, shape): &(u32, Arc<TypeLayout>)| Member {
            name: None,
            offset: Some(*offset),
            shape: Arc::clone(shape),
        };
        Arc::new(TypeLayout::structure(None, members.iter().map(member).collect()))
    }

    #[test]
    fn strictest_alignment_rules_of_a_block_are_found() {
        use AlignmentRules::{Base, Extended, Scalar};
        let inner = block(&[(0, int(32))]);
        for (what, expected, members) in [
            ("numbers", Extended, vec![(0, int(8)), (1, int(8)), (2, int(16)), (8, int(64))]),
            ("a number out of place", Scalar, vec![(2, int(32))]),
            ("an array of bytes", Base, vec![(0, array(int(8), 1))]),
            ("an array of wide stride", Extended, vec![(16, array(int(8), 16))]),
            ("an array of wide stride at 4", Base, vec![(4, array(int(32), 16))]),
            ("a vector aligned to its components", Extended, vec![(4, vector(32, 3))]),
            ("a vector that straddles 16 bytes", Scalar, vec![(8, vector(32, 3))]),
            ("a long vector at 8", Scalar, vec![(8, vector(64, 3))]),
            ("a tight array of vectors of three", Scalar, vec![(0, array(vector(8, 3), 3))]),
            ("an array of vectors of three", Base, vec![(0, array(vector(8, 3), 4))]),
            ("a structure at 4", Base, vec![(4, inner.clone())]),
            ("in the padding of a structure", Base, vec![(0, inner.clone()), (4, int(32))]),
            ("after the padding of a structure", Extended, vec![(0, inner.clone()), (16, int(32))]),
            ("members in another order", Extended, vec![(16, inner), (0, int(32))]),
        ] {
            assert_eq!(strictest_rules(&block(&members)), expected, "{what}");
        }
    }
}
