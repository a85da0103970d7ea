//! Verification of the decoded program: no instruction refers to registers that do not exist,
//! whatever types a module declares.

use crate::control_flow::{Edge, End, Function};
use crate::float_op::FloatOp;
use crate::inst::{ImageQuery, Inst, Level, LookUp, LookUpKind, Offsets, Reg};

/// Registers from one on.
type Span = (Reg, u64);

/// Returns true if all registers of an instruction exist.
pub(crate) fn fits(inst: &Inst, float_ops: &[FloatOp], registers: u64) -> bool {
    let spans = spans(inst, float_ops);
    let there = spans.iter().all(|(first, n)| u64::from(*first) + n <= registers);
    // The result of an instruction is not one of its operands.
    let apart = |(a, n): Span, (b, m): Span| u64::from(a) + n <= u64::from(b) || u64::from(b) + m <= u64::from(a);
    let made = made(inst, float_ops);
    there
        && made.is_none_or(|made| spans.iter().filter(|span| **span != made).all(|span| apart(made, *span)))
        && made.is_none_or(|made| spans.iter().filter(|span| **span == made).count() <= 1)
}

/// The registers of an instruction's results.
fn made(inst: &Inst, float_ops: &[FloatOp]) -> Option<Span> {
    match inst {
        Inst::Int { n, dst, .. } => Some((*dst, u64::from(*n))),
        Inst::Select { dst, n, .. } => Some((*dst, u64::from(*n))),
        Inst::Recast { dst, n, from, to, .. } => {
            Some((*dst, u64::from(*n) * u64::from(*from) / u64::from((*to).max(1))))
        }
        Inst::Extract { dst, .. } | Inst::Chain { dst, .. } | Inst::Location { dst, .. } | Inst::Length { dst, .. } => {
            Some((*dst, 1))
        }
        Inst::Load { dst, leaves, .. } => Some((*dst, leaves.len() as u64)),
        Inst::Float { float_op, dst, .. } => {
            let float_op = float_ops.get(*float_op as usize)?;
            Some((*dst, float_op.components.map_or(float_op.results.len() as u64, |(n, _)| u64::from(n))))
        }
        // Written lane by lane, from registers that stay where they are.
        Inst::Copy { .. }
        | Inst::Insert { .. }
        | Inst::Undef { .. }
        | Inst::Relax { .. }
        | Inst::Filtered { .. }
        | Inst::Pass { .. }
        | Inst::Set { .. }
        | Inst::LocalLoad { .. }
        | Inst::LocalStore { .. }
        | Inst::Store { .. }
        | Inst::Atomic { .. }
        | Inst::Barrier { .. }
        | Inst::Assume { .. }
        | Inst::Fence { .. }
        | Inst::Call { .. }
        | Inst::ImageRead { .. }
        | Inst::ImageWrite { .. }
        | Inst::Handle { .. }
        | Inst::SampledImage { .. }
        | Inst::LookUp(_)
        | Inst::ImageQuery { .. }
        | Inst::TexelPointer { .. }
        | Inst::Subgroup { .. } => None,
    }
}

/// Returns true if all registers of the block ends of a function exist.
pub(crate) fn ends_fit(function: &Function, registers: u64) -> bool {
    let there = |first: Reg, n: u32| u64::from(first) + u64::from(n) <= registers;
    let edge = |edge: &Edge| edge.phis.iter().all(|(dst, src, n)| there(*dst, *n) && there(*src, *n));
    function.blocks.iter().all(|block| match &block.end {
        End::Jump(to) => edge(to),
        End::If { condition, then, other } => there(condition.reg, 1) && edge(then) && edge(other),
        End::Switch { selector, edges, .. } => there(selector.reg, 1) && edges.iter().all(edge),
        End::Return { value } => {
            value.is_none_or(|value| there(value, function.result_scalars))
                && there(function.result, function.result_scalars)
        }
        End::Unreachable => true,
    })
}

/// Returns the ranges of registers that an instruction reads or writes. A malformed instruction
/// gives a range that fits no register file.
pub(super) fn spans(inst: &Inst, float_ops: &[FloatOp]) -> Vec<Span> {
    let many = |first: &Reg, n: &u32| (*first, u64::from(*n));
    let one = |first: &Reg| (*first, 1);
    match inst {
        Inst::Int { op, n, dst, args, scalar, .. } => {
            let args = args.iter().take(op.arity()).enumerate();
            let args = args.map(|(k, arg)| (*arg, if scalar >> k & 1 == 1 { 1 } else { u64::from(*n) }));
            args.chain([(*dst, u64::from(*n))]).collect()
        }
        Inst::Copy { dst, src, n, .. } => vec![many(dst, n), many(src, n)],
        Inst::Select { dst, cond, step, a, b, n } => {
            vec![many(dst, n), (*cond, u64::from(1 + step * n.saturating_sub(1))), many(a, n), many(b, n)]
        }
        Inst::Recast { dst, src, n, from, to, .. } => {
            let made = u64::from(*n) * u64::from(*from) / u64::from((*to).max(1));
            vec![many(src, n), (*dst, made)]
        }
        Inst::Extract { dst, src, n, index } => vec![one(dst), many(src, n), one(index)],
        Inst::Insert { dst, src, n, value, index } => vec![many(dst, n), many(src, n), one(value), one(index)],
        Inst::Undef { dst, n } | Inst::Filtered { dst, n } | Inst::Relax { dst, n, .. } | Inst::Pass { dst, n, .. } => {
            vec![many(dst, n)]
        }
        Inst::Set { dst, bits } => vec![(*dst, bits.len() as u64)],
        Inst::Chain { dst, base, terms, .. } => {
            terms.iter().map(|term| one(&term.index)).chain([one(dst), one(base)]).collect()
        }
        Inst::Location { dst, pointer } => vec![one(dst), one(pointer)],
        Inst::LocalLoad { dst, pointer, n } => vec![many(dst, n), one(pointer)],
        Inst::LocalStore { pointer, src, n } => vec![many(src, n), one(pointer)],
        Inst::Load { dst, pointer, leaves, .. } => vec![(*dst, leaves.len() as u64), one(pointer)],
        Inst::Store { pointer, src, leaves, .. } => vec![(*src, leaves.len() as u64), one(pointer)],
        Inst::Length { dst, pointer, .. } => vec![one(dst), one(pointer)],
        Inst::Atomic { dst, pointer, args, .. } => {
            dst.iter().map(one).chain([one(pointer), one(&args[0]), one(&args[1])]).collect()
        }
        Inst::Assume { condition } => vec![one(condition)],
        Inst::Barrier { .. } | Inst::Fence { .. } => Vec::new(),
        Inst::Call { args, .. } => args.iter().flat_map(|(dst, src, n)| [many(dst, n), many(src, n)]).collect(),
        Inst::ImageRead { dst, n, image, coordinates: (at, count), operands } => {
            let operands = operands.registers().map(|(first, n)| many(&first, &n));
            operands.chain([many(dst, n), one(image), many(at, count)]).collect()
        }
        Inst::Handle { dst, handle, .. } => vec![one(dst), one(handle)],
        Inst::SampledImage { dst, image, sampler } => vec![one(dst), one(image), one(sampler)],
        Inst::LookUp(look_up) => {
            let LookUp { dst, n, image, coordinates: (at, count), divisor, reference, offsets, kind, .. } = &**look_up;
            let offsets = match offsets {
                Offsets::None => None,
                Offsets::One(first, n) => Some(many(first, n)),
                Offsets::Four(first) => Some(many(first, &8)),
            };
            let other = match kind {
                LookUpKind::Sample(Level::Lod(lod)) => Some(one(lod)),
                LookUpKind::Sample(Level::Gradient) => None,
                LookUpKind::Gather { component, .. } => component.as_ref().map(one),
            };
            let optional = reference.iter().chain(divisor).map(one).chain(offsets).chain(other);
            optional.chain([many(dst, n), one(image), many(at, count)]).collect()
        }
        Inst::ImageWrite { image, coordinates: (at, count), texel: (texel, n), sample } => {
            sample.iter().map(one).chain([one(image), many(at, count), many(texel, n)]).collect()
        }
        Inst::ImageQuery { dst, n, image, query } => {
            let lod = match query {
                ImageQuery::Size { lod, .. } => *lod,
                ImageQuery::Levels | ImageQuery::Samples => None,
            };
            lod.iter().map(one).chain([many(dst, n), one(image)]).collect()
        }
        Inst::TexelPointer { dst, image, coordinates: (at, count), sample } => {
            sample.iter().map(one).chain([one(dst), one(image), many(at, count)]).collect()
        }
        Inst::Subgroup { op, dst, value, n, second } => {
            vec![(*dst, u64::from(op.results(*n))), many(value, n), one(second)]
        }
        Inst::Float { float_op, dst, args } => {
            let Some(float_op) = float_ops.get(*float_op as usize) else { return vec![(Reg::MAX, u64::MAX / 2)] };
            if args.len() != float_op.widths.len() {
                return vec![(Reg::MAX, u64::MAX / 2)];
            }
            match float_op.components {
                Some((n, same)) => {
                    let args = args.iter().enumerate();
                    let args = args.map(|(k, arg)| (*arg, if same >> k & 1 == 1 { 1 } else { u64::from(n) }));
                    args.chain([(*dst, u64::from(n))]).collect()
                }
                None => {
                    let args = args.iter().zip(&float_op.widths).map(|(arg, n)| many(arg, n));
                    args.chain([(*dst, float_op.results.len() as u64)]).collect()
                }
            }
        }
    }
}
