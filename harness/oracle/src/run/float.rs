//! Floating-point instructions on lanes: on the fast path where operands are ordinary, else by the
//! precision table.

use super::Run;
use super::expr::build::ResultBound;
use super::lanes::{Column, Lanes};
use super::work::ExtensionTime;
use crate::abstract_value::{ALTERNATIVES, AbstractValue, FloatSet};
use crate::correlated_set::CorrelatedSet;
use crate::expr_bound::ExprBound;
use crate::fast_path::{self, FastPath, Range};
use crate::float_op::{FloatOp, Reading};
use crate::inst::Reg;
use crate::outcome::{CauseKind, FaultKind};
use crate::residual::{RoundedReal, value};
use crate::ty::{Fmt, Kind};
use assay_float::{Rank, Set};
use assay_precision::{Effort, Lenient, Op, Operand, Permitted, Specification, relaxed};
use smallvec::SmallVec;

/// A result: value, bits of the register, and expression bound.
pub(super) type FloatResult = (AbstractValue, u64, ExprBound);

impl Run<'_> {
    pub(super) fn float(&mut self, float_op: u32, dst: Reg, args: &[Reg], lanes: Lanes) {
        let program = self.program;
        let float_op = &program.float_ops[float_op as usize];
        match float_op.components {
            Some((n, same)) => {
                let mut regs: SmallVec<[Reg; 4]> = args.into();
                for i in 0..n {
                    for (k, reg) in regs.iter_mut().enumerate() {
                        *reg = args[k] + if same >> k & 1 == 1 { 0 } else { i };
                    }
                    // Instructions that work component by component have one result.
                    self.float_slot(float_op, 0, dst + i, &regs, lanes);
                }
            }
            None => {
                let operands = args.iter().zip(&float_op.widths).flat_map(|(reg, n)| *reg..reg + n);
                let operands: Vec<Reg> = operands.collect();
                for slot in 0..float_op.results.len() {
                    self.float_slot(float_op, slot, dst + slot as Reg, &operands, lanes);
                }
            }
        }
    }

    fn float_slot(&mut self, float_op: &FloatOp, slot: usize, dst: Reg, operands: &[Reg], lanes: Lanes) {
        self.last_id = self.last_id.wrapping_add(1).max(1);
        let id = self.last_id;
        self.work.group.units += lanes.list.len() as u64 * DIRECT_WORK;
        let mut d = self.take(dst);
        for l in lanes.iter() {
            self.readings_differ = self.readings_differ || self.has_truncated_operand(float_op, operands, l);
            let made = float_op.fast_path.and_then(|fast_path| self.on_fast_path(float_op, fast_path, operands, l));
            let (value, bits, bound) = match made {
                Some(made) => made,
                None => self.by_table(float_op, slot, operands, l),
            };
            let keep = matches!(value, AbstractValue::Float(_)) || !bound.is_plain();
            d.set(l, bits, value);
            if keep {
                d.set_bound(l, ExprBound { id, ..bound });
            }
        }
        self.give(dst, d);
    }

    /// Returns true if the instruction may be rearranged with an operand whose bound was truncated.
    /// Another reading would follow the operand further.
    fn has_truncated_operand(&self, float_op: &FloatOp, operands: &[Reg], lane: usize) -> bool {
        let is_cut = |reg: &Reg| self.columns[*reg as usize].bound(lane).is_some_and(|bound| bound.truncated);
        float_op.freedom.any() && operands.iter().any(is_cut)
    }

    /// The result of an instruction on the fast path; `None` if the fast path does not cover the
    /// operands.
    #[inline]
    fn on_fast_path(
        &mut self,
        float_op: &FloatOp,
        fast_path: FastPath,
        operands: &[Reg],
        lane: usize,
    ) -> Option<FloatResult> {
        let mut parts: SmallVec<[Ranges; 3]> = SmallVec::new();
        for reg in operands {
            let column = &self.columns[*reg as usize];
            parts.push(match self.unrounded(float_op, *reg, lane, fast_path.from) {
                Some(range) => [range].into_iter().collect(),
                None => ranges_of(column, lane, fast_path.from)?,
            });
        }
        if !float_op.freedom.any() {
            parts = split_members(parts);
        }
        let same = match operands {
            [a, b] if a == b => true,
            [a, b] => {
                let [a, b] = [a, b].map(|reg| self.columns[*reg as usize].bound(lane));
                a.zip(b).is_some_and(|(a, b)| a.id == b.id)
            }
            _ => false,
        };
        let choices = choices(&parts, same)?;
        if fast_path.compares() {
            let mut either = (false, false);
            for choice in &choices {
                let (no, yes) = fast_path.compare(choice[0], choice[1], same)?;
                either = (either.0 || no, either.1 || yes);
            }
            if let Some((no, yes)) = self.rearranged_comparison(float_op, fast_path, operands, lane) {
                either = (either.0 || no, either.1 || yes);
            }
            return Some(match either {
                (true, true) => (self.one_of(&[0, 1]), 0, ExprBound::NONE),
                (_, yes) => (AbstractValue::Bits, u64::from(yes), ExprBound::NONE),
            });
        }
        let mut floats: Option<FloatSet> = None;
        let mut overflows = false;
        for choice in &choices {
            let found = fast_path.apply(choice, same)?;
            let part = FloatSet { zeros: found.zeros, ..FloatSet::range(fast_path.to, found.range.0, found.range.1) };
            floats = Some(floats.map_or_else(|| part.clone(), |all| all.union(&part)));
            overflows |= found.overflows;
        }
        let mut floats = floats?;
        if overflows {
            self.readings_differ = true;
            if self.reading == Reading::Lenient || float_op.call.specification == Specification::Wgsl {
                return Some((AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)), 0, ExprBound::NONE));
            }
        }
        let (lo, hi) = floats.hull()?;
        let leaf = ExprBound::leaf(value(fast_path.to, lo), value(fast_path.to, hi));
        let Some(ResultBound { bound, widens }) = self.result_bound(float_op, fast_path, operands, lane) else {
            let (value, bits) = AbstractValue::of_floats(floats);
            return Some((value, bits, leaf));
        };
        // A bound that is too long is truncated by this operation itself.
        self.readings_differ |= bound.truncated;
        if widens {
            match contracted_or_rearranged(float_op, bound, fast_path.to, fast_path.errors()) {
                // An overflow gives an indeterminate value in WGSL.
                Some(all)
                    if float_op.call.specification == Specification::Wgsl
                        && fast_path.finish(all).is_some_and(|r| r.overflows) =>
                {
                    return Some((AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)), 0, ExprBound::NONE));
                }
                Some(all) => floats = self.widened(floats, (all, bound), fast_path),
                None => {
                    return Some((AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)), 0, ExprBound::NONE));
                }
            }
        }
        let (value, bits) = AbstractValue::of_floats(floats);
        Some((value, bits, bound))
    }

    /// Adds the results `all` of rearranging the instruction to those of computing it as written.
    fn widened(&mut self, floats: FloatSet, (all, bound): (Range, ExprBound), fast_path: FastPath) -> FloatSet {
        let fmt = floats.fmt;
        match fast_path.finish(all) {
            Some(more) => {
                self.readings_differ |= more.overflows;
                let zeros = more.zeros || bound.may_be_below(flush_threshold(fmt));
                floats.union(&FloatSet { zeros, ..FloatSet::range(fmt, more.range.0, more.range.1) })
            }
            None => floats.union(&with_zeros(fmt, bound, all, fast_path.flushes())),
        }
    }

    /// The result by the precision table.
    fn by_table(&mut self, float_op: &FloatOp, slot: usize, operands: &[Reg], lane: usize) -> FloatResult {
        self.work.group.units += TABLE_WORK;
        let mut given: SmallVec<[Operand; 4]> = SmallVec::new();
        for (reg, kind) in operands.iter().zip(&float_op.operands) {
            let column = &self.columns[*reg as usize];
            let bits = column.bits[lane];
            if let Kind::Float(fmt) = *kind
                && let Some((lo, hi)) = self.unrounded(float_op, *reg, lane, fmt)
            {
                given.push(Operand::Set(Set::range(lo, hi)));
                continue;
            }
            let value = column.value(lane).clone();
            match self.table_operand(&value, bits, *kind) {
                Ok(operand) => given.push(operand),
                Err(cause) => return (AbstractValue::Unknown(cause), 0, ExprBound::NONE),
            }
        }
        if let Some(cause) = self.undefined_conversion(float_op, &given, lane) {
            return (AbstractValue::Unknown(cause), 0, ExprBound::NONE);
        }
        if let Some(made) = self.inherited(float_op, slot, operands, lane) {
            return self.with_rearrangements(float_op, slot, operands, lane, made);
        }
        let made = self.table_result(float_op, slot, &given);
        self.with_rearrangements(float_op, slot, operands, lane, made)
    }

    /// The permitted set of the table for these operands, as a value.
    fn table_result(&mut self, float_op: &FloatOp, slot: usize, given: &[Operand]) -> (AbstractValue, u64) {
        let sets = given.iter().any(|operand| matches!(operand, Operand::Set(_)));
        let time = match sets {
            true => extension_time(float_op.call.op, given.len())
                .over(|effort| float_op.reference.boxes(effort, slot, given)),
            false => ExtensionTime::default(),
        };
        let over = match self.effort(time) {
            Some(effort) => float_op.reference.permitted_for_sets_with(effort, slot, given),
            None => return (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0),
        };
        let set = self.in_reading(over.permitted);
        if set.is_anything() && over.tightness == assay_precision::Tightness::Enclosure {
            return (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0);
        }
        self.value_of_set(float_op.results[slot], &set)
    }

    /// The permitted set of the table for values of the operands' kinds.
    pub(super) fn permitted(
        &mut self,
        float_op: &FloatOp,
        slot: usize,
        of: &[(&AbstractValue, u64)],
    ) -> (AbstractValue, u64) {
        let mut given: SmallVec<[Operand; 4]> = SmallVec::new();
        for ((value, bits), kind) in of.iter().zip(&float_op.operands) {
            match self.table_operand(value, *bits, *kind) {
                Ok(operand) => given.push(operand),
                Err(cause) => return (AbstractValue::Unknown(cause), 0),
            }
        }
        self.table_result(float_op, slot, &given)
    }

    /// A value as an operand of the table; the error is the cause why it cannot be one.
    fn table_operand(&mut self, value: &AbstractValue, bits: u64, kind: Kind) -> Result<Operand, u32> {
        Ok(match value {
            AbstractValue::Bits => Operand::Bits(bits),
            AbstractValue::Unknown(cause) => return Err(*cause),
            AbstractValue::OneOf(few) => Operand::Set(set_of(kind, &few.distinct())),
            AbstractValue::Float(floats) if kind == Kind::Float(floats.fmt) => Operand::Set(floats.set()),
            AbstractValue::Float(floats) => match floats.few() {
                Some(all) => Operand::Set(set_of(kind, &all)),
                None => return Err(self.cause(CauseKind::Precision)),
            },
        })
    }

    /// The effort for a set extension; `None` if the limit is used up.
    pub(super) fn effort(&mut self, time: ExtensionTime) -> Option<Effort> {
        let share = self.limits.searches / self.group_count().max(1);
        self.work.group.effort(time, share)
    }

    /// The permitted set in the reading of this run.
    fn in_reading(&mut self, permitted: Permitted) -> Set {
        match (self.reading, permitted.lenient) {
            (_, None) => permitted.usual,
            (Reading::Usual, Some(_)) => {
                self.readings_differ = true;
                permitted.usual
            }
            (Reading::Lenient, Some(Lenient { set, .. })) => set,
        }
    }

    /// The cause, if a conversion to an integer has or may have undefined behaviour.
    fn undefined_conversion(&mut self, float_op: &FloatOp, given: &[Operand], lane: usize) -> Option<u32> {
        if !float_op.converts_to_integer() {
            return None;
        }
        let fmt = float_op.fmt()?;
        let format = fmt.format();
        let (ends, sure) = match &given[0] {
            Operand::Bits(bits) => ([*bits, *bits], true),
            Operand::Set(set) => {
                let hull = set.hull()?;
                ([format.bits(hull.lo), format.bits(hull.hi)], !set.has_nan())
            }
        };
        let [lo, hi] = ends.map(|bits| float_op.call.is_defined(&[bits]));
        if lo && hi && sure {
            return None;
        }
        // All members are beyond the same end, or there is only one.
        let all =
            sure && !lo && !hi && (ends[0] == ends[1] || format.is_negative(ends[0]) == format.is_negative(ends[1]));
        if !all {
            self.note_possible_fault(FaultKind::Conversion);
            return Some(self.cause(CauseKind::Precision));
        }
        let shown = format.to_f64(ends[0]);
        Some(self.fault(FaultKind::Conversion, lane, || format!("{shown} by {}", float_op.call.op)))
    }

    /// A set of the table as a value.
    fn value_of_set(&mut self, kind: Kind, set: &Set) -> (AbstractValue, u64) {
        if set.is_anything() || set.is_empty() {
            return (AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)), 0);
        }
        if let Kind::Float(fmt) = kind {
            return AbstractValue::of_floats(FloatSet::from_set(fmt, set));
        }
        let few = set.len().is_some_and(|n| n <= ALTERNATIVES as u64);
        let all = set.ranges().iter().flat_map(|r| r.lo..=r.hi).take(ALTERNATIVES + 1).map(i64::cast_unsigned);
        let found = if few { AbstractValue::of_patterns(all.collect()) } else { None };
        let (value, bits) = found.unwrap_or_else(|| (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0));
        (self.numbered(value), bits)
    }
}

/// The least range of ranks around an operand; `None` with NaNs.
#[inline]
pub(super) fn range(column: &Column, lane: usize, fmt: Fmt) -> Option<Range> {
    range_of(column.value(lane), column.bits[lane], fmt)
}

/// The least range of ranks around a value; `None` with NaNs. `bits` are those of its register.
#[inline]
pub(super) fn range_of(value: &AbstractValue, bits: u64, fmt: Fmt) -> Option<Range> {
    match value {
        AbstractValue::Bits => {
            let format = fmt.format();
            (!format.is_nan(bits)).then(|| (format.rank(bits), format.rank(bits)))
        }
        AbstractValue::Float(floats) if floats.fmt == fmt && !floats.nan => floats.hull(),
        AbstractValue::OneOf(few) => {
            let ranks = ranks(few, fmt)?;
            Some((ranks.iter().copied().min()?, ranks.iter().copied().max()?))
        }
        AbstractValue::Float(_) | AbstractValue::Unknown(_) => None,
    }
}

/// The ranks of a correlated set; `None` with NaNs.
fn ranks(few: &CorrelatedSet, fmt: Fmt) -> Option<SmallVec<[Rank; ALTERNATIVES]>> {
    let format = fmt.format();
    few.distinct().iter().map(|bits| (!format.is_nan(*bits)).then(|| format.rank(*bits))).collect()
}

/// The ranges of ranks that make up an operand.
type Ranges = SmallVec<[Range; 2]>;

/// The ranges of ranks that make up an operand; `None` with NaNs.
#[inline]
fn ranges_of(column: &Column, lane: usize, fmt: Fmt) -> Option<Ranges> {
    match column.value(lane) {
        AbstractValue::Float(floats) if floats.has_gaps() => {
            let whole = floats.fmt == fmt && !floats.nan;
            whole.then(|| floats.set().ranges().iter().map(|part| (part.lo, part.hi)).collect())
        }
        AbstractValue::OneOf(few) => Some(ranks(few, fmt)?.into_iter().map(|rank| (rank, rank)).collect()),
        _ => range(column, lane, fmt).map(|range| [range].into_iter().collect()),
    }
}

/// Splits every operand into its members, unless there are more than [`CHOICES`] combinations. The
/// results of an operation that is computed as written need not be neighbours. Results of
/// rearrangements may also lie between them.
fn split_members(parts: SmallVec<[Ranges; 3]>) -> SmallVec<[Ranges; 3]> {
    let members = |(lo, hi): &(Rank, Rank)| hi.abs_diff(*lo).saturating_add(1);
    let members = |operand: &Ranges| operand.iter().map(members).fold(0, u64::saturating_add);
    if parts.iter().map(members).fold(1, u64::saturating_mul) > CHOICES as u64 {
        return parts;
    }
    let single = |operand: Ranges| operand.iter().flat_map(|(lo, hi)| *lo..=*hi).map(|rank| (rank, rank)).collect();
    parts.into_iter().map(single).collect()
}

/// All choices of one part from each operand; if both operands are one value, of the same part.
/// `None` if there are more than [`CHOICES`].
#[inline]
fn choices(parts: &[Ranges], same: bool) -> Option<SmallVec<[SmallVec<[Range; 3]>; 1]>> {
    if let ([a, b], true) = (parts, same) {
        return (a.len() <= CHOICES).then(|| a.iter().zip(b).map(|(a, b)| [*a, *b].into_iter().collect()).collect());
    }
    let mut all: SmallVec<[SmallVec<[Range; 3]>; 1]> = [SmallVec::new()].into_iter().collect();
    for operand in parts {
        if all.len() * operand.len() > CHOICES {
            return None;
        }
        let with = |part: &Range| {
            let part = *part;
            all.iter().map(move |chosen| chosen.iter().copied().chain([part]).collect())
        };
        all = operand.iter().flat_map(with).collect::<SmallVec<[SmallVec<[Range; 3]>; 1]>>();
    }
    Some(all)
}

/// Patterns as a set of the table.
fn set_of(kind: Kind, patterns: &[u64]) -> Set {
    let mut set = Set::empty();
    for bits in patterns {
        match kind {
            Kind::Float(fmt) if fmt.format().is_nan(*bits) => set.insert_nan(),
            Kind::Float(fmt) => set.insert(assay_float::RankRange::point(fmt.format().rank(*bits))),
            Kind::Bool | Kind::Int { .. } | Kind::Pointer | Kind::Handle => {
                set.insert(assay_float::RankRange::point(bits.cast_signed()));
            }
        }
    }
    set
}

/// The results of an operation under every rearrangement of its chain, with `errors` as for
/// [`ExprBound::error`] (relative, absolute). A lone sum or product whose only freedom is the
/// missing rounding of its operands takes its ends from the fast path. `None` if an end is not
/// finite, or if the bound does not hold.
pub(super) fn contracted_or_rearranged(
    float_op: &FloatOp,
    bound: ExprBound,
    fmt: Fmt,
    errors: (f64, f64),
) -> Option<Range> {
    match float_op.contracted() {
        Some(fast_path) => {
            (bound.lo.is_finite() && bound.hi.is_finite()).then(|| fast_path.between(bound.lo, bound.hi))
        }
        None => rearranged(bound, fmt, errors),
    }
}

/// Twice the smallest normal number. A result below may be flushed even after a few roundings.
pub(super) fn flush_threshold(fmt: Fmt) -> f64 {
    2f64.powi(fmt.format().min_normal_exponent() + 1)
}

/// The results of rearrangements within a range that is near zero or denormals.
///
/// If results must be flushed ("the denormalized result must be flushed to zero"), no denormal
/// remains. The exception is a denormal operand, which remains if all operations may be removed.
pub(super) fn with_zeros(fmt: Fmt, bound: ExprBound, (lo, hi): Range, flushes: bool) -> FloatSet {
    let edge = fmt.format().min_normal();
    let zeros = FloatSet::range(fmt, -1, 0);
    if !flushes || bound.min_leaf < flush_threshold(fmt) / 2.0 || !fast_path::meets_denormals(fmt, (lo, hi)) {
        return FloatSet { zeros: true, ..FloatSet::range(fmt, lo, hi) };
    }
    let below = (lo < -edge).then(|| FloatSet::range(fmt, lo, hi.min(-1 - edge)));
    let above = (hi >= edge).then(|| FloatSet::range(fmt, lo.max(edge), hi));
    [below, above].into_iter().flatten().fold(zeros, |all, part| all.union(&part))
}

/// The values within the error bound of a chain. `None` if some arrangement may overflow on the
/// way, or leave the range in which relaxed precision is defined.
pub(super) fn rearranged(bound: ExprBound, fmt: Fmt, (unit, lost): (f64, f64)) -> Option<Range> {
    let format = fmt.format();
    // A product with a flushed part is zero, which the callers add.
    let lost = if bound.terms == 1 { 2f64.powi(format.quantum()) } else { lost };
    // Leaves room for the rounding errors at either end.
    if bound.relaxed && !bound.stays_within(relaxed::LEAST * 2.0, relaxed::GREATEST / 2.0) {
        return None;
    }
    let error = bound.error(if bound.relaxed { RELAXED_ERROR } else { unit }, lost);
    let max = value(fmt, format.max_finite());
    // A bound may be a NaN, zero times an unbounded value. It counts as unbounded, and must not get
    // lost in a maximum.
    let fits = |bound: f64| bound < max;
    // Dividing by one divisor after another is dividing by their product, for which there may be no
    // requirement.
    let stated = value(fmt, format.max_finite()).log2().ceil() - 2.0;
    if bound.divisor_products.0.max(bound.divisor_products.1) > stated.exp2() {
        return None;
    }
    if !fits(bound.magnitude_sum + error) || (bound.degree > 2 && !fits(bound.amplification)) {
        return None;
    }
    let (lo, hi) = ((bound.lo - error).next_down(), (bound.hi + error).next_up());
    // The least value that is not below, and the greatest that is not above.
    let (lo, hi) = (RoundedReal::exact(lo).neighbours(fmt).1, RoundedReal::exact(hi).neighbours(fmt).0);
    Some((lo.min(hi), hi.max(lo)))
}

/// Relative error of an operation of relaxed precision: both operands may be truncated, and the
/// result is rounded. The factor covers the products of these errors.
const RELAXED_ERROR: f64 = 3.0 * relaxed::PRECISION * 1.02;

/// Largest number of combinations of parts on the fast path; the table takes more.
const CHOICES: usize = 8;

/// Additional work of a floating-point instruction; see
/// [`Limits::work_per_group`](crate::Limits::work_per_group).
const DIRECT_WORK: u64 = 7;

/// Additional work of an evaluation by the table.
const TABLE_WORK: u64 = 248;

/// Time of the table's extension of an instruction to sets, given its number of scalar operands; 0
/// where it is quick. It is the largest that `cargo run -p assay-precision --example set_times`
/// measures.
fn extension_time(op: Op, operands: usize) -> ExtensionTime {
    let [search, cover] = match op {
        Op::Tanh => [62_000, 1_600],
        Op::SmoothStep => [100_000, 110],
        Op::Pow => [38_000, 50],
        Op::Asinh => [6_000, 110],
        Op::Sinh | Op::Cosh => [4_500, 40],
        Op::Acosh => [1_500, 1_500],
        Op::FMix => [2_000, 60],
        Op::Tan | Op::Sqrt => [800, 15],
        Op::Fwidth | Op::FwidthFine | Op::FwidthCoarse => [750, 750],
        Op::FRem | Op::FMod => [420, 400],
        Op::Dot => of_dot(operands / 2),
        Op::MatrixTimesMatrix => of_dot((operands / 2).isqrt()),
        // n * (n + 1) operands with a square matrix.
        Op::MatrixTimesVector | Op::VectorTimesMatrix => of_dot(operands.isqrt()),
        Op::Length | Op::Normalize => of_length(operands),
        Op::Distance | Op::FaceForward | Op::Reflect | Op::Refract => of_length(operands / 2),
        _ => [0, 0],
    };
    ExtensionTime { search, enclosure: search / 2, cover }
}

/// Times of a search and of a cover for a dot product of two vectors.
fn of_dot(components: usize) -> [u64; 2] {
    match components {
        0..=2 => [500, 30],
        3 => [1_500, 120],
        _ => [4_000, 500],
    }
}

/// Times of a search and of a cover for a formula with the length of a vector, or with a dot product
/// of two.
fn of_length(components: usize) -> [u64; 2] {
    match components {
        0..=1 => [3_100, 80],
        2 => [4_700, 4_700],
        3 => [18_000, 18_000],
        _ => [100_000, 100_000],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_without_a_bound_is_not_bounded() {
        let nothing_times_anything = ExprBound::leaf(f64::NEG_INFINITY, f64::INFINITY).mul(ExprBound::leaf(0.0, 0.0));
        let sum = nothing_times_anything.add(ExprBound::leaf(1.0, 1.0), false);
        for fmt in [Fmt::F16, Fmt::F32] {
            assert_eq!(rearranged(sum, fmt, (2f64.powi(-10), 0.0)), None);
        }
    }
}
