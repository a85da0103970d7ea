//! Construction of expression bounds ([`ExprBound`]): one bound for each result, from those of the
//! operands and from the rewrites that the instruction permits ([`crate::float_op::RewriteFreedom`]).

use super::formula::Unbounded;
use crate::abstract_value::{AbstractValue, FloatSet};
use crate::expr_bound::{ExpansionLimit, ExprBound};
use crate::fast_path::{self, Action, FastPath, Range};
use crate::float_op::{FloatOp, SignedProduct};
use crate::inst::Reg;
use crate::integer::signed;
use crate::outcome::CauseKind;
use crate::residual::{RoundedReal, value};
use crate::run::Run;
use crate::run::float::{
    FloatResult, contracted_or_rearranged, flush_threshold, range, range_of, rearranged, with_zeros,
};
use crate::run::lanes::Column;
use crate::ty::{Fmt, Kind};
use assay_float::Rank;
use assay_precision::{Flush, Op};
use smallvec::SmallVec;

/// The expression bound of a result.
pub(in crate::run) struct ResultBound {
    pub(in crate::run) bound: ExprBound,
    /// Set if there are other ways to compute it than operation by operation.
    pub(in crate::run) widens: bool,
}

/// The role of an operand in its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperandRole {
    Summand,
    Factor,
}

impl Run<'_> {
    /// The bound of an operand.
    pub(in crate::run) fn bound(&self, reg: Reg, lane: usize, fmt: Fmt) -> ExprBound {
        let column = &self.columns[reg as usize];
        column.bound(lane).copied().unwrap_or_else(|| self.leaf(reg, lane, fmt))
    }

    /// The bound of an operand that is taken as it is computed.
    pub(in crate::run) fn leaf(&self, reg: Reg, lane: usize, fmt: Fmt) -> ExprBound {
        let column = &self.columns[reg as usize];
        let leaf = bound_of_lane(column, lane, fmt);
        let constant = leaf.lo == leaf.hi && self.is_constant(reg);
        let leaf = if constant { ExprBound::constant(leaf.lo) } else { leaf };
        ExprBound { id: column.bound(lane).map_or(0, |bound| bound.id), ..leaf }
    }

    /// Returns true if an operand is itself the result of a sum, a product or a quotient.
    pub(in crate::run) fn is_computed(&self, reg: Reg, lane: usize) -> bool {
        self.columns[reg as usize].bound(lane).is_some_and(|bound| !bound.is_leaf())
    }

    /// The bound of an operand as far as the operation may take it apart.
    ///
    /// If the operand may only be contracted with the operation, it may be any value between its
    /// rounded and its exact value.
    fn operand_bound(&self, float_op: &FloatOp, part: OperandRole, reg: Reg, lane: usize, fmt: Fmt) -> ExprBound {
        let (bound, freedom) = (self.bound(reg, lane, fmt), float_op.freedom);
        let reordered = match part {
            OperandRole::Factor => bound.terms == 1,
            OperandRole::Summand => bound.terms > 1 || freedom.contracts,
        };
        if bound.is_leaf() || freedom.transforms || (freedom.reorders && reordered) {
            return bound;
        }
        let leaf = self.leaf(reg, lane, fmt);
        if freedom.contracts {
            let (lo, hi) = (snapped(bound.lo, leaf.lo), snapped(bound.hi, leaf.hi));
            return ExprBound { id: leaf.id, ..ExprBound::leaf(leaf.lo.min(lo), leaf.hi.max(hi)) };
        }
        leaf
    }

    /// The bound of the result of an instruction on the fast path; `None` if only its value is
    /// known.
    #[inline]
    pub(in crate::run) fn result_bound(
        &self,
        float_op: &FloatOp,
        fast_path: FastPath,
        operands: &[Reg],
        lane: usize,
    ) -> Option<ResultBound> {
        if !float_op.followed {
            return None;
        }
        let (fmt, freedom) = (fast_path.from, float_op.freedom);
        let summand = |reg: Reg| self.operand_bound(float_op, OperandRole::Summand, reg, lane, fmt);
        let (bound, widens) = match (fast_path.action, operands) {
            // One or two products may be fused with their sum. Rounding every step to either
            // neighbour covers that.
            (Action::Add, [a, b]) => {
                let (a, b) = (summand(*a), summand(*b));
                (a.add(b, false), a.is_rearranged_with(&b, freedom.transforms))
            }
            (Action::Sub, [a, b]) => {
                let (a, b) = (summand(*a), summand(*b));
                (a.add(b, true), a.is_rearranged_with(&b.neg(), freedom.transforms))
            }
            (Action::Mul, [a, b]) => {
                let [x, y] = [a, b].map(|reg| self.operand_bound(float_op, OperandRole::Factor, *reg, lane, fmt));
                match x.checked_mul(y, self.expansion_limit(fmt)) {
                    Some(product) => (product, !x.is_leaf() || !y.is_leaf()),
                    None => (self.truncated_product(*a, *b, lane, fmt), false),
                }
            }
            (Action::Div, [a, b]) => {
                self.quotient_bound(float_op, (*a, *b), lane, fmt, fast_path.roundings_of_division())?
            }
            (Action::Neg, [a]) => (summand(*a).neg(), false),
            _ => {
                let bound = self.selection_bound(float_op, operands, lane, fmt)?;
                return Some(ResultBound { bound, widens: false });
            }
        };
        let fuses = fast_path.fusing_matters() && freedom.contracts;
        let widens = widens || (fuses && operands.iter().any(|reg| self.is_computed(*reg, lane)));
        Some(ResultBound { bound, widens })
    }

    /// The bound of a product that is too long to be multiplied out.
    fn truncated_product(&self, a: Reg, b: Reg, lane: usize, fmt: Fmt) -> ExprBound {
        ExprBound { truncated: true, ..self.leaf(a, lane, fmt).mul(self.leaf(b, lane, fmt)) }
    }

    /// The possible results (false, true) of a comparison that is rearranged with its operands: `x
    /// + a < b` is `x < b - a`. `None` if there is nothing to rearrange.
    ///
    /// SPV_KHR_float_controls2 defines its flags for "all core instructions which use any
    /// floating-point type for either operands or result".
    pub(in crate::run) fn rearranged_comparison(
        &self,
        float_op: &FloatOp,
        fast_path: FastPath,
        operands: &[Reg],
        lane: usize,
    ) -> Option<(bool, bool)> {
        let [a, b] = *operands else { return None };
        let freedom = float_op.freedom;
        if !freedom.any() || !(self.is_computed(a, lane) || self.is_computed(b, lane)) {
            return None;
        }
        let [x, y] = [a, b].map(|reg| self.operand_bound(float_op, OperandRole::Summand, reg, lane, fast_path.from));
        if x.id != 0 && x.id == y.id {
            return None;
        }
        let fuses = fast_path.fusing_matters() && freedom.contracts;
        if !fuses && !x.is_rearranged_with(&y.neg(), freedom.transforms) {
            return None;
        }
        let errors = if freedom.reorders { fast_path.errors() } else { (0.0, 0.0) };
        match rearranged(x.add(y, true), fast_path.from, errors) {
            Some(difference) => fast_path.compare_difference(difference),
            None => Some((true, true)),
        }
    }

    /// The values of a computed operand that need not be rounded: of a conversion, of a rounding
    /// function, or a quotient in a sum. `None` if the operand is rounded or this adds no value.
    /// SPIR-V, `AllowContract`: "Rounding steps may be eliminated".
    pub(in crate::run) fn unrounded(&self, float_op: &FloatOp, reg: Reg, lane: usize, fmt: Fmt) -> Option<Range> {
        let op = float_op.call.op;
        if !float_op.freedom.contracts || !(rounds(op) || adds(op)) {
            return None;
        }
        let column = &self.columns[reg as usize];
        let bound = column.bound(lane).filter(|bound| !bound.is_leaf())?;
        // `x / y + z` is `x * (1 / y) + z`, fused. For a product, the neighbours of the sum
        // suffice.
        let off = match adds(op) {
            false => 0.0,
            true if float_op.freedom.transforms && bound.is_quotient() => {
                fast_path::error_of_division(fmt, &float_op.reference.environment(0))
            }
            true => return None,
        };
        let computed = range(column, lane, fmt)?;
        // An infinite bound has no error; `off * inf` may be NaN.
        let error = |bound: f64| if bound.is_finite() { off * bound.abs() } else { 0.0 };
        let (lo, hi) = (bound.lo - error(bound.lo), bound.hi + error(bound.hi));
        let exactly = (neighbours_of(fmt, lo).0, neighbours_of(fmt, hi).1);
        let all = (computed.0.min(exactly.0), computed.1.max(exactly.1));
        (all != computed).then_some(all)
    }

    /// The bound of a magnitude, minimum, maximum or clamp with a computed operand: the bound of
    /// the operand that is certainly selected, else one that holds for all of them.
    fn selection_bound(&self, float_op: &FloatOp, operands: &[Reg], lane: usize, fmt: Fmt) -> Option<ExprBound> {
        if !float_op.freedom.any() || !operands.iter().any(|reg| self.is_computed(*reg, lane)) {
            return None;
        }
        let of = |reg: Reg| Some((self.bound(reg, lane, fmt), range(&self.columns[reg as usize], lane, fmt)?));
        let (bound, _) = match (float_op.call.op, operands) {
            (Op::FAbs, [x]) => return Some(self.bound(*x, lane, fmt).abs()),
            (Op::FMin | Op::NMin, [x, y]) => min_or_max(of(*x)?, of(*y)?, false),
            (Op::FMax | Op::NMax, [x, y]) => min_or_max(of(*x)?, of(*y)?, true),
            (Op::FClamp | Op::NClamp, [x, lo, hi]) => min_or_max(min_or_max(of(*x)?, of(*lo)?, true), of(*hi)?, false),
            _ => return None,
        };
        Some(bound)
    }

    /// Adds the results of rearranging an instruction with its operands to those that the table
    /// permits.
    pub(in crate::run) fn with_rearrangements(
        &mut self,
        float_op: &FloatOp,
        slot: usize,
        operands: &[Reg],
        lane: usize,
        made: (AbstractValue, u64),
    ) -> FloatResult {
        let (result, bits) = made;
        let Kind::Float(fmt) = float_op.results[slot] else { return (result, bits, ExprBound::NONE) };
        let Ok(floats) = result.floats(bits, fmt) else { return (result, bits, ExprBound::NONE) };
        // A NaN has no value that could be enclosed.
        let unbounded = (f64::NEG_INFINITY, f64::INFINITY);
        let (lo, hi) = floats.hull().map_or(unbounded, |(lo, hi)| (value(fmt, lo), value(fmt, hi)));
        let leaf = ExprBound::leaf(lo, hi);
        if !float_op.followed {
            return (result, bits, leaf);
        }
        let env = self.environment(float_op, slot);
        let found = match float_op.chain(slot) {
            Some(chain) => {
                let (bound, deep) = self.sum_bound(float_op, &chain, operands, lane, fmt);
                // Two negations in a row may cancel, and then flush nothing. One of them is treated
                // like a product.
                let lost = env.flush_results == Flush::Must && bound.is_leaf() && bound.min_leaf < flush_threshold(fmt);
                let negated = lost && float_op.call.op == Op::FNegate;
                Some((if negated { bound.mul(ExprBound::constant(1.0)) } else { bound }, deep))
            }
            None if float_op.call.op == Op::FDiv => {
                let by = (operands[0], operands[1]);
                if self.may_lose_divisor(float_op, by, lane, fmt) {
                    return (AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)), 0, ExprBound::NONE);
                }
                self.quotient_bound(float_op, by, lane, fmt, fast_path::roundings_of_division(fmt, &env))
            }
            None => match self.other_bound(float_op, slot, operands, lane, fmt) {
                Some(found) => Some(found),
                None => match self.rearranged_formula(float_op, slot, operands, lane, leaf) {
                    Ok(found) => found,
                    Err(Unbounded) => {
                        return (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0, ExprBound::NONE);
                    }
                },
            },
        };
        // The result alone is the truncated value itself.
        self.readings_differ |= found.is_some_and(|(bound, _)| bound.truncated && !bound.is_leaf());
        let found = found
            .map(|(bound, deep)| (ExprBound { relaxed: bound.relaxed || float_op.call.modes.relaxed, ..bound }, deep));
        let Some((bound, true)) = found else { return (result, bits, found.map_or(leaf, |(bound, _)| bound)) };
        match contracted_or_rearranged(float_op, bound, fmt, fast_path::errors(fmt, &env)) {
            Some((lo, hi)) => {
                let near_zero = fast_path::meets_small(fmt, (lo, hi)) || bound.may_be_below(flush_threshold(fmt));
                let more = if near_zero {
                    with_zeros(fmt, bound, (lo, hi), env.flush_results == Flush::Must)
                } else {
                    FloatSet::range(fmt, lo, hi)
                };
                let (value, bits) = AbstractValue::of_floats(floats.union(&more));
                (value, bits, bound)
            }
            None => (AbstractValue::Unknown(self.cause(CauseKind::NoRequirement)), 0, ExprBound::NONE),
        }
    }

    /// The bound of an instruction that is neither a sum of products nor a quotient, and true if it
    /// may be rearranged with its operands.
    fn other_bound(
        &self,
        float_op: &FloatOp,
        slot: usize,
        operands: &[Reg],
        lane: usize,
        fmt: Fmt,
    ) -> Option<(ExprBound, bool)> {
        if let Some(bound) = self.selection_bound(float_op, operands, lane, fmt) {
            return Some((bound, false));
        }
        let (op, free) = (float_op.call.op, float_op.freedom.transforms);
        let bound = |reg: &Reg| if free { self.bound(*reg, lane, fmt) } else { self.leaf(*reg, lane, fmt) };
        let deep = free && operands.iter().any(|reg| self.is_computed(*reg, lane));
        if op == Op::Ldexp {
            let exponent = &self.columns[operands[1] as usize];
            let any = exponent.value(lane).patterns(exponent.bits[lane]).ok()?;
            let x = bound(&operands[0]);
            let scaled = |exponent: u64| {
                let by = i32::try_from(signed(32, exponent)).ok().filter(|by| by.unsigned_abs() <= 1000)?;
                x.checked_mul(ExprBound::constant(2f64.powi(by)), self.expansion_limit(fmt))
            };
            let scaled = any.into_iter().map(scaled).reduce(|a, b| Some(a?.either(b?)))??;
            // Scaling rounds only in case of an underflow. Of a quotient, either part may be
            // scaled.
            let small =
                range(&self.columns[operands[0] as usize], lane, fmt).is_none_or(|x| fast_path::meets_small(fmt, x));
            return Some((ExprBound { degree: x.degree, ..scaled }, deep && (small || x.is_quotient())));
        }
        if !matches!(op, Op::FMix | Op::Reflect) {
            return None;
        }
        let apart: SmallVec<[ExprBound; 8]> = operands.iter().map(bound).collect();
        // `x * (1 - a) + y * a` has a common factor if `x` is `y` or `a`.
        let common = op == Op::FMix && free && apart[1..].iter().any(|other| apart[0].shares_with(other));
        let deep = deep || common;
        let whole = || operands.iter().map(|reg| self.leaf(*reg, lane, fmt)).collect::<SmallVec<[ExprBound; 8]>>();
        let expansion_limit = self.expansion_limit(fmt);
        let cut =
            || formula_bound(op, slot, &whole(), expansion_limit).map(|bound| ExprBound { truncated: true, ..bound });
        Some((formula_bound(op, slot, &apart, expansion_limit).or_else(cut)?, deep))
    }

    /// The bound of a quotient, and true if an operand is itself computed. `None` if the divisor
    /// may be zero.
    fn quotient_bound(
        &self,
        float_op: &FloatOp,
        (dividend, divisor): (Reg, Reg),
        lane: usize,
        fmt: Fmt,
        roundings: u32,
    ) -> Option<(ExprBound, bool)> {
        let part = |reg: Reg| self.operand_bound(float_op, OperandRole::Factor, reg, lane, fmt);
        let (mut a, mut b, whole) = (part(dividend), part(divisor), self.leaf(divisor, lane, fmt));
        let cut = a.quotient_is_too_long(&b, self.expansion_limit(fmt));
        if cut {
            (a, b) = (self.leaf(dividend, lane, fmt), whole);
        }
        let bound = a.over(&b, &whole, roundings)?;
        Some((ExprBound { truncated: cut || bound.truncated, ..bound }, !a.is_leaf() || !b.is_leaf()))
    }

    /// Returns true if the divisor may be zero and may disappear when the quotient is rearranged:
    /// `(a * b) / a` is `b`, and `(x + y) / y` is `x / y + 1`.
    fn may_lose_divisor(&self, float_op: &FloatOp, (dividend, divisor): (Reg, Reg), lane: usize, fmt: Fmt) -> bool {
        let (a, b, whole) =
            (self.bound(dividend, lane, fmt), self.bound(divisor, lane, fmt), self.leaf(divisor, lane, fmt));
        let zero = b.lo.min(whole.lo) <= 0.0 && b.hi.max(whole.hi) >= 0.0;
        float_op.freedom.any() && zero && (!a.is_leaf() || !b.is_leaf()) && a.shares_with(&b)
    }

    /// The bound of a sum of products, and true if it can be rearranged: a factor is itself
    /// computed, or two products have a factor in common.
    fn sum_bound(
        &self,
        float_op: &FloatOp,
        chain: &[SignedProduct],
        operands: &[Reg],
        lane: usize,
        fmt: Fmt,
    ) -> (ExprBound, bool) {
        let freedom = float_op.freedom;
        let mut deep = freedom.contracts && operands.iter().any(|reg| self.is_computed(*reg, lane));
        // Set for rewrites beyond leaving out roundings, which relaxed precision permits anyway.
        let mut apart = false;
        let mut sum: Option<ExprBound> = None;
        let mut products: SmallVec<[ExprBound; 4]> = SmallVec::new();
        for SignedProduct { factor: a, other: b, negative } in chain {
            let part = if b.is_some() { OperandRole::Factor } else { OperandRole::Summand };
            let mut product = self.operand_bound(float_op, part, operands[*a], lane, fmt);
            deep |= !product.is_leaf();
            if let Some(b) = b {
                let other = self.operand_bound(float_op, part, operands[*b], lane, fmt);
                deep |= !other.is_leaf();
                apart |= !product.is_leaf() || !other.is_leaf();
                let cut = || self.truncated_product(operands[*a], operands[*b], lane, fmt);
                product = product.checked_mul(other, self.expansion_limit(fmt)).unwrap_or_else(cut);
            }
            let summand = if *negative { product.neg() } else { product };
            apart |= products.iter().any(|before| before.is_rearranged_with(&summand, freedom.transforms));
            products.push(summand);
            sum = Some(match sum {
                None => summand,
                Some(sum) => sum.add(product, *negative),
            });
        }
        let bound = sum.unwrap_or(ExprBound::NONE);
        let relaxed = bound.relaxed || float_op.call.modes.relaxed;
        (bound, (apart || (deep && !relaxed)) && freedom.any())
    }
}

/// Returns true for operations that round their operand to another format or to an integer.
fn rounds(op: Op) -> bool {
    use Op::{Ceil, ConvertFToS, ConvertFToU, FConvert, Floor, Fract, Round, RoundEven, Trunc};
    matches!(op, Ceil | ConvertFToS | ConvertFToU | FConvert | Floor | Fract | Round | RoundEven | Trunc)
}

/// Returns true for sums with which a product may be fused.
fn adds(op: Op) -> bool {
    matches!(op, Op::FAdd | Op::FSub)
}

/// A bound of an expression, or `other` if both differ only by the rounding of the bound itself.
fn snapped(bound: f64, other: f64) -> f64 {
    if (bound - other).abs() <= other.abs() * 2f64.powi(-48) { other } else { bound }
}

/// The neighbours of a bound of an expression.
fn neighbours_of(fmt: Fmt, bound: f64) -> Range {
    let (below, above) = RoundedReal::exact(bound).neighbours(fmt);
    let is_one = |rank: &Rank| snapped(bound, value(fmt, *rank)) != bound;
    [below, above].into_iter().find(is_one).map_or((below, above), |rank| (rank, rank))
}

/// The bound of a lane of a register that is taken as it is computed.
fn bound_of_lane(column: &Column, lane: usize, fmt: Fmt) -> ExprBound {
    bound_of_value(column.value(lane), column.bits[lane], fmt)
}

/// The bound of a value that is taken as it is computed.
pub(in crate::run) fn bound_of_value(of: &AbstractValue, bits: u64, fmt: Fmt) -> ExprBound {
    let unbounded = (f64::NEG_INFINITY, f64::INFINITY);
    let (lo, hi) = range_of(of, bits, fmt).map_or(unbounded, |(lo, hi)| (value(fmt, lo), value(fmt, hi)));
    ExprBound::leaf(lo, hi)
}

/// The bound of a value that may be any of several lanes of registers; `None` if none of them has
/// more than a plain bound.
pub(in crate::run) fn bound_of_any<'a>(
    kind: Kind,
    lanes: impl Iterator<Item = (&'a Column, usize)> + Clone,
) -> Option<ExprBound> {
    let Kind::Float(fmt) = kind else { return None };
    let mut bounds = lanes.clone().filter_map(|(column, lane)| column.bound(lane));
    if bounds.all(|bound| bound.is_plain()) {
        return None;
    }
    let bound = |(column, lane): (&Column, usize)| {
        column.bound(lane).copied().unwrap_or_else(|| bound_of_lane(column, lane, fmt))
    };
    lanes.map(bound).reduce(ExprBound::either)
}

/// The minimum or maximum of two values, each with the range that it lies in.
fn min_or_max((x, a): (ExprBound, Range), (y, b): (ExprBound, Range), greatest: bool) -> (ExprBound, Range) {
    let range = if greatest { (a.0.max(b.0), a.1.max(b.1)) } else { (a.0.min(b.0), a.1.min(b.1)) };
    let bound = match (a.0 >= b.1, b.0 >= a.1) {
        (true, _) if greatest => x.selected_over(y),
        (true, _) => y.selected_over(x),
        (_, true) if greatest => y.selected_over(x),
        (_, true) => x.selected_over(y),
        _ => x.either(y),
    };
    (bound, range)
}

/// The bound of an instruction that inherits its accuracy from a sum of products. `None` for other
/// instructions, and if the sum is too long to be multiplied out.
pub(in crate::run) fn formula_bound(
    op: Op,
    slot: usize,
    x: &[ExprBound],
    expansion_limit: ExpansionLimit,
) -> Option<ExprBound> {
    let product = |a: ExprBound, b: ExprBound| a.checked_mul(b, expansion_limit);
    match (op, x) {
        (Op::FMix, [x, y, a]) => {
            let rest = ExprBound::constant(1.0).add(*a, true);
            Some(product(*x, rest)?.add(product(*y, *a)?, false))
        }
        (Op::Reflect, _) => {
            let n = x.len() / 2;
            let products = (0..n).map(|k| product(x[k], x[n + k]));
            let dot = products.reduce(|sum, product| Some(sum?.add(product?, false)))??;
            Some(x[slot].add(product(product(ExprBound::constant(2.0), dot)?, x[n + slot])?, true))
        }
        _ => None,
    }
}
