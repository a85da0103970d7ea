//! Set extension of instructions: the permitted results for operands that are results themselves,
//! each any member of a set.
//!
//! "A set that depends on a set is the union over the members of the operand sets." Operands with
//! few members are evaluated one by one. Otherwise the operand sets are partitioned into parts
//! whose members the environment treats alike (NaNs, infinities, either side of zero;
//! [`partition`]), and for each box of such parts the least and the greatest permitted value are
//! determined:
//!
//! * those of a correctly rounded operation, a comparison and most discrete operations lie at the
//!   corners of the box;
//! * those of other operations are searched for by branch and bound ([`branch_and_bound`]): single
//!   points bound them from inside, certified covers from outside.
//!
//! The environment (flushed operands and results, signs of zeros, overflow) is then applied as to a
//! single evaluation. The result is the set extension in the sense of interval analysis (Moore,
//! Kearfott & Cloud, *Introduction to Interval Analysis*, chapter 5), or a superset; [`Tightness`]
//! says which.
//!
//! # Limits
//!
//! Operands are independent: relations between them, as in `x - x`, are not seen here.

mod branch_and_bound;
mod discrete_boxes;
mod partition;
pub(crate) mod tightness;

pub use tightness::Tightness;

use crate::{
    Flush, Lenient, Permitted, Reference, Scalar, Specification,
    derivation::Derivation,
    evaluate::{Evaluation, FLOORED},
    real_op::RealOp,
    relaxed,
    result_slot::{ResultRule, ResultSlot},
};
use assay_float::{F64, RankRange, Set};
use partition::{OperandPart, members, parts};
use smallvec::SmallVec;
use std::cell::Cell;

/// Possible values of one operand scalar of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Exactly these bits.
    Bits(u64),
    /// Any member of a set; integers and booleans have their bits as ranks, as in every [`Set`].
    Set(Set),
}

/// Permitted results of an instruction whose operands are sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetResult {
    /// Superset of the union of [`Reference::permitted`] over every choice of members, in either
    /// reading.
    pub permitted: Permitted,
    /// Relation of `permitted` to that union: the worse of the two readings.
    pub tightness: Tightness,
}

/// Effort that is spent on a set extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effort {
    /// Searches for the least and the greatest value of an inherited precision. This may take
    /// milliseconds, and longer for nested formulas.
    Search,
    /// Accepts a cover that adds little to the results of single members. This takes a fraction of
    /// the time; the result still contains the union.
    Enclose,
    /// Accepts the first cover of an inherited precision, without results of single members. This
    /// takes a hundredth of the time of a search, which follows only if there is no cover.
    Cover,
}

/// Greatest number of combinations of members that are evaluated one by one; a quarter of it for
/// formulas.
const MAX_COMBINATIONS: u64 = 32;
/// Number of boxes of parts above which parts of one sign are joined across their gaps.
const MAX_BOXES: u64 = 512;
/// The same for formulas, each of whose boxes takes long, with [`Effort::Search`] and with less effort.
const MAX_FORMULA_BOXES: [u64; 2] = [32, 8];

impl Reference {
    /// Permitted results of a result component if each operand scalar is any member of a set:
    /// contains the union of [`Reference::permitted`] over all members, each operand chosen
    /// independently.
    ///
    /// [`Tightness`] is the relation to that union. For up to 32 combinations of members (8 for
    /// inherited precision) the result is the union. Beyond that:
    ///
    /// * `Hull` for add, subtract, multiply, divide, fused multiply-add, conversions, derivatives
    ///   except `Fwidth`, `Ldexp`, `Exp`, `Exp2`, `Log`, `Log2`, `InverseSqrt`, `Sin`, `Cos`,
    ///   `Atan`, `Atan2` and all monotone discrete instructions (rounding to integers, minimum,
    ///   maximum, clamp, sign, magnitude, packing), unless the search for the extremes ends early.
    ///   Comparisons and predicates give the union. Clamps of which two operands may be denormals
    ///   or zeros give an `Enclosure`.
    /// * `Hull` or `Enclosure` for inherited precision (interval evaluation of every equivalent
    ///   formula, refined by halving boxes within a fixed budget; operands of many ranges have their gaps
    ///   filled, but for one around zero), for fractions and significands
    ///   that wrap, for relaxed precision, and for instructions that read bits.
    ///
    /// The result is empty if an operand set is empty.
    ///
    /// # Panics
    /// Panics if there are fewer operands than [`crate::Call::operand_slots`] lists.
    pub fn permitted_for_sets(&self, slot: usize, operands: &[Operand]) -> SetResult {
        self.permitted_for_sets_with(Effort::Search, slot, operands)
    }

    /// As [`Reference::permitted_for_sets`], with the given effort.
    ///
    /// # Panics
    /// As [`Reference::permitted_for_sets`].
    pub fn permitted_for_sets_with(&self, effort: Effort, slot: usize, operands: &[Operand]) -> SetResult {
        let part = &self.slots[slot];
        if let Some(bits) = exact_bits(part, operands) {
            return SetResult { permitted: self.permitted(slot, &bits), tightness: Tightness::Union };
        }
        let (usual, tightness, _) = packed_word(part, operands, (effort, false));
        if !(part.may_differ() || part.env.not_inf && may_be_infinite(part, &usual)) {
            return SetResult { permitted: Permitted { usual, lenient: None }, tightness };
        }
        let other = part.lenient_slot();
        let (set, loosest, doubt) =
            packed_word(other.as_ref().map_or(part, |(slot, _)| slot), operands, (effort, true));
        let doubt = doubt.or(other.map(|(_, doubt)| doubt));
        let lenient = doubt.filter(|_| set != usual).map(|doubt| Lenient { set, doubt });
        SetResult { permitted: Permitted { usual, lenient }, tightness: tightness.max(loosest) }
    }
}

impl Reference {
    /// Returns the estimated number of boxes of operand parts that a set extension evaluates one by one. It takes
    /// that many times as long as over one range of each operand.
    ///
    /// # Panics
    /// As [`Reference::permitted_for_sets`].
    pub fn boxes(&self, effort: Effort, slot: usize, operands: &[Operand]) -> u64 {
        let slot = &self.slots[slot];
        let boxes = |ranges: fn(&Set) -> usize| {
            let parts = slot.inputs.iter().map(|&(i, _)| match &operands[i] {
                Operand::Bits(_) => 1,
                Operand::Set(set) => ranges(set).max(1) as u64,
            });
            parts.fold(1, u64::saturating_mul)
        };
        let apart = boxes(|set| set.ranges().len());
        if apart <= slot.most_boxes(effort) { apart } else { boxes(|set| partition::joined_ranges(set).len()) }
    }
}

/// Members of each operand that the result component depends on.
type Members = SmallVec<[Set; 4]>;

/// Bits of all operands, with zero for operands that the component does not depend on. `None`
/// unless each is a single bit pattern.
fn exact_bits(slot: &ResultSlot, operands: &[Operand]) -> Option<Vec<u64>> {
    let mut bits = vec![0; operands.len()];
    for &(i, scalar) in slot.packed_with.iter().chain([slot]).flat_map(|part| &part.inputs) {
        bits[i] = match &operands[i] {
            Operand::Bits(bits) => *bits,
            Operand::Set(set) => match set.ranges() {
                [only] if only.is_point() && !set.has_nan() && !set.is_anything() => partition::bits(only.lo, scalar),
                _ => return None,
            },
        };
    }
    Some(bits)
}

fn may_be_infinite(slot: &ResultSlot, set: &Set) -> bool {
    slot.result.format().is_some_and(|f| {
        let hull = set.hull();
        hull.is_some_and(|h| h.hi >= f.infinity() || h.lo <= f.neg_infinity())
    })
}

impl ResultSlot {
    /// The number of boxes above which parts are joined.
    fn most_boxes(&self, effort: Effort) -> u64 {
        match (&self.rule, effort) {
            (ResultRule::Formula(_), Effort::Search) => MAX_FORMULA_BOXES[0],
            (ResultRule::Formula(_), Effort::Enclose | Effort::Cover) => MAX_FORMULA_BOXES[1],
            _ => MAX_BOXES,
        }
    }

    /// Returns true if the lenient reading may differ from the usual one by more than the treatment
    /// of overflow.
    fn may_differ(&self) -> bool {
        use crate::{Op, discrete_op::DiscreteOp};
        // Every operation with a formula, and those for which the instruction set names results.
        let rows = matches!(self.op, Op::Exp | Op::Exp2 | Op::Log | Op::Log2 | Op::InverseSqrt)
            || matches!(self.rule, ResultRule::Formula(_))
            || self.is_read_leniently()
            || (self.env.specification == Specification::Wgsl
                && matches!(self.rule, ResultRule::Real(RealOp::Fract) | ResultRule::Discrete(DiscreteOp::Exponent)))
            || matches!(
                self.rule,
                ResultRule::Discrete(
                    DiscreteOp::QuantizeToF16 | DiscreteOp::IsNan | DiscreteOp::IsInf | DiscreteOp::Step
                )
            )
            || (self.env.flush_results == Flush::Must && self.demanded_zero_in_doubt().is_some())
            || matches!(self.rule, ResultRule::Discrete(exact) if exact.chooses() && self.env.flush_operands);
        rows || self.env.format == F64 || !self.packed_with.is_empty()
    }
}

/// One reading of a result component over sets.
pub(super) struct SetEvaluation<'a> {
    evaluation: Evaluation<'a>,
    slot: &'a ResultSlot,
    effort: Effort,
    tightness: Cell<Tightness>,
}

/// One reading of a result component and of the other parts of its packed word. If nothing is
/// required of one part, nothing is required of any.
fn packed_word(slot: &ResultSlot, operands: &[Operand], how: (Effort, bool)) -> (Set, Tightness, Option<&'static str>) {
    let one = |part: &ResultSlot| {
        let sets: Members = part.inputs.iter().map(|&(i, scalar)| members(&operands[i], scalar)).collect();
        over(part, &sets, how)
    };
    let found = one(slot);
    let others = slot.packed_with.iter().map(one);
    others.filter(|(set, ..)| set.is_anything()).fold(found, |(set, tightness, doubt), other| match set.is_anything() {
        // Of two reasons, one that is certain suffices.
        true => (set, tightness.min(other.1), doubt),
        false => (other.0, other.1, doubt.or(other.2)),
    })
}

/// The set under one reading, its tightness, and the doubt if the reading used one.
fn over(slot: &ResultSlot, sets: &[Set], (effort, lenient): (Effort, bool)) -> (Set, Tightness, Option<&'static str>) {
    if sets.iter().any(Set::is_empty) {
        return (Set::empty(), Tightness::Union, None);
    }
    let derivation = Derivation::disabled();
    let walk = SetEvaluation {
        evaluation: Evaluation::new(slot, None, lenient, &derivation),
        slot,
        effort,
        tightness: Cell::new(Tightness::Union),
    };
    let mut set = walk.all(sets);
    let edge = slot.env.format.min_normal();
    if walk.evaluation.may_floor_a_zero() && !set.is_anything() {
        let denormal =
            |r: &RankRange| (r.lo <= -2 && r.hi >= -edge).then(|| RankRange::new(r.lo.max(-edge), r.hi.min(-2)));
        sets[0].ranges().iter().filter_map(denormal).for_each(|range| {
            set.insert(range);
            walk.evaluation.doubt.set(Some(FLOORED));
        });
    }
    if slot.relaxed && !set.is_anything() {
        let (more, tightness) = relaxed::for_sets(slot, sets);
        set.union_with(&more);
        walk.loosen(tightness);
    }
    (set, walk.tightness.get(), walk.evaluation.doubt.get())
}

impl SetEvaluation<'_> {
    fn loosen(&self, to: Tightness) {
        self.tightness.set(self.tightness.get().max(to));
    }

    /// "Anything", because no better answer is known.
    fn unknown(&self) -> Set {
        self.loosen(Tightness::Enclosure);
        Set::anything()
    }

    fn all(&self, sets: &[Set]) -> Set {
        let slot = self.slot;
        let format = |i: usize| slot.inputs[i].1.format();
        let nan = (0..sets.len()).any(|i| format(i).is_some() && sets[i].has_nan());
        let infinite = (0..sets.len()).any(|i| format(i).is_some_and(|f| partition::has_infinity(&sets[i], f)));
        if matches!(slot.rule, ResultRule::Measured) || self.evaluation.assumes_away(nan, infinite) {
            return Set::anything();
        }
        let sets: Members = (0..sets.len()).map(|i| self.flushed(&sets[i], slot.inputs[i].1)).collect();
        let limit = if matches!(slot.rule, ResultRule::Formula(_)) { MAX_COMBINATIONS / 4 } else { MAX_COMBINATIONS };
        if partition::combinations(&sets).is_some_and(|count| count <= limit) {
            return self.each(&sets);
        }
        let at_zero = self.divides_at_zero() || nan || infinite;
        let mut parts: SmallVec<[SmallVec<[OperandPart; 8]>; 4]> =
            sets.iter().zip(&slot.inputs).map(|(set, &(_, scalar))| parts(set, scalar, at_zero)).collect();
        let boxes = parts.iter().map(|parts| parts.len() as u64).fold(1, u64::saturating_mul);
        if boxes > slot.most_boxes(self.effort) {
            self.loosen(Tightness::Enclosure);
            let joined =
                sets.iter().zip(&slot.inputs).map(|(set, &(_, scalar))| partition::joined(set, scalar, at_zero));
            parts = joined.collect();
        }
        let mut found = Set::empty();
        for_each_choice(&parts, |choice| {
            found.union_with(&self.choice(choice));
            !found.is_anything()
        });
        found
    }

    /// Applies the environment to the hull of the permitted results.
    fn finished_hull(&self, mut set: Set, tiny: bool) -> Set {
        let (Some(format), Some(hull)) = (self.slot.result.format(), set.hull()) else {
            return self.evaluation.finish(set, tiny);
        };
        self.loosen(Tightness::Hull);
        let edge = format.min_normal();
        let denormals = [RankRange::new(1, edge - 1), RankRange::new(-edge, -2)];
        if self.has_integral_results() {
            // No value between integral results is a denormal member.
            denormals.into_iter().for_each(|range| set.remove(range));
        } else if !tiny
            && !self.keeps_between()
            && (hull.lo == 0 || hull.hi == -1)
            && denormals.into_iter().any(|range| set.meets(range))
        {
            // Only single points show whether a member is denormal, which would permit the other
            // zero.
            self.loosen(Tightness::Enclosure);
        }
        self.evaluation.finish(set, tiny)
    }

    /// Returns true if every value between two results over ranges of operands is a result too.
    fn keeps_between(&self) -> bool {
        use crate::discrete_op::DiscreteOp;
        matches!(
            self.slot.rule,
            ResultRule::Discrete(
                DiscreteOp::Negate
                    | DiscreteOp::Abs
                    | DiscreteOp::Copy
                    | DiscreteOp::Min
                    | DiscreteOp::Max
                    | DiscreteOp::Clamp
                    | DiscreteOp::NMin
                    | DiscreteOp::NMax
                    | DiscreteOp::NClamp
                    | DiscreteOp::AtomicMin
                    | DiscreteOp::AtomicMax
                    | DiscreteOp::GroupMin
                    | DiscreteOp::GroupMax
            )
        )
    }

    fn has_integral_results(&self) -> bool {
        use crate::{discrete_op::DiscreteOp, real_op::RealOp};
        matches!(
            self.slot.rule,
            ResultRule::Real(RealOp::FromInt)
                | ResultRule::Discrete(
                    DiscreteOp::Round
                        | DiscreteOp::RoundEven
                        | DiscreteOp::Trunc
                        | DiscreteOp::Floor
                        | DiscreteOp::Ceil
                        | DiscreteOp::Sign
                        | DiscreteOp::Step
                )
        )
    }

    /// Returns true if members on either side of zero, and zeros, are treated differently.
    fn divides_at_zero(&self) -> bool {
        use crate::real_op::RealOp;
        match &self.slot.rule {
            ResultRule::Real(real) => matches!(real, RealOp::Div | RealOp::Atan2 | RealOp::Fract | RealOp::Width),
            ResultRule::Discrete(exact) => discrete_boxes::divides_at_zero(*exact),
            ResultRule::Formula(_) => false,
            ResultRule::Unpack { .. } | ResultRule::UnpackHalf | ResultRule::Measured => false,
        }
    }

    /// The members, with the zeros that denormal members may be read as.
    fn flushed(&self, set: &Set, scalar: Scalar) -> Set {
        let env = &self.slot.env;
        let mut set = set.clone();
        if let Some(format) = scalar.format().filter(|_| env.flush_operands && !self.evaluation.is_bitwise()) {
            let edge = format.min_normal();
            let meets = |lo, hi| set.meets(RankRange::new(lo, hi));
            if meets(1, edge - 1) || meets(-edge, -2) {
                set.insert(RankRange::new(if env.nsz { 0 } else { -1 }, 0));
            }
        }
        set
    }

    /// Union over every combination of members.
    fn each(&self, sets: &[Set]) -> Set {
        let points: SmallVec<[SmallVec<[OperandPart; 8]>; 4]> =
            sets.iter().zip(&self.slot.inputs).map(|(set, &(_, scalar))| partition::points(set, scalar)).collect();
        let mut found = Set::empty();
        for_each_choice(&points, |choice| {
            found.union_with(&self.single(choice));
            !found.is_anything()
        });
        found
    }

    /// Permitted results for the least member of each part.
    fn single(&self, choice: &[OperandPart]) -> Set {
        let x: SmallVec<[u64; 8]> = choice.iter().zip(&self.slot.inputs).map(|(p, &(_, s))| p.low(s)).collect();
        if self.reads_nan_bits() && choice.contains(&OperandPart::Nan) {
            return self.unknown();
        }
        self.evaluation.at_bits(&x).0
    }

    /// Least and greatest value of the part of a packed word that the component reads; `None` if it
    /// may have any value.
    fn packed(&self, choice: &[OperandPart], width: u32) -> Option<(u64, u64)> {
        let [OperandPart::Range(words)] = choice else { return None };
        let (lo, hi) = (words.lo.cast_unsigned(), words.hi.cast_unsigned());
        let above = |packed_word: u64| packed_word >> (width as usize * (self.slot.component + 1));
        (above(lo) == above(hi)).then(|| (self.slot.part(lo, width), self.slot.part(hi, width)))
    }

    /// Normalised integers over a range of words. The quotients of neighbours are farther apart
    /// than their errors, so that the ends of the range suffice.
    fn unpack(&self, choice: &[OperandPart], width: u32, signed: bool) -> Set {
        let (lo, hi) = self.packed(choice, width).unwrap_or_else(|| {
            self.loosen(Tightness::Enclosure);
            (0, (1 << width) - 1)
        });
        let top = 1u64 << (width - 1);
        let (least, greatest) = if signed && lo < top && hi >= top { (top, top - 1) } else { (lo, hi) };
        let mut set = Set::empty();
        for part in [least, greatest] {
            set.union_with(&self.evaluation.at_bits(&[part << (width as usize * self.slot.component)]).0);
        }
        if let Some(hull) = set.hull() {
            self.loosen(Tightness::Hull);
            set.insert(hull);
        }
        set
    }

    /// Returns true if the payload of a NaN is visible in the result.
    fn reads_nan_bits(&self) -> bool {
        use crate::discrete_op::DiscreteOp;
        matches!(
            self.slot.rule,
            ResultRule::Discrete(DiscreteOp::UnpackDouble | DiscreteOp::PackDouble | DiscreteOp::CompareExchange)
        )
    }

    /// Permitted results for members of one part of each operand.
    fn choice(&self, choice: &[OperandPart]) -> Set {
        if choice.iter().all(OperandPart::is_single) {
            return self.single(choice);
        }
        match &self.slot.rule {
            ResultRule::Discrete(exact) => self.discrete(*exact, choice),
            ResultRule::Real(real) => self.real(*real, choice),
            ResultRule::Formula(formula) => self.formula(formula, choice),
            ResultRule::Unpack { signed, width } => self.unpack(choice, *width, *signed),
            ResultRule::UnpackHalf => match self.packed(choice, 16) {
                Some((lo, hi)) if lo == hi => self.single(choice),
                _ => self.unknown(),
            },
            ResultRule::Measured => Set::anything(),
        }
    }
}

/// Calls `visit` for every choice of one part of each operand, until it returns false.
fn for_each_choice(parts: &[SmallVec<[OperandPart; 8]>], mut visit: impl FnMut(&[OperandPart]) -> bool) {
    let mut index: SmallVec<[usize; 8]> = SmallVec::from_elem(0, parts.len());
    loop {
        let choice: SmallVec<[OperandPart; 8]> = index.iter().zip(parts).map(|(&k, p)| p[k]).collect();
        if !visit(&choice) {
            return;
        }
        let Some(next) = (0..index.len()).find(|&i| index[i] + 1 < parts[i].len()) else { return };
        index[..next].fill(0);
        index[next] += 1;
    }
}
