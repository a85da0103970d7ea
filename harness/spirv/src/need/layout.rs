//! Layouts of blocks that not every device takes: "Offset and Stride Assignment" of the specification.

use super::Expression;
use super::derive::{Derive, feature};
use crate::module::Instruction;
use crate::reflect::{self, Layouts, Shape};
use crate::tables::StorageClass;

/// How strict a layout is, laxest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Layout {
    /// Numbers are aligned to their size, and nothing else matters.
    Scalar,
    /// As storage buffers have it everywhere: std430, with vectors aligned to their components unless they straddle.
    Base,
    /// As uniform buffers have it everywhere: arrays and structures are aligned to 16 bytes besides.
    Extended,
}

const ROUND: u64 = 16;

/// Bytes of a shape's widest number.
fn scalar_alignment(shape: &Shape) -> u64 {
    match shape {
        Shape::Bool | Shape::Int { .. } | Shape::Float { .. } | Shape::Pointer { .. } => shape.size(),
        Shape::Vector { component, .. } | Shape::Matrix { component, .. } => scalar_alignment(component),
        Shape::Array { element, .. } => scalar_alignment(element),
        Shape::Struct { members, .. } => members.iter().map(|m| scalar_alignment(&m.shape)).max().unwrap_or(1),
        Shape::Opaque => 1,
    }
}

/// Base alignment, or the extended one.
fn alignment(shape: &Shape, layout: Layout) -> u64 {
    let rounded = |n: u64| if layout == Layout::Extended { n.next_multiple_of(ROUND) } else { n };
    match shape {
        Shape::Vector { component, count } => component.size() * if *count == 2 { 2 } else { 4 },
        Shape::Matrix { component, columns, rows, row_major, .. } => {
            let count = if *row_major { columns } else { rows };
            rounded(component.size() * if *count == 2 { 2 } else { 4 })
        }
        Shape::Array { element, .. } => rounded(alignment(element, layout)),
        Shape::Struct { members, .. } => {
            rounded(members.iter().map(|m| alignment(&m.shape, layout)).max().unwrap_or(1))
        }
        other => scalar_alignment(other),
    }
}

/// Whether a shape at an offset keeps to a layout.
fn keeps(shape: &Shape, offset: u64, layout: Layout) -> bool {
    let aligned = |n: u64, to: u64| to == 0 || n.is_multiple_of(to);
    match shape {
        Shape::Vector { component, .. } => {
            let size = shape.size();
            let straddles = if size > ROUND {
                !aligned(offset, ROUND)
            } else {
                offset / ROUND != (offset + size.saturating_sub(1)) / ROUND
            };
            aligned(offset, component.size()) && !straddles
        }
        Shape::Matrix { stride, .. } => {
            let to = alignment(shape, layout);
            aligned(offset, to) && stride.is_none_or(|stride| aligned(u64::from(stride), to))
        }
        Shape::Array { element, stride, .. } => {
            let to = alignment(shape, layout);
            aligned(offset, to) && stride.is_none_or(|s| aligned(u64::from(s), to)) && keeps(element, 0, layout)
        }
        Shape::Struct { members, .. } => {
            // Nothing may begin in the padding that ends a structure, array or matrix before it.
            let mut padding: Vec<std::ops::Range<u64>> = Vec::new();
            aligned(offset, alignment(shape, layout))
                && members.iter().all(|member| {
                    let start = member.offset.map_or(0, u64::from);
                    let free = padding.iter().all(|padding| !padding.contains(&start));
                    if matches!(*member.shape, Shape::Struct { .. } | Shape::Array { .. } | Shape::Matrix { .. }) {
                        let end = start.saturating_add(member.shape.size());
                        padding.push(end..end.next_multiple_of(alignment(&member.shape, layout).max(1)));
                    }
                    free && keeps(&member.shape, start, layout)
                })
        }
        other => aligned(offset, scalar_alignment(other)),
    }
}

/// The strictest layout that a block keeps to.
fn of(shape: &Shape) -> Layout {
    [Layout::Extended, Layout::Base].into_iter().find(|layout| keeps(shape, 0, *layout)).unwrap_or(Layout::Scalar)
}

impl Derive<'_> {
    /// Buffers and push constants that are laid out in ways that not every device takes.
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
        let shape = Layouts::new(module).shape(block);
        let (needs, how) = match (of(&shape), uniform) {
            (Layout::Extended, _) | (Layout::Base, false) => return,
            (Layout::Base, true) => (
                Expression::Any(vec![feature("uniformBufferStandardLayout"), feature("scalarBlockLayout")]),
                "like a storage buffer",
            ),
            (Layout::Scalar, _) if workgroup => {
                (feature("workgroupMemoryExplicitLayoutScalarBlockLayout"), "by its numbers' sizes only")
            }
            (Layout::Scalar, _) => (feature("scalarBlockLayout"), "by its numbers' sizes only"),
        };
        let because = format!("{class} {}, which is laid out {how},", module.names().display(word));
        self.push(instruction.at, because, None, needs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflect::Member;
    use std::sync::Arc;

    fn int(width: u32) -> Arc<Shape> {
        Arc::new(Shape::Int { width, signed: false })
    }

    fn vector(width: u32, count: u32) -> Arc<Shape> {
        Arc::new(Shape::Vector { component: int(width), count })
    }

    fn array(element: Arc<Shape>, stride: u32) -> Arc<Shape> {
        Arc::new(Shape::Array { element, count: Some(3), stride: Some(stride) })
    }

    fn block(members: &[(u32, Arc<Shape>)]) -> Arc<Shape> {
        let member = |(offset, shape): &(u32, Arc<Shape>)| Member {
            name: None,
            offset: Some(*offset),
            shape: Arc::clone(shape),
        };
        Arc::new(Shape::Struct { name: None, members: members.iter().map(member).collect() })
    }

    #[test]
    fn layouts_are_told_apart() {
        use Layout::{Base, Extended, Scalar};
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
            assert_eq!(of(&block(&members)), expected, "{what}");
        }
    }
}
