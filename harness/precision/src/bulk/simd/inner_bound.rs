//! Inner (under-) approximation of inherited precision by a single rounding path through the
//! formula, fused into one loop.
//!
//! # Method
//!
//! The permitted error `E` of an inherited precision is the distance of the farthest result of any
//! equivalent formula from the exact result (Vulkan, "Inherited From"). The distance of *one*
//! result that *one* of the formulas may return is therefore at most `E`. [`inner_bounds`]
//! evaluates the formula once and takes each operation to the end of its range that leads away from
//! the exact result. The distance of that result is nearly all of `E`, at the cost of one or two
//! elementary functions. A result that this bound does not permit is left to the whole formula
//! ([`SimdEvaluator::formula_point`]).
//!
//! # Limits
//!
//! Everything here is for single precision under Vulkan's rules with infinities and NaNs assumed
//! not to occur ([`applies_in`]). It holds in every rounding mode and moves every bound inward
//! by [`SLACK`] or a derived amount wherever the arithmetic in `f64` may err. Denormal operands are
//! excluded unless [`allows_denormals`] allows them, because a flushed operand may lead where
//! nothing is required. Where it is unclear whether the specification requires anything, the bound
//! is a NaN, which decides nothing.

use super::{
    LaneBounds, SimdEvaluator,
    arithmetic::{LaneValues, SLACK, flag, greatest, power_of_two},
    rounding_path::{GROUP_VARIATION, MAX_VARIATION, RoundingPath},
    unary::{FillLanes, UnaryOutcome, UnaryVisitor, above_one},
};
use crate::{
    Op, Rounding, Specification,
    bound::divisor_exponent,
    real_op::{Bound, RealOp},
};
use assay_float::{F32, f64_kernels};

/// Bound in ulp of an operation in single precision: the part that does not depend on the operand.
const fn ulps_of(real: RealOp) -> f64 {
    match real.bound(Specification::Vulkan, false) {
        Bound::Ulps { half_ulps } => half_ulps as f64 / 2.0,
        Bound::UlpsPlusTwiceX { base } => base as f64,
        Bound::Logarithm { ulps, .. } => ulps as f64,
        _ => panic!("its bound is none in ULP"),
    }
}

/// Absolute error bound of an operation in single precision.
const fn error_of(real: RealOp) -> f64 {
    match real.bound(Specification::Vulkan, false) {
        Bound::Trigonometric { exponent } | Bound::Logarithm { exponent, .. } => power_of_two(exponent),
        _ => panic!("its bound is no absolute one"),
    }
}

const DIV_ULPS: f64 = ulps_of(RealOp::Div);
const INVERSE_SQRT_ULPS: f64 = ulps_of(RealOp::InverseSqrt);
const ATAN2_ULPS: f64 = ulps_of(RealOp::Atan2);
const EXP_ULPS: f64 = ulps_of(RealOp::Exp);
const LOG_ULPS: f64 = ulps_of(RealOp::Log);
const LOG_ERROR_INSIDE: f64 = error_of(RealOp::Log);
const SIN_COS_ERROR: f64 = error_of(RealOp::Sin);

/// Largest divisor for which the specification states a precision of OpFDiv.
const LARGEST_DIVISOR: f64 = power_of_two(divisor_exponent(false));

/// `2^-50 = 8 u`, `u = 2^-53`: upper bound on the relative error of two correctly rounded `f64`
/// operations on exact operands and one addition.
const FINE: f64 = power_of_two(-50);

/// Operands below this magnitude have an exponential between one and its neighbour in the format,
/// on the operand's side.
const TINY_OPERAND: f64 = power_of_two(-30);

/// Relative amount by which bounds are moved inward, so that a bound that is taken at one operand
/// holds along its group.
const INWARD: f64 = power_of_two(-9);

/// Half a sum or difference of two exponentials, and the ends of its formula's range.
#[derive(Clone, Copy)]
struct HalfSum {
    found: UnaryOutcome,
    low: f64,
    high: f64,
}

/// `2^-48`: far above the absolute error of the `f64` logarithm of a quotient or sum close to one,
/// far below every permitted error of a logarithm.
const LOG_ERROR: f64 = 1.0 / (1u64 << 48) as f64;

/// From this to `2^64` it is unclear whether a square overflows; from `2^64` on it does.
const SQUARE_FITS: f64 = 1.8e19;
const SQUARE_OVERFLOWS: f64 = 18_446_744_073_709_551_616.0;

/// Operands of Asinh at or below this have a root whose permitted error may exceed `Sqrt(x * x +
/// 1.0) + x`, so that the sum may be zero. The sum is about `1 / (2 |x|)`; a relative error of the
/// root of `2^-24`, half an ulp or more, exceeds it from `|x| = 2^11.5` on.
const ASINH_LOST: f64 = -4096.0;

/// Operands of Asinh above this keep a positive sum along a group: the sum exceeds the permitted
/// error of the root.
const ASINH_KEPT: f64 = -1024.0;

impl<const EITHER_NEIGHBOUR: bool, const WHOLE_GROUP: bool> RoundingPath<EITHER_NEIGHBOUR, WHOLE_GROUP> {
    /// Least and greatest value that `OpFDiv` may certainly return for a quotient from `low` to
    /// `high` of values of the format.
    #[inline(always)]
    fn quotients(self, low: f64, high: f64) -> (f64, f64) {
        let least = -self.above_less(-low, DIV_ULPS * self.ulp_of_end(low), FINE);
        (least, self.above_less(high, DIV_ULPS * self.ulp_of_end(high), FINE))
    }

    /// Ends of the range of `Exp` for `x`, whose exponential is `v`.
    ///
    /// For `|x| <` [`TINY_OPERAND`] the bound is a whole number of ulp about one, so that it ends
    /// at a value of the format, and the exact exponential lies away from one on the side of `x`.
    /// The end on that side is therefore certain without moving inward, which would lose a whole
    /// ulp of the few.
    #[inline(always)]
    fn exponentials(self, x: f64, v: f64) -> (f64, f64) {
        let bound = (EXP_ULPS + 2.0 * x.abs()) * self.ulp(above_one(x, v));
        let hardly = x.abs() < TINY_OPERAND;
        let (v, path) = if hardly { (1.0, self.varying(0.0)) } else { (v, self) };
        let slack = |away: bool| if hardly & away { 0.0 } else { SLACK };
        (-path.above_less(-v, bound, slack(x < 0.0)), path.above_less(v, bound, slack(x > 0.0)))
    }

    /// Ends of the range of `Sqrt` for a normal operand, computed as `1.0 / InverseSqrt(x)`, and
    /// the permitted error of the root.
    #[inline(always)]
    fn roots(self, x: f64) -> (f64, f64, f64) {
        let root = x.sqrt();
        let inverse = 1.0 / root;
        // The root of a power of four is exact in `f64`, as is that of any sum that rounds to one:
        // its bounds are not moved inward.
        let exact = (root * root == x) & (root.to_bits() << 12 == 0);
        let fine = if exact { 0.0 } else { FINE };
        let bound = INVERSE_SQRT_ULPS * self.ulp_of_end(inverse);
        let (least, most) = (-self.above_less(-inverse, bound, fine), self.above_less(inverse, bound, fine));
        let (low, high) = self.quotients(1.0 / most, 1.0 / least);
        let inward = self.reach(root, SLACK / 4.0 * root, low, high);
        let inward = self.or_half_width(inward, || {
            let inverses = 2.0 * self.half_width(inverse, inverse, 2.0 * bound);
            let apart = 0.5 * inverses * x * (1.0 - MAX_VARIATION);
            self.half_width(root - apart, root + apart, 2.0 * DIV_ULPS * self.ulp_of_end(root))
        });
        let (reach, slack) = if exact { (greatest(root - low, high - root), 0.0) } else { (inward, SLACK) };
        // The permitted set is symmetric about the root and reaches as far as the farther end.
        let (below, above) = (-self.above_less(-root, reach, slack), self.above_less(root, reach, slack));
        (if low < below { low } else { below }, greatest(high, above), reach)
    }

    #[inline(always)]
    fn log_bound(self, x: f64, log: f64) -> f64 {
        let (ulps, off) = (LOG_ULPS * self.ulp(log), (x - 1.25).abs() - 0.75);
        let unclear = WHOLE_GROUP & (off.abs() < 4.0 * MAX_VARIATION);
        let bound = if off <= 0.0 { LOG_ERROR_INSIDE } else { ulps };
        if unclear { f64::NAN } else { bound }
    }

    #[inline(always)]
    fn sqrt(self, x: f64) -> UnaryOutcome {
        let known = if x > 0.0 { x } else { 1.0 };
        let (_, _, reach) = self.varying(2.0 * GROUP_VARIATION).roots(known);
        let value = known.sqrt();
        // The instruction set names the result for zero.
        let bound = if x == 0.0 { f64::NAN } else { reach };
        UnaryOutcome { value, error: SLACK / 4.0 * value, bound, any: flag(x < 0.0) }
    }

    #[inline(always)]
    fn tan(self, x: f64) -> UnaryOutcome {
        let outside = x.abs() > std::f64::consts::PI;
        let x = if outside { 0.0 } else { x };
        let (sin, cos) = f64_kernels::sin_cos(x);
        let value = sin / cos;
        let magnitude = cos.abs();
        let high = self.above(sin.abs(), SIN_COS_ERROR) / self.below(magnitude, SIN_COS_ERROR);
        let (_, high) = self.quotients(high, high);
        let reach = self.reach(value.abs(), SLACK / 4.0 * value.abs(), value.abs(), high);
        // A cosine whose permitted results include zero makes the divisor possibly zero, which
        // permits anything.
        let zero = magnitude < SIN_COS_ERROR * (1.0 - 1e-6);
        // Along a group the cosine must vary by little.
        let clear = magnitude > if WHOLE_GROUP { 4.0 * MAX_VARIATION } else { SIN_COS_ERROR * (1.0 + 1e-6) };
        let bound = if clear { reach } else { f64::NAN };
        UnaryOutcome { value, error: SLACK / 4.0 * value.abs(), bound, any: flag(outside | zero) }
    }

    /// Asin and Acos: lower bound of 4032 ulp of the angle, which is the 4096 ulp of Atan2 less
    /// `2^-6` of them for the errors of the root.
    ///
    /// Derivation, for `|x| <= 0.99`: `x * x` and `1.0 - x * x` are below one, so that each
    /// rounding, in whatever direction, errs by at most `2^-24`. The complement `1 - x^2` is at
    /// least 0.0199, more than `2^-5.7`. It thus has a relative error of at most `2^-17.3`, and its
    /// root half of that, `2^-18.3`. `Sqrt` permits a value within an ulp of its root, at most
    /// `2^-23` relatively: together less than `2^-18.2`. The angle `atan2(x, r)` with `x^2 + r^2 =
    /// 1` turns by `d |x| r` for a relative error `d` of `r`, which is at most `d` times the angle:
    /// for Asin because the angle is at least `|x|`, for Acos because it is at least its sine `r`.
    /// An error of `2^-18.2` is at most 56 ulp of the angle. One ulp more is provided for the
    /// distance of an end from a value of the format: 57, for which 64 are subtracted. For `|x| >
    /// 0.99` there is no bound here.
    #[inline(always)]
    fn angle(self, x: f64, arc: impl Fn(f64, f64) -> f64) -> UnaryOutcome {
        let outside = x.abs() > 1.0;
        let known = if outside { 0.0 } else { x };
        let value = arc(known, ((1.0 - known) * (1.0 + known)).sqrt());
        let ulp = self.grid.ulp(value * (1.0 - 1.0 / f64::from(1 << 17)));
        let bound = if known.abs() <= 0.99 { ATAN2_ULPS * (1.0 - 1.0 / 64.0) * ulp } else { f64::NAN };
        UnaryOutcome { value, error: SLACK / 4.0 * value.abs(), bound, any: flag(outside) }
    }

    /// Sinh and Cosh of a magnitude, each with its exact value, error, bound and ends, and the
    /// exponential of the magnitude.
    #[inline(always)]
    fn hyperbolic(self, a: f64) -> (HalfSum, HalfSum, f64) {
        let path = self.varying(2.0 * GROUP_VARIATION * a);
        let up = f64_kernels::exp_moderate(a);
        let down = 1.0 / up;
        let (up_low, up_high) = path.exponentials(a, up);
        let (down_low, down_high) = path.exponentials(-a, down);
        let error = SLACK / 16.0 * up;
        let twice = 2.0 * EXP_ULPS + 4.0 * a * (1.0 - MAX_VARIATION);
        let half_width = path.half_width(up, up, twice * path.ulp(above_one(a, up)))
            + path.half_width(down, down, twice * path.ulp(down));
        // A sum that is rounded to nearest may fall short of its ends.
        let half_width = if EITHER_NEIGHBOUR { half_width } else { f64::NAN };
        let halved = |value: f64, low: f64, high: f64| {
            let (low, high) = (-0.5 * self.up_or_less(-low), 0.5 * self.up_or_less(high));
            let bound = self.or_half_width(self.reach(value, error, low, high), || 0.5 * half_width - 2.0 * error);
            HalfSum { found: UnaryOutcome { value, error, bound, any: 0.0 }, low, high }
        };
        let sinh = halved(0.5 * (up - down), up_low - down_high, up_high - down_low);
        let cosh = halved(0.5 * (up + down), up_low + down_low, up_high + down_high);
        (sinh, cosh, up)
    }

    /// Ends of the permitted set of Sinh or Cosh: one is the formula's own end, the other is as far
    /// from the exact value.
    #[inline(always)]
    fn ends(self, HalfSum { found, low, high }: HalfSum) -> (f64, f64) {
        let (below, above) = (self.below(found.value, found.bound), self.above(found.value, found.bound));
        (if low < below { low } else { below }, greatest(high, above))
    }

    /// Result of a hyperbolic function whose exponential may overflow: the bound is kept where the
    /// exponential certainly fits, and `any` is set where it certainly overflows.
    #[inline(always)]
    fn unless_overflown(self, x: f64, exponential: f64, found: UnaryOutcome) -> UnaryOutcome {
        let fits = exponential < self.grid.max * (1.0 - 1.0 / 32_768.0);
        let any = flag(exponential > self.grid.max * (1.0 + SLACK));
        let bound = if fits { found.bound } else { f64::NAN };
        UnaryOutcome { value: if x < 0.0 { -found.value } else { found.value }, bound, any, ..found }
    }

    #[inline(always)]
    fn sinh(self, x: f64) -> UnaryOutcome {
        let (sinh, _, exponential) = self.hyperbolic(bounded(x.abs()));
        self.unless_overflown(x, exponential, sinh.found)
    }

    #[inline(always)]
    fn cosh(self, x: f64) -> UnaryOutcome {
        let (_, cosh, exponential) = self.hyperbolic(bounded(x.abs()));
        self.unless_overflown(1.0, exponential, cosh.found)
    }

    #[inline(always)]
    fn tanh(self, x: f64) -> UnaryOutcome {
        let (sinh, cosh, _) = self.hyperbolic(bounded(x.abs()));
        let ((s_low, s_high), (c_low, c_high)) = (self.ends(sinh), self.ends(cosh));
        let (low, high) = self.quotients(s_low / c_high, s_high / c_low);
        let (sinh, cosh) = (sinh.found, cosh.found);
        let value = sinh.value / cosh.value;
        let error = SLACK / 8.0;
        let fits = cosh.value < LARGEST_DIVISOR * (1.0 - 1.0 / 16_384.0);
        let any = flag(cosh.value > LARGEST_DIVISOR * (1.0 + 1.0 / 1_048_576.0));
        let reach = self.or_half_width(self.reach(value, error, low, high), || {
            let (low, high) = (s_low / c_high, s_high / c_low);
            self.half_width(low, high, 2.0 * DIV_ULPS * self.ulp_of_end(low)) - 2.0 * error
        });
        let bound = if fits { reach } else { f64::NAN };
        UnaryOutcome { value: if x < 0.0 { -value } else { value }, error, bound, any }
    }

    /// Asinh and Acosh, `Log(x + Sqrt(x * x + one))`, with the end of the sum that leads away from
    /// zero. For a negative operand that is the least sum.
    #[inline(always)]
    fn inverse_hyperbolic(self, x: f64, one: f64, usable: bool, any: bool) -> UnaryOutcome {
        let a = x.abs();
        let overflows = a >= SQUARE_OVERFLOWS;
        let clear = usable & (a < SQUARE_FITS);
        let (x, a) = if clear { (x, a) } else { (2.0, 2.0) };
        let (negative, sign) = (x < 0.0, if x < 0.0 { -1.0 } else { 1.0 });
        // The exact sum, or for a negative operand its reciprocal.
        let sum = a + (a * a + one).sqrt();
        let exact = f64_kernels::ln(sum);
        let outward = |path: Self, v: f64| sign * path.up(sign * v);
        let inward = |path: Self, v: f64| -sign * path.up(-sign * v);
        // `1.0 + x * x` and its root hardly vary if the operand is small. `x * x - 1.0` varies more
        // than the operand if the operand is close to one.
        let small = if a < 1.0 { a } else { 1.0 };
        let of_square = if one > 0.0 { self.varying(8.0 * GROUP_VARIATION * small * small) } else { self };
        let of_sum = if (one > 0.0) & (x > -1.0) { self.varying(8.0 * GROUP_VARIATION * small) } else { self };
        let (mut least_root, mut greatest_root, _) = of_square.roots(outward(of_square, outward(self, a * a) + one));
        let end = outward(of_sum, if negative { least_root } else { greatest_root } + x);
        // For a negative operand the sum cancels; where it may be zero, nothing is required.
        let (lost, known) = (end <= 0.0, end > 0.0);
        let end = if known { end } else { 1.0 };
        let (over, under) = if negative { (end * sum, 1.0) } else { (end, sum) };
        let most = exact + sign * log_of_quotient(over, under);
        let most_bound = self.log_bound(end, most);
        // The other end, from the other root of the same sum, may be the farther one. A sum that is
        // rounded to nearest has only one value for all roots, and a lower bound on it along a
        // group is not a bound for this end: the roots are computed again from the other side.
        if WHOLE_GROUP & !EITHER_NEIGHBOUR {
            (least_root, greatest_root, _) = of_square.roots(inward(of_square, inward(self, a * a) + one));
        }
        let end = inward(of_sum, if negative { greatest_root } else { least_root } + x);
        let (over, under) = if negative { (end * sum, 1.0) } else { (end, sum) };
        let least = exact + sign * log_of_quotient(over, under);
        let least_bound = self.log_bound(end, least);
        let error = SLACK / 4.0 * exact + LOG_ERROR;
        let reach = self.reach(exact, error, self.below(least, least_bound), self.above(most, most_bound));
        let reach = self.or_half_width(reach, || self.half_width(least, most, least_bound + most_bound) - 2.0 * error);
        let bound = if clear & known { reach } else { f64::NAN };
        let value = sign * exact;
        UnaryOutcome { value, error, bound, any: flag(any | overflows | (clear & lost)) }
    }

    #[inline(always)]
    fn asinh(self, x: f64) -> UnaryOutcome {
        self.inverse_hyperbolic(x, 1.0, x > if WHOLE_GROUP { ASINH_KEPT } else { ASINH_LOST }, x <= ASINH_LOST)
    }

    #[inline(always)]
    fn acosh(self, x: f64) -> UnaryOutcome {
        self.inverse_hyperbolic(x, -1.0, x > 1.01, x < 1.0)
    }

    #[inline(always)]
    fn atanh(self, x: f64) -> UnaryOutcome {
        let outside = x.abs() > 1.0;
        // Along a group the difference from one must vary by little.
        let clear = x.abs() < if WHOLE_GROUP { 1.0 - 4.0 * MAX_VARIATION } else { 1.0 };
        let x = if clear { x } else { 0.0 };
        let (one_more, one_less) = (1.0 + x, 1.0 - x);
        let exact = 0.5 * f64_kernels::ln(one_more / one_less);
        // Along a group both are at least 2^-6 and vary by `x` times the operand's variation.
        let path = self.varying(256.0 * GROUP_VARIATION * x.abs());
        let (divisor_low, divisor_high) = (path.down(one_less), path.up(one_less));
        let (low, high) = path.quotients(path.down(one_more) / divisor_high, path.up(one_more) / divisor_low);
        // The distributed form `1 / divisor + x / divisor`, whose range may be wider.
        let (first_low, first_high) = path.quotients(1.0 / divisor_high, 1.0 / divisor_low);
        let (second_low, second_high) = path.quotients(x / divisor_high, x / divisor_low);
        let (sum_low, sum_high) = (path.down(first_low + second_low), path.up(first_high + second_high));
        let (low, high) = (if sum_low < low { sum_low } else { low }, greatest(high, sum_high));
        let log_of = |quotient: f64| 2.0 * exact + log_of_quotient(quotient * one_less, one_more);
        let (least, most) = (log_of(low), log_of(high));
        let error = SLACK / 4.0 * exact.abs() + LOG_ERROR;
        let (least_bound, most_bound) = (self.log_bound(low, least), self.log_bound(high, most));
        let reach = self.reach(exact, error, 0.5 * self.below(least, least_bound), 0.5 * self.above(most, most_bound));
        let reach =
            self.or_half_width(reach, || 0.5 * self.half_width(least, most, least_bound + most_bound) - 2.0 * error);
        let bound = if clear & (low > 0.0) { reach } else { f64::NAN };
        UnaryOutcome { value: exact, error, bound, any: flag(outside) }
    }

    /// Radians and Degrees: the operand times a constant, which is given with its two neighbours in
    /// the format.
    #[inline(always)]
    fn scaled(self, x: f64, (low, constant, high): (f64, f64, f64)) -> UnaryOutcome {
        let a = x.abs();
        let value = a * constant;
        let error = SLACK / 16.0 * value;
        let bound = self.reach(value, error, self.down(a * low), self.up(a * high));
        let fits = value < self.grid.max * (1.0 - 1.0 / 1_048_576.0);
        let any = flag(value > self.grid.max * (1.0 + 1.0 / 1_048_576.0));
        UnaryOutcome {
            value: if x < 0.0 { -value } else { value },
            error,
            bound: if fits { bound } else { f64::NAN },
            any,
        }
    }
}

/// Logarithm of a quotient that is close to one, never farther from zero than the exact logarithm
/// apart from rounding errors of a few units of `2^-53`.
///
/// With `z = (over - under) / (over + under)` the logarithm is `2 atanh z = 2 (z + z^3 / 3 + z^5 /
/// 5 + ..)`. The code sums three terms. All terms have the sign of `z`, so that truncation moves
/// the result towards zero, which is inward for the callers.
#[inline(always)]
fn log_of_quotient(over: f64, under: f64) -> f64 {
    let z = (over - under) / (over + under);
    let square = z * z;
    2.0 * z * (1.0 + square * (1.0 / 3.0 + 0.2 * square))
}

/// Clamps a magnitude to 300: beyond the range of the format, far within that of `f64`.
#[inline(always)]
fn bounded(magnitude: f64) -> f64 {
    if magnitude < 300.0 { magnitude } else { 300.0 }
}

/// Returns true if nothing is required of the result for any of these operands, judged by their
/// location alone. In a sweep over all operands this holds for long runs. Operands close to the
/// ends of such a run are left to the functions above.
pub(crate) fn requires_nothing(op: Op, mut x: impl Iterator<Item = f64>, evaluator: &SimdEvaluator<'_>) -> bool {
    if !applies_in(evaluator) {
        return false;
    }
    // Nothing is required for a NaN either.
    let below = |x: f64| (x < 0.0) | x.is_nan();
    let beyond = |x: f64, limit: f64| (x.abs() > limit) | x.is_nan();
    // A denormal that may be flushed counts as zero, for which these functions are undefined or
    // divide by it.
    let flushed = |x: f64| (x != 0.0) & (x < evaluator.grid.min_normal);
    match op {
        Op::Log | Op::Log2 | Op::InverseSqrt if evaluator.env.flush_operands => x.all(|x| below(x) | flushed(x)),
        Op::Sqrt if evaluator.env.flush_inside => x.all(|x| below(x) | flushed(x)),
        Op::Log | Op::Log2 | Op::InverseSqrt | Op::Sqrt => x.all(below),
        Op::Sin | Op::Cos | Op::Tan => x.all(|x| beyond(x, std::f64::consts::PI)),
        Op::Asin | Op::Acos | Op::Atanh => x.all(|x| beyond(x, 1.0)),
        // The exponential overflows; for Tanh the divisor exceeds the range in which OpFDiv has a
        // stated precision.
        Op::Sinh | Op::Cosh | Op::Tanh => x.all(|x| beyond(x, 90.0)),
        Op::Asinh => x.all(|x| !(x > ASINH_LOST && x < SQUARE_OVERFLOWS)),
        Op::Acosh => x.all(|x| !(1.0..SQUARE_OVERFLOWS).contains(&x)),
        _ => false,
    }
}

/// Returns true if the format, the rules and the float controls are the ones that the bounds here
/// are derived for: single precision under Vulkan, infinities and NaNs assumed not to occur.
fn applies_in(evaluator: &SimdEvaluator<'_>) -> bool {
    let env = evaluator.env;
    env.specification == Specification::Vulkan
        && env.format == F32
        && env.bound_format == F32
        && env.not_inf
        && env.not_nan
}

/// Returns true if the instruction has an inner approximation in the environment.
pub(crate) fn has_inner_bound(op: Op, evaluator: &SimdEvaluator<'_>) -> bool {
    let scaled = matches!(op, Op::Radians | Op::Degrees);
    let function = matches!(
        op,
        Op::Sqrt | Op::Tan | Op::Asin | Op::Acos | Op::Sinh | Op::Cosh | Op::Tanh | Op::Asinh | Op::Acosh | Op::Atanh
    );
    // A product that is rounded to nearest permits hardly more than its own error.
    let usable = function || scaled && evaluator.env.rounding == Rounding::Undeclared;
    usable && applies_in(evaluator)
}

/// Returns true if flushing a denormal operand never leads where nothing is required. A zero in its
/// place is then an ordinary value anywhere in the formula, so that every result permitted for the
/// operand itself remains permitted.
pub(crate) fn allows_denormals(op: Op) -> bool {
    matches!(
        op,
        Op::Tan
            | Op::Asin
            | Op::Acos
            | Op::Sinh
            | Op::Cosh
            | Op::Tanh
            | Op::Asinh
            | Op::Atanh
            | Op::Radians
            | Op::Degrees
    )
}

/// Applies the function of permitted errors for single operands. Denormal operands need
/// [`allows_denormals`]. `None` for instructions that [`has_inner_bound`] excludes.
pub(crate) fn visit_inner_bound<A: UnaryVisitor>(
    op: Op,
    evaluator: &SimdEvaluator<'_>,
    visitor: A,
) -> Option<A::Output> {
    if evaluator.env.rounding == Rounding::Undeclared {
        visit_path(op, RoundingPath::<true, false> { grid: evaluator.grid, variation: 0.0 }, visitor)
    } else {
        visit_path(op, RoundingPath::<false, false> { grid: evaluator.grid, variation: 0.0 }, visitor)
    }
}

/// Applies the function of permitted errors that hold along a group: a lower bound for each of up
/// to [`LANES`] consecutive operands in the binade that starts with the given one, provided that
/// the bounds at the two ends of the group are nearly equal. `None` if the bound follows the
/// result's ulp, or if the instruction has no inner approximation.
///
/// Only the roundings inside the formula make a bound jump from one operand to the next. Here each
/// rounding contributes the least that it contributes anywhere in the group, or its actual amount
/// where the rounded value hardly varies; ulps are those of the value closest to zero. The
/// remaining function is smooth. Its relative variation is about that of the operands, 2^-16.
/// Intermediate values are provided for up to [`MAX_VARIATION`], 2^-8; operands for which they vary
/// by more (close to a pole, or where a sum cancels) have no bound.
///
/// The caller takes the smaller bound of the two ends of the group. A function whose total
/// variation along the group is at most 2^-8 dips below that by at most half of it, 2^-9, by which
/// bounds are moved inward ([`INWARD`]). That the total variation stays below 2^-8 is not derived:
/// the tests of the quadratic filter check the bounds of the groups operand by operand.
pub(crate) fn visit_group_bound<A: UnaryVisitor>(
    op: Op,
    evaluator: &SimdEvaluator<'_>,
    visitor: A,
) -> Option<A::Output> {
    if !has_jagged_bound(op) || !has_inner_bound(op, evaluator) {
        return None;
    }
    let variation = MAX_VARIATION;
    let inward = InwardBounds(visitor);
    if evaluator.env.rounding == Rounding::Undeclared {
        visit_path(op, RoundingPath::<true, true> { grid: evaluator.grid, variation }, inward)
    } else {
        visit_path(op, RoundingPath::<false, true> { grid: evaluator.grid, variation }, inward)
    }
}

/// Returns true if the permitted error jumps from one operand to the next with the roundings inside
/// the formula.
pub(crate) fn has_jagged_bound(op: Op) -> bool {
    matches!(op, Op::Sqrt | Op::Tan | Op::Sinh | Op::Cosh | Op::Tanh | Op::Asinh | Op::Acosh | Op::Atanh)
}

/// Moves bounds inward by [`INWARD`].
struct InwardBounds<A>(A);

impl<A: UnaryVisitor> UnaryVisitor for InwardBounds<A> {
    type Output = A::Output;

    #[inline(always)]
    fn visit(self, function: impl Fn(f64) -> UnaryOutcome) -> A::Output {
        self.0.visit(
            #[inline(always)]
            move |x| {
                let found = function(x);
                UnaryOutcome { bound: found.bound * (1.0 - INWARD), ..found }
            },
        )
    }
}

/// Permitted results for a lane of operands, as an inner approximation.
pub(crate) fn inner_bounds(op: Op, x: &LaneValues, evaluator: &SimdEvaluator<'_>) -> Option<LaneBounds> {
    visit_inner_bound(op, evaluator, FillLanes(x))
}

fn visit_path<const EITHER_NEIGHBOUR: bool, const WHOLE_GROUP: bool, A: UnaryVisitor>(
    op: Op,
    path: RoundingPath<EITHER_NEIGHBOUR, WHOLE_GROUP>,
    visitor: A,
) -> Option<A::Output> {
    let around = |constant: f64| (path.grid.floor(constant), constant, path.grid.ceil(constant));
    Some(match op {
        Op::Sqrt => visitor.visit(
            #[inline(always)]
            move |x| path.sqrt(x),
        ),
        Op::Tan => visitor.visit(
            #[inline(always)]
            move |x| path.tan(x),
        ),
        Op::Asin => visitor.visit(
            #[inline(always)]
            move |x| path.angle(x, f64_kernels::atan2),
        ),
        Op::Acos => visitor.visit(
            #[inline(always)]
            move |x| {
                path.angle(
                    x,
                    #[inline(always)]
                    |x, y| f64_kernels::atan2(y, x),
                )
            },
        ),
        Op::Sinh => visitor.visit(
            #[inline(always)]
            move |x| path.sinh(x),
        ),
        Op::Cosh => visitor.visit(
            #[inline(always)]
            move |x| path.cosh(x),
        ),
        Op::Tanh => visitor.visit(
            #[inline(always)]
            move |x| path.tanh(x),
        ),
        Op::Asinh => visitor.visit(
            #[inline(always)]
            move |x| path.asinh(x),
        ),
        Op::Acosh => visitor.visit(
            #[inline(always)]
            move |x| path.acosh(x),
        ),
        Op::Atanh => visitor.visit(
            #[inline(always)]
            move |x| path.atanh(x),
        ),
        Op::Radians => {
            let constant = around(std::f64::consts::PI / 180.0);
            visitor.visit(
                #[inline(always)]
                move |x| path.scaled(x, constant),
            )
        }
        Op::Degrees => {
            let constant = around(180.0 / std::f64::consts::PI);
            visitor.visit(
                #[inline(always)]
                move |x| path.scaled(x, constant),
            )
        }
        _ => return None,
    })
}
