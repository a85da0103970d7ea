//! Results that are judged by their distance from a real number.

use super::{Evaluation, FLOORED, has_infinity};
use crate::{
    Op, Specification, display,
    environment::Environment,
    float8::{self, OverflowPolicy},
    formula::Formula,
    formula_range::FormulaRange,
    rank_interval::{RankInterval, Stop},
    real_op::RealOp,
    real_range::PointBound,
    result_slot::ResultRule,
    special_values, undefined_operands,
};
use assay_float::{Dyadic, Enclosure, EnclosureQuery, F16, RankRange, Set, Undecided, decide};
use smallvec::SmallVec;
use std::cmp::Ordering;

const LOG_ONE: &str = "the instruction set gives Log(1) and Log2(1) as 0, the table an absolute error";
const OF_INFINITY: &str =
    "the instruction set names the result of an infinity, of which the table of Vulkan states no precision";
const SQRT_ZERO: &str = "the formula of Sqrt divides by zero for zero, the instruction set gives zero";

impl Evaluation<'_> {
    /// Values that the rule permits for operands with exactly these finite bits, before the
    /// environment is applied to the result. The second value is true if the infinitely precise
    /// result is non-zero and below the smallest normal in magnitude.
    pub(crate) fn rule_results(&self, x: &[u64]) -> Result<(Set, bool), Stop> {
        if let Some(reason) = undefined_operands::undefined(self.slot, x) {
            return Err(Stop::Anything(reason));
        }
        if let Some((doubt, set)) = self.named_result(x) {
            if !self.lenient {
                return Ok((set, false));
            }
            self.doubt.set(Some(doubt));
        }
        let found = self.ask(x);
        Ok((self.with_named(self.with_zero_sign(found.range?, x), x), found.tiny))
    }

    /// Permitted results that are judged by their distance from a real number, and the margin of
    /// the given one.
    pub(super) fn real_results(&self, x: &[u64]) -> (Set, Option<f64>) {
        let slot = self.slot;
        let env = &slot.env;
        if let Some(reason) = undefined_operands::undefined(slot, x) {
            return self.anything(reason);
        }
        if let Some((doubt, set)) = self.named_result(x) {
            if !self.lenient {
                self.derivation
                    .note(|| format!("the instruction set names the result: {}", display::set(&set, env.format)));
                self.note_exact(&set, env.format);
                return self.with_discrete_margin(self.finish(set, false));
            }
            self.doubt.set(Some(doubt));
        }
        if let Some(set) = special_values::special_result(slot, x) {
            self.derivation.note(|| "IEEE 754 gives an infinity, a NaN or a zero here".into());
            let assumed_away = env.not_nan && set.has_nan() || env.not_inf && has_infinity(&set, env.format);
            return self.with_discrete_margin(if assumed_away { Set::anything() } else { self.finish(set, false) });
        }
        let RealAnswer { range, tiny, exact, margin } = self.ask(x);
        let interval = match range {
            Ok(interval) => interval,
            Err(Stop::AnyNumber(reason)) => {
                self.derivation.note(|| format!("{reason}: any value but a NaN is permitted"));
                return (Set::range(env.format.neg_infinity(), env.format.infinity()), None);
            }
            Err(Stop::Anything(reason)) => return self.anything(reason),
            Err(Stop::Undecided) => unreachable!("decided"),
        };
        // The exact result for the operands as they are, not for zeros in their place.
        self.exact.set(self.exact.take().or(exact));
        let set = self.with_named(self.with_zero_sign(interval, x), x);
        let set = match self.half(x) {
            // An unpacked denormal half becomes a normal single: flushing applies to the half.
            Some(half) => self.flush(set, F16.is_denormal(half), env.flush_results),
            None => self.finish(set, tiny),
        };
        let margin = margin.map(|m| match self.got.is_some_and(|got| self.holds(&set, got)) {
            // Permitted by a flush or an overflow rather than by the bound.
            true if m > 1.0 => 0.0,
            // The neighbour that the rounding mode does not give.
            false if m <= 1.0 => f64::INFINITY,
            _ => m,
        });
        (set, margin)
    }

    /// Evaluates the real result of operands with exactly these bits.
    fn ask(&self, x: &[u64]) -> RealAnswer {
        let env = self.environment();
        let formulas = match &self.slot.rule {
            ResultRule::Formula(formula) => {
                let format = env.format;
                let operands: SmallVec<[RankInterval; 8]> =
                    x.iter().map(|&bits| RankInterval::point(format.rank(bits))).collect();
                let found = match x.iter().all(|&bits| format.is_finite(bits)) {
                    true => formula.finite_hull(&operands, &env, self.derivation),
                    false => Err(formula.overflown(&operands, &env)),
                };
                match found {
                    Ok(found) => Some((formula, found)),
                    Err(stop) => return RealAnswer { range: Err(stop), tiny: false, exact: None, margin: None },
                }
            }
            ResultRule::Discrete(_)
            | ResultRule::Real(_)
            | ResultRule::Unpack { .. }
            | ResultRule::UnpackHalf
            | ResultRule::Measured => None,
        };
        decide(&RealQuery { evaluation: self, x, env, formulas, mark: self.derivation.mark() })
    }

    /// Result that the instruction set names where the rule of the table differs or is silent, and
    /// the doubt.
    fn named_result(&self, x: &[u64]) -> Option<(&'static str, Set)> {
        let slot = self.slot;
        let format = slot.env.format;
        if slot.env.specification == Specification::Wgsl {
            return None;
        }
        let (greatest, least) = (x[0] == format.infinity() as u64, format.is_infinite(x[0]));
        let infinity = || Set::point(format.infinity());
        match slot.op {
            Op::Log | Op::Log2 if x[0] == format.rank_of_one() as u64 => Some((LOG_ONE, Set::point(0))),
            Op::Sqrt if format.is_zero(x[0]) => Some((SQRT_ZERO, Set::point(format.rank(x[0])))),
            Op::Exp | Op::Exp2 | Op::Log | Op::Log2 | Op::Sqrt if greatest => Some((OF_INFINITY, infinity())),
            Op::InverseSqrt if greatest => Some((OF_INFINITY, Set::point(0))),
            Op::Exp | Op::Exp2 if least => Some((OF_INFINITY, Set::point(0))),
            _ => None,
        }
    }

    /// The range as a set, with the sign of an exact zero and of Atan2 at its cut as in IEEE 754.
    fn with_zero_sign(&self, interval: RankInterval, x: &[u64]) -> Set {
        let slot = self.slot;
        let set = Set::range(interval.lo, interval.hi);
        if special_values::at_cut(slot, x) {
            let mirrored = Set::range(interval.neg().lo, interval.neg().hi);
            return match (slot.env.nsz, slot.env.format.is_negative(x[0])) {
                (true, _) => {
                    self.derivation.note(|| "the sign of a zero y is free, and with it the side of the cut".into());
                    let mut both = set;
                    both.union_with(&mirrored);
                    both
                }
                (false, true) => mirrored,
                (false, false) => set,
            };
        }
        match special_values::zero_sign(slot, x) {
            Some(negative) if interval == RankInterval::ZERO && !slot.env.nsz => {
                Set::point(if negative { -1 } else { 0 })
            }
            _ => set,
        }
    }

    /// The set with results that the instruction set permits in addition to the rule.
    fn with_named(&self, mut set: Set, x: &[u64]) -> Set {
        let slot = self.slot;
        if matches!(slot.rule, ResultRule::Real(RealOp::Ldexp))
            && (x[1] as u32).cast_signed() < slot.env.format.min_normal_exponent()
        {
            self.derivation.note(|| "an exponent below the smallest normal's may flush the result to zero".into());
            set.insert(RankRange::new(-1, 0));
        }
        if self.may_floor_a_zero() && slot.env.format.is_denormal(x[0]) && slot.env.format.is_negative(x[0]) {
            self.doubt.set(Some(FLOORED));
            set.insert(RankRange::point(slot.env.format.rank(x[0])));
        }
        set
    }

    /// Returns true if `fract` may flush the operand of its floor and not the operand of its
    /// subtraction.
    pub(crate) fn may_floor_a_zero(&self) -> bool {
        self.lenient
            && self.slot.env.specification == Specification::Wgsl
            && matches!(self.slot.rule, ResultRule::Real(RealOp::Fract))
    }
}

/// Question about the real result of one evaluation.
struct RealQuery<'a> {
    evaluation: &'a Evaluation<'a>,
    x: &'a [u64],
    env: Environment,
    /// Formula, and the hull of its results and those of its equivalents.
    formulas: Option<(&'a Formula, FormulaRange)>,
    mark: (usize, usize),
}

/// Answer to [`RealQuery`].
struct RealAnswer {
    /// Permitted values, before the environment is applied to the result.
    range: Result<RankInterval, Stop>,
    tiny: bool,
    exact: Option<String>,
    margin: Option<f64>,
}

impl EnclosureQuery for RealQuery<'_> {
    type Answer = RealAnswer;

    fn evaluate<R: Enclosure>(&self, precision: R::Precision) -> Result<RealAnswer, Undecided> {
        self.evaluation.derivation.rewind(self.mark);
        match self.point::<R>(precision).and_then(|point| Ok(self.describe(point, precision)?)) {
            Ok(found) => Ok(found),
            Err(Stop::Undecided) => Err(Undecided),
            Err(stop) => Ok(RealAnswer { range: Err(stop), tiny: false, exact: None, margin: None }),
        }
    }
}

impl RealQuery<'_> {
    fn point<R: Enclosure>(&self, precision: R::Precision) -> Result<PointBound<R>, Stop> {
        let RealQuery { evaluation, x, env, .. } = self;
        let slot = evaluation.slot;
        let constant = |value| R::exact(value, precision);
        let values = || -> SmallVec<[R; 8]> { (0..x.len()).map(|i| constant(slot.value(x, i))).collect() };
        if let Some((formula, found)) = self.formulas {
            return formula.around(&values(), found, env, precision, evaluation.derivation);
        }
        match &slot.rule {
            ResultRule::Unpack { signed, width } => {
                let k = Dyadic::int((1i64 << (width - u32::from(*signed))) - 1);
                let bits = slot.part(x[0], *width);
                let value =
                    if *signed { (bits << (64 - width)).cast_signed() >> (64 - width) } else { bits.cast_signed() };
                // WGSL defines the least pattern as `max(v / k, -1)` and states an error of that;
                // Vulkan clamps the result.
                let wgsl = env.specification == Specification::Wgsl;
                let value = if wgsl && *signed { value.max(1 - (1i64 << (width - 1))) } else { value };
                let mut point = RealOp::Unpack.point(&[constant(Dyadic::int(value)), constant(k)], env, precision)?;
                if *signed && !wgsl {
                    let one = env.format.rank_of_one();
                    let clamp = |rank: i64| rank.clamp(-1 - one, one);
                    point.interval = RankInterval { lo: clamp(point.interval.lo), hi: clamp(point.interval.hi) };
                }
                Ok(point)
            }
            ResultRule::UnpackHalf => {
                let value = F16.value(slot.part(x[0], 16)).unwrap_or(Dyadic::ZERO);
                RealOp::Convert.point(&[constant(value)], env, precision)
            }
            ResultRule::Real(real) => {
                let point = real.point(&values(), env, precision)?;
                if slot.overflow_policy.is_none_or(|overflow_policy| overflow_policy == OverflowPolicy::Largest)
                    || !float8::is_out_of_range(&point.exact, env.format, precision)?
                {
                    return Ok(point);
                }
                if evaluation.lenient {
                    evaluation.doubt.set(Some(float8::ROUNDED_DOWN));
                    return Ok(point);
                }
                let positive = point.interval.hi >= env.format.infinity();
                let rank = if positive { env.format.infinity() } else { env.format.neg_infinity() };
                Ok(PointBound { interval: RankInterval::point(rank), ..point })
            }
            ResultRule::Discrete(_) | ResultRule::Formula(_) | ResultRule::Measured => {
                unreachable!("not judged by distance")
            }
        }
    }

    fn describe<R: Enclosure>(&self, point: PointBound<R>, precision: R::Precision) -> Result<RealAnswer, Undecided> {
        let RealQuery { evaluation, x, env, .. } = self;
        let PointBound { interval, exact, bound } = point;
        let format = env.format;
        let magnitude = exact.abs();
        let edge = format.min_normal();
        // The exact result can only be tiny if the range comes close to the denormals.
        let tiny = interval.lo <= edge
            && interval.hi >= -1 - edge
            && magnitude.compare(&R::exact(Dyadic::ZERO, precision))? == Ordering::Greater
            && magnitude.compare(&R::exact(Dyadic::pow2(format.min_normal_exponent()), precision))? == Ordering::Less;
        let margin = evaluation.got.filter(|&got| format.is_finite(got)).map(|got| {
            // Results on both sides of Atan2's cut are equally far from their own exact value.
            let got = if special_values::at_cut(evaluation.slot, x) { got & format.magnitude_mask() } else { got };
            let value = format.value(got).unwrap_or(Dyadic::ZERO);
            let error = exact.sub(&R::exact(value, precision)).abs().approximate();
            if error == 0.0 { 0.0 } else { error / bound.approximate() }
        });
        let described = evaluation.derivation.is_recording().then(|| exact.decimal(25));
        evaluation.derivation.note(|| {
            let limit = match evaluation.slot.is_rounded() {
                true => "correctly rounded".to_owned(),
                false => format!("error of at most {}", bound.decimal(6)),
            };
            format!("exact value {}, {limit}: {}", exact.decimal(25), display::interval(interval, format))
        });
        Ok(RealAnswer { range: Ok(interval), tiny, exact: described, margin })
    }
}
