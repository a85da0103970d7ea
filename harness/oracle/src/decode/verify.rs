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
    read(inst, float_ops).into_iter().chain(written(inst, float_ops)).collect()
}

/// Returns the ranges of registers that an instruction writes, apart from local variables behind a
/// pointer and those of called functions.
pub(crate) fn written(inst: &Inst, float_ops: &[FloatOp]) -> Vec<Span> {
    let many = |first: &Reg, n: &u32| (*first, u64::from(*n));
    match inst {
        Inst::Copy { dst, n, .. }
        | Inst::Select { dst, n, .. }
        | Inst::Insert { dst, n, .. }
        | Inst::Undef { dst, n }
        | Inst::Filtered { dst, n }
        | Inst::Relax { dst, n, .. }
        | Inst::Pass { dst, n, .. }
        | Inst::LocalLoad { dst, n, .. }
        | Inst::ImageRead { dst, n, .. }
        | Inst::ImageQuery { dst, n, .. } => vec![many(dst, n)],
        Inst::Int { dst, n, .. } => vec![(*dst, u64::from(*n))],
        Inst::Recast { dst, n, from, to, .. } => {
            vec![(*dst, u64::from(*n) * u64::from(*from) / u64::from((*to).max(1)))]
        }
        Inst::Set { dst, bits } => vec![(*dst, bits.len() as u64)],
        Inst::Load { dst, leaves, .. } => vec![(*dst, leaves.len() as u64)],
        Inst::Extract { dst, .. }
        | Inst::Chain { dst, .. }
        | Inst::Location { dst, .. }
        | Inst::Length { dst, .. }
        | Inst::Handle { dst, .. }
        | Inst::SampledImage { dst, .. }
        | Inst::TexelPointer { dst, .. } => vec![(*dst, 1)],
        Inst::Atomic { dst, .. } => dst.iter().map(|dst| (*dst, 1)).collect(),
        Inst::Call { args, .. } => args.iter().map(|(dst, _, n)| many(dst, n)).collect(),
        Inst::LookUp(look_up) => vec![many(&look_up.dst, &look_up.n)],
        Inst::Subgroup { op, dst, n, .. } => vec![(*dst, u64::from(op.results(*n)))],
        Inst::Float { float_op, dst, .. } => {
            let float_op = float_ops.get(*float_op as usize);
            let results = float_op.map(|op| op.components.map_or(op.results.len() as u64, |(n, _)| u64::from(n)));
            vec![(*dst, results.unwrap_or(u64::MAX / 2))]
        }
        Inst::LocalStore { .. }
        | Inst::Store { .. }
        | Inst::Barrier { .. }
        | Inst::Assume { .. }
        | Inst::Fence { .. }
        | Inst::ImageWrite { .. } => Vec::new(),
    }
}

/// Returns the ranges of registers that an instruction reads, apart from local variables behind a
/// pointer.
pub(super) fn read(inst: &Inst, float_ops: &[FloatOp]) -> Vec<Span> {
    let many = |first: &Reg, n: &u32| (*first, u64::from(*n));
    let one = |first: &Reg| (*first, 1);
    match inst {
        Inst::Int { op, n, args, scalar, .. } => {
            let args = args.iter().take(op.arity()).enumerate();
            let args = args.map(|(k, arg)| (*arg, if scalar >> k & 1 == 1 { 1 } else { u64::from(*n) }));
            args.collect()
        }
        Inst::Copy { src, n, .. } | Inst::Recast { src, n, .. } => vec![many(src, n)],
        Inst::Select { cond, step, a, b, n, .. } => {
            vec![(*cond, u64::from(1 + step * n.saturating_sub(1))), many(a, n), many(b, n)]
        }
        Inst::Extract { src, n, index, .. } => vec![many(src, n), one(index)],
        Inst::Insert { src, n, value, index, .. } => vec![many(src, n), one(value), one(index)],
        // They change registers in place.
        Inst::Filtered { dst, n } | Inst::Relax { dst, n, .. } | Inst::Pass { dst, n, .. } => vec![many(dst, n)],
        Inst::Undef { .. } | Inst::Set { .. } | Inst::Barrier { .. } | Inst::Fence { .. } => Vec::new(),
        Inst::Chain { base, terms, .. } => terms.iter().map(|term| one(&term.index)).chain([one(base)]).collect(),
        Inst::Location { pointer, .. }
        | Inst::LocalLoad { pointer, .. }
        | Inst::Load { pointer, .. }
        | Inst::Length { pointer, .. } => vec![one(pointer)],
        Inst::LocalStore { pointer, src, n } => vec![many(src, n), one(pointer)],
        Inst::Store { pointer, src, leaves, .. } => vec![(*src, leaves.len() as u64), one(pointer)],
        Inst::Atomic { pointer, args, .. } => vec![one(pointer), one(&args[0]), one(&args[1])],
        Inst::Assume { condition } => vec![one(condition)],
        Inst::Call { args, .. } => args.iter().map(|(_, src, n)| many(src, n)).collect(),
        Inst::ImageRead { image, coordinates: (at, count), operands, .. } => {
            let operands = operands.registers().map(|(first, n)| many(&first, &n));
            operands.chain([one(image), many(at, count)]).collect()
        }
        Inst::Handle { handle, .. } => vec![one(handle)],
        Inst::SampledImage { image, sampler, .. } => vec![one(image), one(sampler)],
        Inst::LookUp(look_up) => {
            let LookUp { image, coordinates: (at, count), divisor, reference, offsets, kind, .. } = &**look_up;
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
            optional.chain([one(image), many(at, count)]).collect()
        }
        Inst::ImageWrite { image, coordinates: (at, count), texel: (texel, n), sample } => {
            sample.iter().map(one).chain([one(image), many(at, count), many(texel, n)]).collect()
        }
        Inst::ImageQuery { image, query, .. } => {
            let lod = match query {
                ImageQuery::Size { lod, .. } => *lod,
                ImageQuery::Levels | ImageQuery::Samples => None,
            };
            lod.iter().map(one).chain([one(image)]).collect()
        }
        Inst::TexelPointer { image, coordinates: (at, count), sample, .. } => {
            sample.iter().map(one).chain([one(image), many(at, count)]).collect()
        }
        Inst::Subgroup { value, n, second, .. } => vec![many(value, n), one(second)],
        Inst::Float { float_op, args, .. } => {
            let Some(float_op) = float_ops.get(*float_op as usize) else { return vec![(Reg::MAX, u64::MAX / 2)] };
            if args.len() != float_op.widths.len() {
                return vec![(Reg::MAX, u64::MAX / 2)];
            }
            match float_op.components {
                Some((n, same)) => {
                    let args = args.iter().enumerate();
                    let args = args.map(|(k, arg)| (*arg, if same >> k & 1 == 1 { 1 } else { u64::from(n) }));
                    args.collect()
                }
                None => args.iter().zip(&float_op.widths).map(|(arg, n)| many(arg, n)).collect(),
            }
        }
    }
}
