//! Floating-point filter for bulk results: a cheap test that decides most results and leaves the
//! rest to the certified evaluation.
//!
//! The name and the idea are those of exact geometric computation (Fortune & Van Wyk, SoCG 1993;
//! Shewchuk, Discrete & Computational Geometry 18, 1997): an approximate evaluation with a known
//! error bound decides wherever the bound suffices. Here one evaluation covers [`LANES`]
//! invocations and computes three numbers for each: an approximation `v` of the infinitely precise
//! result, a bound `e` on the error of `v`, and a lower bound `b` on the error that the
//! specification permits. The *margin* of a result `r` is
//!
//! ```text
//! (|r - v| + e) / b
//! ```
//!
//! It is at least the margin of the certified evaluation, `|r - exact| / permitted`, because the
//! numerator is no smaller and the denominator no greater. A result with a margin of at most
//! [`CERTAIN`] is therefore permitted. The filter never rejects a result: it leaves every other one
//! undecided. A test below checks the inequality against the certified evaluation.
//!
//! # Limits
//!
//! The filter handles operands and results of `f16`, `f32`, integers of at most 32 bits and
//! booleans, and only the usual reading. It leaves relaxed precision and packed words to the
//! certified evaluation, and, except for pairs of halves ([`pairs`]), round toward zero, and
//! formulas of several operands with a declared rounding mode or with significant infinities and
//! NaNs ([`Filter::new`]).

mod ordered;
mod pair_outcome;
mod pairs;
mod pow;
mod quadratic;

use crate::{
    Column, Op, Rounding, Scalar,
    bulk::simd::{
        LaneBounds, SimdEvaluator,
        arithmetic::{Grid, LANES, LaneValues, SLACK, flag, lanes, vectorised},
        inner_bound,
        unary::{FillLanes, UnaryOutcome, UnaryVisitor},
    },
    discrete_op::{DiscreteOp, Relation},
    environment::{Environment, Flush},
    real_op::Bound,
    result_slot::{ResultRule, ResultSlot},
};
use assay_float::{F16, F32};
use pow::PowTables;
pub(crate) use quadratic::{BLOCK, OperandBlock};
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// Largest margin with which a result is certainly permitted. Between this and 1.0 the filter is
/// undecided: `2^-20` is far above the rounding errors of a margin, which are a few units of
/// `2^-53`.
const CERTAIN: f64 = 1.0 - 1.0 / (1 << 20) as f64;

/// Filter for one result component under the usual reading.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    op: Op,
    rule: ResultRule,
    env: Environment,
    operands: SmallVec<[(usize, Scalar); 4]>,
    result: Scalar,
    grid: Grid,
    measure: MarginRule,
    special: SpecialResults,
    /// Set for functions of two operands that [`pairs`] handles.
    is_pair: bool,
    /// Set for functions that are handled operand by operand, whatever their number.
    is_general: bool,
    /// Tables of Pow of halves, made by the first group of a sweep.
    pow_tables: Arc<OnceLock<PowTables>>,
}

/// Parameters by which results are measured.
#[derive(Clone, Copy, Debug)]
struct MarginRule {
    /// Set if a denormal result may be flushed to zero.
    may_flush: bool,
    /// Values below this magnitude are certainly denormal.
    edge: f64,
    /// Values above this magnitude are certainly beyond the largest finite value of the format.
    max: f64,
    /// Results that may exceed this magnitude are left undecided: the certified evaluation knows
    /// where an overflow permits anything. Infinity if an overflow does not permit anything.
    open: f64,
}

impl MarginRule {
    fn new(env: &Environment, grid: Grid) -> MarginRule {
        MarginRule {
            may_flush: env.flush_results != Flush::Never,
            edge: grid.min_normal * (1.0 - SLACK),
            max: grid.max * (1.0 + SLACK),
            open: if env.overflow_is_anything() { grid.max * (1.0 - SLACK) } else { f64::INFINITY },
        }
    }

    /// Upper bound on the margin, see [`FilterOutcome::margins`].
    #[inline(always)]
    fn margin(self, v: f64, e: f64, bound: f64, got: f64) -> f64 {
        let error = (got - v).abs() + e;
        let quotient = error / bound;
        let margin = if error == 0.0 { 0.0 } else { quotient };
        // A bound that is not positive, or is a NaN, decides nothing.
        let margin = if (error == 0.0) | (bound > 0.0) { margin } else { f64::NAN };
        let tiny = (v.abs() + e < self.edge) & (v.abs() > e);
        let flushed = self.may_flush & tiny & (got == 0.0);
        // An infinity is permitted where the exact result certainly exceeds the largest finite
        // value and has the same sign. Its distance is not finite, so it has no margin: the
        // negative zero marks that.
        let overflown = (got.abs() == f64::INFINITY) & (v.copysign(v * got) - e > self.max);
        if v.abs() + bound + e > self.open {
            f64::NAN
        } else if overflown {
            -0.0
        } else if flushed {
            0.0
        } else {
            margin
        }
    }
}

/// Results that stay undecided whatever their margins.
#[derive(Clone, Copy, Debug)]
struct SpecialResults {
    /// Set if the sign of a zero result matters.
    zero: bool,
    /// Set if denormal results are not permitted.
    denormal: bool,
    /// Smallest normal value of the result's format.
    min_normal: f64,
}

impl SpecialResults {
    fn new(env: &Environment, result: Scalar) -> SpecialResults {
        let format = result.format();
        SpecialResults {
            zero: format.is_some() && !env.nsz,
            denormal: env.flush_results == Flush::Must,
            min_normal: format.map_or(0.0, |f| Grid::new(f).min_normal),
        }
    }

    /// Returns true if some result stays undecided.
    fn is_possible(self) -> bool {
        self.zero | self.denormal
    }

    #[inline(always)]
    fn is(self, got: f64) -> bool {
        (self.zero & (got == 0.0)) | (self.denormal & (got != 0.0) & (got.abs() < self.min_normal))
    }
}

/// Operands and results of the invocations that are filtered together.
pub(crate) struct LaneGroup {
    /// Operands that the result component depends on.
    x: Vec<LaneValues>,
    got: LaneValues,
    /// Set if some operand is denormal.
    denormals: bool,
}

/// Outcome of the filter for each lane.
pub(crate) struct FilterOutcome {
    /// Upper bounds on the margins: at least those of the certified evaluation and, except from
    /// [`Filter::judge_by_inner_bound`], hardly greater. At most one where the result is certainly
    /// permitted; a NaN where the filter is undecided; a negative zero where the result is a
    /// permitted infinity.
    pub(crate) margins: LaneValues,
    /// 1.0 where the specification requires nothing of the result, otherwise 0.0.
    pub(crate) any: LaneValues,
}

/// Counts of a group of lanes that the filter has decided completely.
pub(crate) struct GroupCounts {
    pub(crate) passed: u64,
    pub(crate) unchecked: u64,
    /// Greatest margin of the results that passed; negative if there is no margin.
    pub(crate) worst: f64,
}

impl GroupCounts {
    /// Counts of a whole group of [`LANES`] that passes, with its greatest margin.
    fn passed(worst: f64) -> GroupCounts {
        GroupCounts { passed: LANES as u64, unchecked: 0, worst }
    }

    /// Counts of a group of `count` lanes without a requirement.
    fn unchecked(count: u64) -> GroupCounts {
        GroupCounts { passed: 0, unchecked: count, worst: -1.0 }
    }
}

impl FilterOutcome {
    /// Returns true if the result of the lane is certainly permitted.
    pub(crate) fn passes(&self, lane: usize) -> bool {
        self.margins[lane] <= 1.0
    }

    /// Returns true if nothing is required of the lane.
    pub(crate) fn is_unchecked(&self, lane: usize) -> bool {
        self.any[lane] > 0.0
    }

    /// Counts of the first `count` lanes. `None` unless each of them passes or is unchecked.
    pub(crate) fn group_counts(&self, count: usize) -> Option<GroupCounts> {
        let (margins, any) = (self.margins, self.any);
        // The counts and the maximum are integers, because integer reductions vectorise.
        // Non-negative margins are ordered as their bit patterns are; the negative zero of a
        // permitted infinity comes before all of them.
        let (passed, unchecked, worst) = vectorised(
            #[inline(always)]
            move || {
                let (mut passed, mut unchecked, mut worst) = (0u64, 0u64, -1i64);
                for i in 0..LANES {
                    let inside = i < count;
                    let passes = inside & (margins[i] <= 1.0);
                    let open = inside & (any[i] > 0.0) & !passes;
                    let bits = if passes { margins[i].to_bits().cast_signed() } else { -1 };
                    passed += u64::from(passes);
                    unchecked += u64::from(open);
                    worst = if bits > worst { bits } else { worst };
                }
                (passed, unchecked, worst)
            },
        );
        let worst = if worst < 0 { -1.0 } else { f64::from_bits(worst.cast_unsigned()) };
        (passed + unchecked == count as u64).then_some(GroupCounts { passed, unchecked, worst })
    }
}

impl Filter {
    /// Filter for a result component. `None` if the filter does not handle its types, rule or
    /// modes.
    pub(crate) fn new(slot: &ResultSlot) -> Option<Filter> {
        let narrow = |scalar: Scalar| match scalar {
            Scalar::Float(format) => format == F16 || format == F32,
            Scalar::Int { width, .. } => width <= 32,
            Scalar::Bool => true,
        };
        let types = slot.inputs.iter().all(|&(_, scalar)| narrow(scalar)) && narrow(slot.result);
        let is_general = match &slot.rule {
            ResultRule::Discrete(op) => discrete(*op, &[[1.0; LANES]; 3]).is_some(),
            ResultRule::Real(_) => slot.env.rounding != Rounding::Rtz,
            // Formulas of several operands are left to the certified evaluation if a rounding mode
            // is declared, or if infinities or NaNs are significant.
            ResultRule::Formula(_) if slot.inputs.len() > 1 => {
                slot.env.rounding == Rounding::Undeclared && slot.env.not_inf && slot.env.not_nan
            }
            ResultRule::Formula(_) => slot.env.rounding != Rounding::Rtz,
            ResultRule::Unpack { .. } | ResultRule::UnpackHalf | ResultRule::Measured => false,
        };
        let grid = Grid::new(slot.env.format);
        let is_pair = Filter::takes_pairs(slot);
        (types && (is_general || is_pair) && !slot.relaxed && slot.packed_with.is_empty()).then(|| Filter {
            op: slot.op,
            rule: slot.rule.clone(),
            env: slot.env,
            operands: slot.inputs.clone(),
            result: slot.result,
            grid,
            measure: MarginRule::new(&slot.env, grid),
            special: SpecialResults::new(&slot.env, slot.result),
            is_pair,
            is_general,
            pow_tables: Arc::default(),
        })
    }

    fn evaluator(&self) -> SimdEvaluator<'_> {
        SimdEvaluator { env: &self.env, grid: self.grid }
    }

    /// Operands and results of `count` invocations from `start` on, at most [`LANES`], for
    /// [`Filter::judge_by_rule`] and [`Filter::judge_by_inner_bound`].
    pub(crate) fn group(&self, operands: &[Column<'_>], result: Column<'_>, start: usize, count: usize) -> LaneGroup {
        let x: Vec<LaneValues> =
            self.operands.iter().map(|&(i, scalar)| decode(operands[i], scalar, start, count)).collect();
        let denormals = x.iter().enumerate().any(|(k, x)| self.has_denormal(k, x));
        LaneGroup { got: decode(result, self.result, start, count), x, denormals }
    }

    /// Filters a group with every method and keeps the least margin of each lane, the one nearest
    /// to the certified margin.
    pub(crate) fn least_margins(&self, group: &LaneGroup) -> Option<FilterOutcome> {
        let mut outcome = self.judge_by_rule(group)?;
        if let Some(glanced) = self.judge_by_inner_bound(group) {
            let margins = outcome.margins.iter_mut().zip(glanced.margins);
            margins.filter(|(margin, other)| *other < **margin).for_each(|(margin, other)| *margin = other);
        }
        Some(outcome)
    }

    /// Filters a group with part of the rule only ([`inner_bound`]): margins may be greater than
    /// necessary by more than a little, and more lanes stay undecided. `None` if the instruction
    /// has no such method.
    pub(crate) fn judge_by_inner_bound(&self, group: &LaneGroup) -> Option<FilterOutcome> {
        let evaluator = self.evaluator();
        if let [x] = &group.x[..]
            && inner_bound::requires_nothing(self.op, x.iter().copied(), &evaluator)
        {
            return Some(FilterOutcome { margins: [f64::NAN; LANES], any: [1.0; LANES] });
        }
        if !inner_bound::has_inner_bound(self.op, &evaluator)
            || (group.denormals && !inner_bound::allows_denormals(self.op))
        {
            return None;
        }
        let mut outcome = self.measured(&inner_bound::inner_bounds(self.op, &group.x[0], &evaluator)?, &group.got);
        self.exclude_special(&group.x, &group.got, &mut outcome);
        Some(outcome)
    }

    /// Filters a group with the whole rule. `None` if the rule or these operands are not handled.
    pub(crate) fn judge_by_rule(&self, group: &LaneGroup) -> Option<FilterOutcome> {
        if let Some(outcome) = self.is_pair.then(|| self.judge_pairs(group)).flatten() {
            return Some(outcome);
        }
        if !self.is_general {
            return None;
        }
        let LaneGroup { x, got, denormals } = group;
        let mut outcome = self.alternative(x, got)?;
        if self.env.flush_operands && *denormals {
            // The alternative in which all denormal operands are read as zero.
            let flushed: Vec<LaneValues> = x
                .iter()
                .enumerate()
                .map(|(k, x)| {
                    let edge = self.min_normal(k);
                    x.map(|v| if v.abs() < edge { 0.0 } else { v })
                })
                .collect();
            let other = self.alternative(&flushed, got)?;
            for i in 0..LANES {
                let (a, b) = (outcome.margins[i], other.margins[i]);
                outcome.margins[i] = if b < a || a.is_nan() { b } else { a };
                outcome.any[i] = outcome.any[i].max(other.any[i]);
            }
        }
        self.exclude_special(x, got, &mut outcome);
        Some(outcome)
    }

    /// Smallest normal value of an operand's format; 0 for an integer.
    fn min_normal(&self, operand: usize) -> f64 {
        self.operands[operand].1.format().map_or(0.0, |f| Grid::new(f).min_normal)
    }

    fn has_denormal(&self, operand: usize, x: &LaneValues) -> bool {
        let edge = self.min_normal(operand);
        any_lane(x, move |v| (v != 0.0) & (v.abs() < edge))
    }

    /// Margins for operands with exactly these values.
    fn alternative(&self, x: &[LaneValues], got: &LaneValues) -> Option<FilterOutcome> {
        let mut outcome = self.by_kind(x, got)?;
        self.exclude_named(x, &mut outcome);
        Some(outcome)
    }

    fn by_kind(&self, x: &[LaneValues], got: &LaneValues) -> Option<FilterOutcome> {
        let evaluator = self.evaluator();
        let references: SmallVec<[&LaneValues; 8]> = x.iter().collect();
        let point = match &self.rule {
            ResultRule::Discrete(op) => return self.discrete(*op, x, got),
            ResultRule::Real(real) => evaluator.real_point(*real, &references)?,
            ResultRule::Formula(formula) => evaluator.formula_point(formula, &references)?,
            ResultRule::Unpack { .. } | ResultRule::UnpackHalf | ResultRule::Measured => return None,
        };
        Some(self.measured(&point, got))
    }

    /// Margins of results by their distance from the approximate exact result.
    fn measured(&self, point: &LaneBounds, got: &LaneValues) -> FilterOutcome {
        let (v, e, bound) = (&point.exact.value, &point.exact.error, &point.bound);
        let measure = self.measure;
        let margins = lanes!([v, e, bound, got], |i| measure.margin(v[i], e[i], bound[i], got[i]));
        let mut outcome = FilterOutcome { margins, any: point.any };
        if let Some(rounding) = self.rounding_mode() {
            let evaluation = self.evaluator();
            // Next to a power of two, values other than the two neighbours lie within an ulp too.
            let margins = &outcome.margins;
            outcome.margins = match rounding {
                Rounding::Undeclared => lanes!([v, got, margins], |i| {
                    let (lo, hi) = evaluation.rounded(v[i], Rounding::Undeclared);
                    let neighbour = (lo <= got[i]) & (got[i] <= hi);
                    let flushed = (margins[i] == 0.0) & (got[i] == 0.0);
                    if neighbour | flushed { margins[i] } else { f64::NAN }
                }),
                Rounding::Rte | Rounding::Rtz => lanes!([v, got, margins], |i| {
                    let (lo, hi) = evaluation.rounded(v[i], rounding);
                    let neighbour = (lo <= got[i]) & (got[i] <= hi);
                    let flushed = (margins[i] == 0.0) & (got[i] == 0.0);
                    if neighbour | flushed { margins[i] } else { f64::NAN }
                }),
            };
        }
        outcome
    }

    /// Rounding mode of a correctly rounded operation. `None` for every other operation.
    fn rounding_mode(&self) -> Option<Rounding> {
        let ResultRule::Real(real) = &self.rule else { return None };
        match real.bound(self.env.specification, self.env.half_column()) {
            Bound::Rounded => Some(self.env.rounding),
            Bound::Either => Some(Rounding::Undeclared),
            Bound::Ulps { .. }
            | Bound::UlpsPlusTwiceX { .. }
            | Bound::Logarithm { .. }
            | Bound::Trigonometric { .. } => None,
        }
    }

    fn discrete(&self, op: DiscreteOp, x: &[LaneValues], got: &LaneValues) -> Option<FilterOutcome> {
        let edge = self.result.format().map_or(0.0, |f| Grid::new(f).min_normal);
        let may_flush = self.env.flush_results != Flush::Never;
        let expected = &discrete(op, x)?;
        let margins = lanes!([expected, got], |i| {
            let flushed = may_flush & (got[i] == 0.0) & (expected[i].abs() < edge);
            if (got[i] == expected[i]) | flushed { 0.0 } else { f64::NAN }
        });
        Some(FilterOutcome { margins, any: [0.0; LANES] })
    }

    /// Returns true if infinities and NaNs are assumed not to occur, so that nothing is required of
    /// an operation on them.
    fn assumes_finite(&self) -> bool {
        let classifies = matches!(self.rule, ResultRule::Discrete(DiscreteOp::IsNan | DiscreteOp::IsInf));
        self.env.not_nan && self.env.not_inf && !classifies
    }

    /// Leaves special results and non-finite operands undecided, which the filter does not model. If
    /// infinities and NaNs are assumed not to occur, nothing is required of lanes with such operands.
    fn exclude_special(&self, x: &[LaneValues], got: &LaneValues, outcome: &mut FilterOutcome) {
        let assumed_away = self.assumes_finite();
        let special = self.special;
        // A lane of which nothing is required does not count as passed. Without the assumption that
        // infinities and NaNs do not occur, the certified evaluation decides which lanes these are.
        let (margins, any) = (&outcome.margins, &outcome.any);
        outcome.margins = lanes!([margins, any, got], |i| {
            let undecided = special.is(got[i]) | (any[i] > 0.0) | (margins[i] > CERTAIN);
            if undecided { f64::NAN } else { margins[i] }
        });
        if !assumed_away {
            outcome.any = [0.0; LANES];
        }
        for x in x {
            if !any_lane(x, |v: f64| !v.is_finite()) {
                continue;
            }
            for i in (0..LANES).filter(|&i| !x[i].is_finite()) {
                (outcome.margins[i], outcome.any[i]) = (f64::NAN, flag(assumed_away));
            }
        }
    }
}

impl Filter {
    /// Leaves operands undecided for which the instruction set names a result or leaves it
    /// undefined.
    fn exclude_named(&self, x: &[LaneValues], outcome: &mut FilterOutcome) {
        let mut refuse = |named: &dyn Fn(usize) -> bool| {
            for i in (0..LANES).filter(|&i| named(i)) {
                (outcome.margins[i], outcome.any[i]) = (f64::NAN, 0.0);
            }
        };
        // Most groups contain no such operand.
        match self.op {
            Op::SmoothStep => refuse(&|i| x[0][i] >= x[1][i]),
            op => {
                if let Some(named) = named_operand(op).filter(|&named| any_lane(&x[0], move |v| v == named)) {
                    refuse(&|i| x[0][i] == named);
                }
            }
        }
    }
}

/// Operand for which the instruction set names a result, if there is one.
fn named_operand(op: Op) -> Option<f64> {
    match op {
        Op::Log | Op::Log2 => Some(1.0),
        Op::Sqrt => Some(0.0),
        _ => None,
    }
}

/// Returns true if the test holds for some lane.
#[inline(always)]
fn any_lane(x: &LaneValues, test: impl Fn(f64) -> bool) -> bool {
    let x = *x;
    vectorised(
        #[inline(always)]
        move || x.iter().fold(0u64, |found, &v| found | u64::from(test(v))) != 0,
    )
}

/// Applies the exact function of a discrete operation of one float. `None` for all other discrete
/// operations.
fn visit_discrete<A: UnaryVisitor>(op: DiscreteOp, visitor: A) -> Option<A::Output> {
    let exact = |value: f64| UnaryOutcome { value, error: 0.0, bound: f64::NAN, any: 0.0 };
    macro_rules! apply {
        (|$x:ident| $value:expr) => {
            visitor.visit(
                #[inline(always)]
                move |$x: f64| exact($value),
            )
        };
    }
    Some(match op {
        DiscreteOp::Negate => apply!(|x| -x),
        DiscreteOp::Abs => apply!(|x| x.abs()),
        DiscreteOp::Sign => apply!(|x| flag(x > 0.0) - flag(x < 0.0)),
        DiscreteOp::Round | DiscreteOp::RoundEven => apply!(|x| x.round_ties_even()),
        DiscreteOp::Trunc | DiscreteOp::ToInt => apply!(|x| x.trunc()),
        DiscreteOp::Floor => apply!(|x| x.floor()),
        DiscreteOp::Ceil => apply!(|x| x.ceil()),
        DiscreteOp::Fraction => apply!(|x| x - x.trunc()),
        DiscreteOp::Copy => apply!(|x| x),
        _ => return None,
    })
}

/// One permitted result of a discrete operation on finite operands. A NaN marks a lane without one.
/// `None` for operations that the filter leaves to the certified evaluation.
fn discrete(op: DiscreteOp, x: &[LaneValues]) -> Option<LaneValues> {
    let first = &x[0];
    if let Some(point) = visit_discrete(op, FillLanes(first)) {
        return Some(point.exact.value);
    }
    let (a, b, c) = (first, x.get(1).unwrap_or(first), x.get(2).unwrap_or(first));
    Some(match op {
        DiscreteOp::Min | DiscreteOp::NMin | DiscreteOp::AtomicMin | DiscreteOp::GroupMin => {
            lanes!([a, b], |i| if b[i] < a[i] { b[i] } else { a[i] })
        }
        DiscreteOp::Max | DiscreteOp::NMax | DiscreteOp::AtomicMax | DiscreteOp::GroupMax => {
            lanes!([a, b], |i| if a[i] < b[i] { b[i] } else { a[i] })
        }
        DiscreteOp::Clamp | DiscreteOp::NClamp => lanes!([a, b, c], |i| {
            let raised = if a[i] < b[i] { b[i] } else { a[i] };
            let clamped = if raised > c[i] { c[i] } else { raised };
            if b[i] > c[i] { f64::NAN } else { clamped }
        }),
        DiscreteOp::Step => lanes!([a, b], |i| flag(b[i] >= a[i])),
        DiscreteOp::IsNan | DiscreteOp::IsInf => [0.0; LANES],
        DiscreteOp::Compare(relation, _) => match relation {
            Relation::Equal => lanes!([a, b], |i| flag(a[i] == b[i])),
            Relation::NotEqual => lanes!([a, b], |i| flag(a[i] != b[i])),
            Relation::Less => lanes!([a, b], |i| flag(a[i] < b[i])),
            Relation::Greater => lanes!([a, b], |i| flag(a[i] > b[i])),
            Relation::LessEqual => lanes!([a, b], |i| flag(a[i] <= b[i])),
            Relation::GreaterEqual => lanes!([a, b], |i| flag(a[i] >= b[i])),
        },
        DiscreteOp::Negate
        | DiscreteOp::Abs
        | DiscreteOp::Sign
        | DiscreteOp::Round
        | DiscreteOp::RoundEven
        | DiscreteOp::Trunc
        | DiscreteOp::ToInt
        | DiscreteOp::Floor
        | DiscreteOp::Ceil
        | DiscreteOp::Fraction
        | DiscreteOp::Copy
        | DiscreteOp::AllEqual
        | DiscreteOp::Significand
        | DiscreteOp::Exponent
        | DiscreteOp::CompareExchange
        | DiscreteOp::QuantizeToF16
        | DiscreteOp::SAbs
        | DiscreteOp::SSign
        | DiscreteOp::SMin
        | DiscreteOp::UMin
        | DiscreteOp::SMax
        | DiscreteOp::UMax
        | DiscreteOp::SClamp
        | DiscreteOp::UClamp
        | DiscreteOp::FindILsb
        | DiscreteOp::FindSMsb
        | DiscreteOp::FindUMsb
        | DiscreteOp::PackSnorm
        | DiscreteOp::PackUnorm
        | DiscreteOp::PackDouble
        | DiscreteOp::UnpackDouble => return None,
    })
}

/// Values of a column as `f64`. Lanes after the end of the column hold one. A column of other than
/// 32-bit words gives NaNs.
fn decode(column: Column<'_>, scalar: Scalar, start: usize, count: usize) -> LaneValues {
    let Column::Words(words) = column else { return [f64::NAN; LANES] };
    let one = match scalar {
        Scalar::Float(format) => format.rank_of_one() as u32,
        Scalar::Int { .. } | Scalar::Bool => 1,
    };
    let mut bits = [one; LANES];
    bits[..count].copy_from_slice(&words[start..start + count]);
    let decoder = Decoder::new(scalar);
    vectorised(
        #[inline(always)]
        move || {
            let mut values = [0.0; LANES];
            decoder.read(&bits, &mut values);
            values
        },
    )
}

/// Conversion of words to the numbers that they represent.
#[derive(Clone, Copy)]
enum Decoder {
    Single,
    Half,
    /// A signed integer, with the number of unused bits of a word.
    Signed(u32),
    Unsigned,
}

impl Decoder {
    /// Decoder of a type that the filter handles.
    fn new(scalar: Scalar) -> Decoder {
        match scalar {
            Scalar::Float(F32) => Decoder::Single,
            Scalar::Float(_) => Decoder::Half,
            Scalar::Int { width, signed: true } => Decoder::Signed(32 - width),
            Scalar::Int { signed: false, .. } | Scalar::Bool => Decoder::Unsigned,
        }
    }

    /// Writes the numbers that the words represent, infinities and NaNs included.
    #[inline(always)]
    fn read(self, words: &[u32; LANES], out: &mut LaneValues) {
        match self {
            Decoder::Single => (0..LANES).for_each(|i| out[i] = f32::from_bits(words[i]).into()),
            Decoder::Half => (0..LANES).for_each(|i| out[i] = half(words[i]).into()),
            Decoder::Signed(unused) => {
                (0..LANES).for_each(|i| out[i] = ((words[i] << unused).cast_signed() >> unused).into());
            }
            Decoder::Unsigned => (0..LANES).for_each(|i| out[i] = words[i].into()),
        }
    }

    /// Masks of the magnitude and of the exponent; `None` for integers.
    #[inline(always)]
    fn fields(self) -> Option<[u32; 2]> {
        match self {
            Decoder::Single => Some([0x7fff_ffff, 0x7f80_0000]),
            Decoder::Half => Some([0x7fff, 0x7c00]),
            Decoder::Signed(_) | Decoder::Unsigned => None,
        }
    }

    /// Returns true if no word is an infinity or a NaN.
    #[inline(always)]
    fn is_finite(self, words: &[u32; LANES]) -> bool {
        let Some([magnitude, exponent]) = self.fields() else { return true };
        words.iter().fold(0, |found, word| found | u32::from(word & magnitude >= exponent)) == 0
    }

    /// Returns true if some word is a denormal number.
    #[inline(always)]
    fn has_denormal(self, words: &[u32; LANES]) -> bool {
        let Some([magnitude, exponent]) = self.fields() else { return false };
        // Less one, a zero is greater than all denormal numbers.
        let least_normal = exponent & exponent.wrapping_neg();
        words.iter().fold(0, |found, word| found | u32::from((word & magnitude).wrapping_sub(1) < least_normal - 1))
            != 0
    }
}

/// Value of a half, which `f32` represents.
#[inline(always)]
fn half(bits: u32) -> f32 {
    let magnitude = bits & 0x7fff;
    // The exponent moves from the bias 15 to 127.
    let normal = f32::from_bits((magnitude << 13) + (112 << 23));
    // 2^-24 times an integer of at most 10 bits.
    let denormal = magnitude as i32 as f32 * f32::from_bits((127 - 24) << 23);
    let special = f32::from_bits(magnitude << 13 | 0x7f80_0000);
    let value = if magnitude < 0x400 { denormal } else { normal };
    let value = if magnitude >= 0x7c00 { special } else { value };
    f32::from_bits(value.to_bits() | (bits & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Modes, Shape};

    /// Margins of the filter are at least the certified ones. The results are those of typical
    /// drivers, and results farther and farther away.
    #[test]
    fn quick_margins_are_at_least_the_certain_ones() {
        type Function = fn(f32) -> f32;
        let functions: [(Op, Function); 10] = [
            (Op::Sqrt, f32::sqrt),
            (Op::Tan, |x| core_math::sinf(x) / core_math::cosf(x)),
            (Op::Asin, |x| core_math::atan2f(x, (1.0 - x * x).sqrt())),
            (Op::Acos, |x| core_math::atan2f((1.0 - x * x).sqrt(), x)),
            (Op::Sinh, |x| (core_math::expf(x) - core_math::expf(-x)) * 0.5),
            (Op::Cosh, |x| (core_math::expf(x) + core_math::expf(-x)) * 0.5),
            (Op::Tanh, core_math::tanhf),
            (Op::Asinh, |x| core_math::logf(x + (x * x + 1.0).sqrt())),
            (Op::Acosh, |x| core_math::logf(x + (x * x - 1.0).sqrt())),
            (Op::Atanh, |x| core_math::logf((1.0 + x) / (1.0 - x)) * 0.5),
        ];
        let mut weighed = 0;
        let modes = [Modes::default(), Modes::default().with("RoundingModeRTE").expect("a mode")];
        for ((op, function), modes) in functions.into_iter().flat_map(|f| modes.map(|modes| (f, modes))) {
            let call = Call::new(op, Scalar::Float(F32), Shape::Scalar, None, modes).expect("a call");
            let reference = call.reference();
            let filter = Filter::new(&reference.slots[0]).expect("a filter");
            // Every binade from the least one, on both sides of zero, with fraction bits that
            // differ from one binade to the next.
            for exponent in (0..130u32).chain((130..255).step_by(5)) {
                let (mut operands, mut results) = ([0u32; 8], [0u32; 8]);
                for (i, (operand, result)) in operands.iter_mut().zip(&mut results).enumerate() {
                    let fraction = [0, 1, 0x7f_ffff][exponent as usize % 3] ^ (exponent << 13 & ((i as u32 & 2) << 21));
                    *operand = (i as u32 & 1) << 31 | exponent << 23 | fraction & 0x7f_ffff;
                    let exact = function(f32::from_bits(*operand));
                    *result = (exact * (1.0 + [0.0, 1e-7, 1e-6, 1e-4][i / 2])).to_bits();
                }
                let (operands, results) = (&operands[..], &results[..]);
                let group = filter.group(&[Column::Words(operands)], Column::Words(results), 0, operands.len());
                let paths = [filter.judge_by_inner_bound(&group), filter.judge_by_rule(&group)].into_iter().flatten();
                for (margin, lane) in paths.flat_map(|s| (0..8).map(move |lane| (s.margins[lane], lane))) {
                    if margin.is_nan() || margin.is_sign_negative() || margin > 1.0 {
                        continue;
                    }
                    let (x, got) = (operands[lane], results[lane]);
                    let certain = reference.judge(0, &[x.into()], got.into()).margin.unwrap_or(0.0);
                    assert!(
                        margin >= certain,
                        "{op} of {x:#010x} in {modes} giving {got:#010x}: {margin}, not {certain}"
                    );
                    weighed += 1;
                }
            }
        }
        assert!(weighed > 5_000, "{weighed}");
    }
}
