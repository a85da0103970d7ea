//! Inherited bounds from a single way through the formula, fused into one loop.
//!
//! `E` is the distance of the farthest value that any formula may give, so the distance of *one* value that one formula may
//! give is never more than `E`. [`point`] takes each operation to one end of what it permits, the end that leads away from
//! the exact result: a result within that distance is permitted. It is nearly all of `E`, at the price of one or two evaluations of an
//! elementary function; what it does not decide goes to the whole formula ([`Lanes::formula_point`]).
//!
//! Everything here is in single precision, holds in every rounding mode, and moves inward by [`SLACK`] wherever the arithmetic in `f64`
//! may be off. Denormal operands are for [`takes_denormals`] to allow: a flush may lead where nothing is required. Where it is not clear that something is
//! required, or that nothing is, the bound is a NaN, which decides nothing.

use super::{
    Lanes, Point,
    arithmetic::{Lane, SLACK, flag, greatest, power_of_two},
    unary::{Apply, Fill, Found, above_one},
    way::{GROUP, VARIATION, Way},
};
use crate::{
    Op, Rounding, Rules,
    real::{Bound, Real, divisor_exponent},
};
use assay_float::{F32, kernels};

/// The bound in ULP of an operation that has one, the part that does not depend on the operand, in single precision.
const fn ulps_of(real: Real) -> f64 {
    match real.bound(Rules::Vulkan, false) {
        Bound::Ulps { half_ulps } => half_ulps as f64 / 2.0,
        Bound::UlpsPlusTwiceX { base } => base as f64,
        Bound::Logarithm { ulps, .. } => ulps as f64,
        _ => panic!("its bound is none in ULP"),
    }
}

/// The absolute error of an operation that has one, in single precision.
const fn error_of(real: Real) -> f64 {
    match real.bound(Rules::Vulkan, false) {
        Bound::Trigonometric { exponent } | Bound::Logarithm { exponent, .. } => power_of_two(exponent),
        _ => panic!("its bound is no absolute one"),
    }
}

const DIV_ULPS: f64 = ulps_of(Real::Div);
const INVERSE_SQRT_ULPS: f64 = ulps_of(Real::InverseSqrt);
const ATAN2_ULPS: f64 = ulps_of(Real::Atan2);
const EXP_ULPS: f64 = ulps_of(Real::Exp);
const LOG_ULPS: f64 = ulps_of(Real::Log);
const LOG_ERROR_INSIDE: f64 = error_of(Real::Log);
const SIN_COS_ERROR: f64 = error_of(Real::Sin);

/// The largest divisor for which OpFDiv states a precision.
const LARGEST_DIVISOR: f64 = power_of_two(divisor_exponent(false));

/// `2^-50`: relatively more than two correctly rounded operations on exact operands and a sum may be off in `f64`.
const FINE: f64 = power_of_two(-50);

/// Below this the exponential of an operand is next to one for the format, on the operand's side of it.
const HARDLY: f64 = power_of_two(-30);

/// By how much bounds are moved inward, relatively, so that they hold along a group and not only where they were taken.
const INWARD: f64 = power_of_two(-9);

/// Half a sum or a difference of two exponentials, and the ends of what its formula may give.
#[derive(Clone, Copy)]
struct Halved {
    found: Found,
    low: f64,
    high: f64,
}

/// `2^-48`: far above the absolute error of a logarithm of a quotient or sum near one, far below any bound of one.
const LOG_ERROR: f64 = 1.0 / (1u64 << 48) as f64;

/// Between this and `2^64` it is not clear whether a square overflows.
const SQUARE_FITS: f64 = 1.8e19;
const SQUARE_OVERFLOWS: f64 = 18_446_744_073_709_551_616.0;

/// Below `-2^11.5` the root may be off by more than it exceeds the operand's magnitude.
const ASINH_LOST: f64 = -4096.0;

/// From here on the sum is more than the root may be off by.
const ASINH_KEPT: f64 = -1024.0;

impl<const EITHER: bool, const ALONG: bool> Way<EITHER, ALONG> {
    /// What `OpFDiv` may give, at most and at least, for these quotients of values of the format.
    #[inline(always)]
    fn quotients(self, low: f64, high: f64) -> (f64, f64) {
        let least = -self.above_less(-low, DIV_ULPS * self.ulp_of_end(low), FINE);
        (least, self.above_less(high, DIV_ULPS * self.ulp_of_end(high), FINE))
    }

    /// The ends of what `Exp` may give for `x`, whose exponential is `v`.
    ///
    /// Next to one the bound ends at a value of the format, from which the exact exponential lies away on the side of `x`: the end on that
    /// side is certain without moving inward, and a whole ulp of the few would be lost by it.
    #[inline(always)]
    fn exponentials(self, x: f64, v: f64) -> (f64, f64) {
        let bound = (EXP_ULPS + 2.0 * x.abs()) * self.ulp(above_one(x, v));
        let hardly = x.abs() < HARDLY;
        let (v, way) = if hardly { (1.0, self.varying(0.0)) } else { (v, self) };
        let slack = |away: bool| if hardly & away { 0.0 } else { SLACK };
        (-way.above_less(-v, bound, slack(x < 0.0)), way.above_less(v, bound, slack(x > 0.0)))
    }

    /// The ends of what `Sqrt` may give for a normal operand, by `1.0 / InverseSqrt(x)`, and the exact root.
    #[inline(always)]
    fn roots(self, x: f64) -> (f64, f64, f64) {
        let root = x.sqrt();
        let inverse = 1.0 / root;
        // Of a power of four (as of all sums of one and next to nothing) it is known exactly: nothing is to be moved inward.
        let exact = (root * root == x) & (root.to_bits() << 12 == 0);
        let fine = if exact { 0.0 } else { FINE };
        let bound = INVERSE_SQRT_ULPS * self.ulp_of_end(inverse);
        let (least, most) = (-self.above_less(-inverse, bound, fine), self.above_less(inverse, bound, fine));
        let (low, high) = self.quotients(1.0 / most, 1.0 / least);
        let inward = self.reach(root, SLACK / 4.0 * root, low, high);
        let inward = self.or_half_width(inward, || {
            let inverses = 2.0 * self.half_width(inverse, inverse, 2.0 * bound);
            let apart = 0.5 * inverses * x * (1.0 - VARIATION);
            self.half_width(root - apart, root + apart, 2.0 * DIV_ULPS * self.ulp_of_end(root))
        });
        let (reach, slack) = if exact { (greatest(root - low, high - root), 0.0) } else { (inward, SLACK) };
        // The farther end is one itself; the other is as far from the root.
        let (below, above) = (-self.above_less(-root, reach, slack), self.above_less(root, reach, slack));
        (if low < below { low } else { below }, greatest(high, above), reach)
    }

    #[inline(always)]
    fn log_bound(self, x: f64, log: f64) -> f64 {
        let (ulps, off) = (LOG_ULPS * self.ulp(log), (x - 1.25).abs() - 0.75);
        let unclear = ALONG & (off.abs() < 4.0 * VARIATION);
        let bound = if off <= 0.0 { LOG_ERROR_INSIDE } else { ulps };
        if unclear { f64::NAN } else { bound }
    }

    #[inline(always)]
    fn sqrt(self, x: f64) -> Found {
        let known = if x > 0.0 { x } else { 1.0 };
        let (_, _, reach) = self.varying(2.0 * GROUP).roots(known);
        let value = known.sqrt();
        // Of zero the instruction set names the result.
        let bound = if x == 0.0 { f64::NAN } else { reach };
        Found { value, error: SLACK / 4.0 * value, bound, any: flag(x < 0.0) }
    }

    #[inline(always)]
    fn tan(self, x: f64) -> Found {
        let outside = x.abs() > std::f64::consts::PI;
        let x = if outside { 0.0 } else { x };
        let (sin, cos) = kernels::sin_cos(x);
        let value = sin / cos;
        let magnitude = cos.abs();
        let high = self.above(sin.abs(), SIN_COS_ERROR) / self.below(magnitude, SIN_COS_ERROR);
        let (_, high) = self.quotients(high, high);
        let reach = self.reach(value.abs(), SLACK / 4.0 * value.abs(), value.abs(), high);
        // The cosine may be zero, and a divisor that may be zero opens everything.
        let zero = magnitude < SIN_COS_ERROR * (1.0 - 1e-6);
        // Along a group the cosine must not vary too much.
        let clear = magnitude > if ALONG { 4.0 * VARIATION } else { SIN_COS_ERROR * (1.0 + 1e-6) };
        let bound = if clear { reach } else { f64::NAN };
        Found { value, error: SLACK / 4.0 * value.abs(), bound, any: flag(outside | zero) }
    }

    /// Asin and Acos: 4096 ULP of the angle, less what the roots' own errors may turn it.
    ///
    /// For |x| <= 0.99 the complement `1.0 - x * x`, at least 2^-5.7, is within 2^-23 of the exact one however it is rounded, and `Sqrt`
    /// permits a value within an ulp of its root: relatively 2^-18.3 in all, which turns the angle by no more than that, relatively: 53 of
    /// its 4096 ulp with the one that its own end may be away from a value of the format; 2^-6 of them are 64.
    #[inline(always)]
    fn angle(self, x: f64, arc: impl Fn(f64, f64) -> f64) -> Found {
        let outside = x.abs() > 1.0;
        let known = if outside { 0.0 } else { x };
        let value = arc(known, ((1.0 - known) * (1.0 + known)).sqrt());
        let ulp = self.grid.ulp(value * (1.0 - 1.0 / f64::from(1 << 17)));
        let bound = if known.abs() <= 0.99 { ATAN2_ULPS * (1.0 - 1.0 / 64.0) * ulp } else { f64::NAN };
        Found { value, error: SLACK / 4.0 * value.abs(), bound, any: flag(outside) }
    }

    /// Sinh and Cosh of a magnitude: exact value, error and bound of each, and the exponential.
    #[inline(always)]
    fn hyperbolic(self, a: f64) -> (Halved, Halved, f64) {
        let way = self.varying(2.0 * GROUP * a);
        let up = kernels::exp_moderate(a);
        let down = 1.0 / up;
        let (up_low, up_high) = way.exponentials(a, up);
        let (down_low, down_high) = way.exponentials(-a, down);
        let error = SLACK / 16.0 * up;
        let twice = 2.0 * EXP_ULPS + 4.0 * a * (1.0 - VARIATION);
        let half_width = way.half_width(up, up, twice * way.ulp(above_one(a, up)))
            + way.half_width(down, down, twice * way.ulp(down));
        // A sum that is rounded to nearest may be less than its ends.
        let half_width = if EITHER { half_width } else { f64::NAN };
        let halved = |value: f64, low: f64, high: f64| {
            let (low, high) = (-0.5 * self.up_or_less(-low), 0.5 * self.up_or_less(high));
            let bound = self.or_half_width(self.reach(value, error, low, high), || 0.5 * half_width - 2.0 * error);
            Halved { found: Found { value, error, bound, any: 0.0 }, low, high }
        };
        let sinh = halved(0.5 * (up - down), up_low - down_high, up_high - down_low);
        let cosh = halved(0.5 * (up + down), up_low + down_low, up_high + down_high);
        (sinh, cosh, up)
    }

    /// The ends of what Sinh or Cosh may give: one is the formula's own, the other is as far from the exact value.
    #[inline(always)]
    fn ends(self, Halved { found, low, high }: Halved) -> (f64, f64) {
        let (below, above) = (self.below(found.value, found.bound), self.above(found.value, found.bound));
        (if low < below { low } else { below }, greatest(high, above))
    }

    /// Where the exponential certainly fits, all being well; else nothing is required, or it is not clear.
    #[inline(always)]
    fn unless_overflown(self, x: f64, exponential: f64, found: Found) -> Found {
        let fits = exponential < self.grid.max * (1.0 - 1.0 / 32_768.0);
        let any = flag(exponential > self.grid.max * (1.0 + SLACK));
        let bound = if fits { found.bound } else { f64::NAN };
        Found { value: if x < 0.0 { -found.value } else { found.value }, bound, any, ..found }
    }

    #[inline(always)]
    fn sinh(self, x: f64) -> Found {
        let (sinh, _, exponential) = self.hyperbolic(bounded(x.abs()));
        self.unless_overflown(x, exponential, sinh.found)
    }

    #[inline(always)]
    fn cosh(self, x: f64) -> Found {
        let (_, cosh, exponential) = self.hyperbolic(bounded(x.abs()));
        self.unless_overflown(1.0, exponential, cosh.found)
    }

    #[inline(always)]
    fn tanh(self, x: f64) -> Found {
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
        Found { value: if x < 0.0 { -value } else { value }, error, bound, any }
    }

    /// Asinh and Acosh: `Log(x + Sqrt(x * x + one))`, with the sum's end that leads away from zero, which of a negative operand is the least.
    #[inline(always)]
    fn inverse_hyperbolic(self, x: f64, one: f64, usable: bool, any: bool) -> Found {
        let a = x.abs();
        let overflows = a >= SQUARE_OVERFLOWS;
        let clear = usable & (a < SQUARE_FITS);
        let (x, a) = if clear { (x, a) } else { (2.0, 2.0) };
        let (negative, sign) = (x < 0.0, if x < 0.0 { -1.0 } else { 1.0 });
        // The exact sum, of a negative operand its reciprocal.
        let sum = a + (a * a + one).sqrt();
        let exact = kernels::ln(sum);
        let outward = |way: Self, v: f64| sign * way.up(sign * v);
        let inward = |way: Self, v: f64| -sign * way.up(-sign * v);
        // `1.0 + x * x` and its root vary hardly if the operand is small, and `x * x - 1.0` more than the operand if that is near one.
        let small = if a < 1.0 { a } else { 1.0 };
        let of_square = if one > 0.0 { self.varying(8.0 * GROUP * small * small) } else { self };
        let of_sum = if (one > 0.0) & (x > -1.0) { self.varying(8.0 * GROUP * small) } else { self };
        let (mut least_root, mut greatest_root, _) = of_square.roots(outward(of_square, outward(self, a * a) + one));
        let end = outward(of_sum, if negative { least_root } else { greatest_root } + x);
        // Of a negative operand little is left of the sum; where it may be zero, nothing is required.
        let (lost, known) = (end <= 0.0, end > 0.0);
        let end = if known { end } else { 1.0 };
        let (over, under) = if negative { (end * sum, 1.0) } else { (end, sum) };
        let most = exact + sign * log_of_quotient(over, under);
        let most_bound = self.log_bound(end, most);
        // The other end, by the other root of the same sum: it may be the farther one. A sum that is rounded to nearest is one for all roots,
        // and what is no more than that all along a group is none for this end.
        if ALONG & !EITHER {
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
        Found { value, error, bound, any: flag(any | overflows | (clear & lost)) }
    }

    #[inline(always)]
    fn asinh(self, x: f64) -> Found {
        self.inverse_hyperbolic(x, 1.0, x > if ALONG { ASINH_KEPT } else { ASINH_LOST }, x <= ASINH_LOST)
    }

    #[inline(always)]
    fn acosh(self, x: f64) -> Found {
        self.inverse_hyperbolic(x, -1.0, x > 1.01, x < 1.0)
    }

    #[inline(always)]
    fn atanh(self, x: f64) -> Found {
        let outside = x.abs() > 1.0;
        // Along a group the difference from one must not vary too much.
        let clear = x.abs() < if ALONG { 1.0 - 4.0 * VARIATION } else { 1.0 };
        let x = if clear { x } else { 0.0 };
        let (one_more, one_less) = (1.0 + x, 1.0 - x);
        let exact = 0.5 * kernels::ln(one_more / one_less);
        // Both are at least 2^-6 here along a group, and vary by so much of one.
        let way = self.varying(256.0 * GROUP * x.abs());
        let (divisor_low, divisor_high) = (way.down(one_less), way.up(one_less));
        let (low, high) = way.quotients(way.down(one_more) / divisor_high, way.up(one_more) / divisor_low);
        // The same distributed, which may lead further.
        let (first_low, first_high) = way.quotients(1.0 / divisor_high, 1.0 / divisor_low);
        let (second_low, second_high) = way.quotients(x / divisor_high, x / divisor_low);
        let (sum_low, sum_high) = (way.down(first_low + second_low), way.up(first_high + second_high));
        let (low, high) = (if sum_low < low { sum_low } else { low }, greatest(high, sum_high));
        let log_of = |quotient: f64| 2.0 * exact + log_of_quotient(quotient * one_less, one_more);
        let (least, most) = (log_of(low), log_of(high));
        let error = SLACK / 4.0 * exact.abs() + LOG_ERROR;
        let (least_bound, most_bound) = (self.log_bound(low, least), self.log_bound(high, most));
        let reach = self.reach(exact, error, 0.5 * self.below(least, least_bound), 0.5 * self.above(most, most_bound));
        let reach =
            self.or_half_width(reach, || 0.5 * self.half_width(least, most, least_bound + most_bound) - 2.0 * error);
        let bound = if clear & (low > 0.0) { reach } else { f64::NAN };
        Found { value: exact, error, bound, any: flag(outside) }
    }

    /// Radians and Degrees, the constant's neighbours and the constant given.
    #[inline(always)]
    fn scaled(self, x: f64, (low, constant, high): (f64, f64, f64)) -> Found {
        let a = x.abs();
        let value = a * constant;
        let error = SLACK / 16.0 * value;
        let bound = self.reach(value, error, self.down(a * low), self.up(a * high));
        let fits = value < self.grid.max * (1.0 - 1.0 / 1_048_576.0);
        let any = flag(value > self.grid.max * (1.0 + 1.0 / 1_048_576.0));
        Found { value: if x < 0.0 { -value } else { value }, error, bound: if fits { bound } else { f64::NAN }, any }
    }
}

/// The logarithm of a quotient that is near one, no farther from zero than it is, and off by no more than a few units of `2^-53` otherwise.
///
/// `2 atanh z`, with `z = (over - under) / (over + under)`: every term of its series has the sign of `z`, and what is left out too.
#[inline(always)]
fn log_of_quotient(over: f64, under: f64) -> f64 {
    let z = (over - under) / (over + under);
    let square = z * z;
    2.0 * z * (1.0 + square * (1.0 / 3.0 + 0.2 * square))
}

/// Beyond what the format holds, and far from what `f64` does not.
#[inline(always)]
fn bounded(magnitude: f64) -> f64 {
    if magnitude < 300.0 { magnitude } else { 300.0 }
}

/// Whether nothing is required of a result for any of these operands, by where they lie alone: in a sweep of all operands that is so for
/// whole stretches. (Operands next to the ends of such a stretch are left to the functions above.)
pub(crate) fn requires_nothing(op: Op, mut x: impl Iterator<Item = f64>, lanes: &Lanes<'_>) -> bool {
    if !has_such_rules(lanes) {
        return false;
    }
    // Of a NaN nothing is required either.
    let below = |x: f64| (x < 0.0) | x.is_nan();
    let beyond = |x: f64, limit: f64| (x.abs() > limit) | x.is_nan();
    // Of a denormal that may be flushed, these require as much as of a zero, of which they are not defined or divide by it.
    let flushed = |x: f64| (x != 0.0) & (x < lanes.grid.min_normal);
    match op {
        Op::Log | Op::Log2 | Op::InverseSqrt if lanes.env.flush_operands => x.all(|x| below(x) | flushed(x)),
        Op::Sqrt if lanes.env.flush_inside => x.all(|x| below(x) | flushed(x)),
        Op::Log | Op::Log2 | Op::InverseSqrt | Op::Sqrt => x.all(below),
        Op::Sin | Op::Cos | Op::Tan => x.all(|x| beyond(x, std::f64::consts::PI)),
        Op::Asin | Op::Acos | Op::Atanh => x.all(|x| beyond(x, 1.0)),
        // The exponential overflows, and of Tanh the divisor is beyond what a precision is stated for.
        Op::Sinh | Op::Cosh | Op::Tanh => x.all(|x| beyond(x, 90.0)),
        Op::Asinh => x.all(|x| !(x > ASINH_LOST && x < SQUARE_OVERFLOWS)),
        Op::Acosh => x.all(|x| !(1.0..SQUARE_OVERFLOWS).contains(&x)),
        _ => false,
    }
}

/// Single precision, infinities and NaNs assumed not to occur, by the bounds that this way was made with.
fn has_such_rules(lanes: &Lanes<'_>) -> bool {
    let env = lanes.env;
    env.rules == Rules::Vulkan && env.format == F32 && env.rule == F32 && env.not_inf && env.not_nan
}

/// Whether this way is one for the instruction in the environment.
pub(crate) fn serves(op: Op, lanes: &Lanes<'_>) -> bool {
    let scaled = matches!(op, Op::Radians | Op::Degrees);
    let function = matches!(
        op,
        Op::Sqrt | Op::Tan | Op::Asin | Op::Acos | Op::Sinh | Op::Cosh | Op::Tanh | Op::Asinh | Op::Acosh | Op::Atanh
    );
    // A product that is rounded to nearest has hardly any bound but that.
    let usable = function || scaled && lanes.env.rounding == Rounding::Undeclared;
    usable && has_such_rules(lanes)
}

/// Whether what is required of a denormal operand is no less than of its own value: a zero in its place, anywhere in a formula, is a value
/// like any other, so that what is permitted for the operand as it is remains permitted.
pub(crate) fn takes_denormals(op: Op) -> bool {
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

/// What is done with what is permitted, at least, for operands; denormal ones only if [`takes_denormals`]. `None` for instructions
/// that [`serves`] does not name.
pub(crate) fn with<A: Apply>(op: Op, lanes: &Lanes<'_>, apply: A) -> Option<A::Output> {
    if lanes.env.rounding == Rounding::Undeclared {
        by_way(op, Way::<true, false> { grid: lanes.grid, variation: 0.0 }, apply)
    } else {
        by_way(op, Way::<false, false> { grid: lanes.grid, variation: 0.0 }, apply)
    }
}

/// The same with bounds that hold all along a group: no less is permitted for any of up to [`LANES`] consecutive operands, in the one binade
/// that these begin, if the bounds for their two ends are nearly the same. `None` if the bound follows the result's ulp, or is none for it.
///
/// What moves a bound from one operand to the next are the roundings inside the formula. Here each of them takes as much as it may anywhere in
/// the group, or as much as it does everywhere in it where the value rounded hardly varies; ulps are those of the value nearest to zero. What is
/// left is smooth, and varies relatively about as much as the operands do, 2^-16: by the [`VARIATION`] that is provided for at most, since the
/// few operands for which it may be more (next to a pole, or where little is left of a sum) are left out; bounds are moved [`INWARD`] by more.
pub(crate) fn along<A: Apply>(op: Op, lanes: &Lanes<'_>, apply: A) -> Option<A::Output> {
    if !has_jagged_bound(op) || !serves(op, lanes) {
        return None;
    }
    let variation = VARIATION;
    let inward = Inward(apply);
    if lanes.env.rounding == Rounding::Undeclared {
        by_way(op, Way::<true, true> { grid: lanes.grid, variation }, inward)
    } else {
        by_way(op, Way::<false, true> { grid: lanes.grid, variation }, inward)
    }
}

/// Whether what is permitted changes from one operand to the next as the roundings inside the formula fall.
pub(crate) fn has_jagged_bound(op: Op) -> bool {
    matches!(op, Op::Sqrt | Op::Tan | Op::Sinh | Op::Cosh | Op::Tanh | Op::Asinh | Op::Acosh | Op::Atanh)
}

/// With bounds moved [`INWARD`].
struct Inward<A>(A);

impl<A: Apply> Apply for Inward<A> {
    type Output = A::Output;

    #[inline(always)]
    fn apply(self, function: impl Fn(f64) -> Found) -> A::Output {
        self.0.apply(
            #[inline(always)]
            move |x| {
                let found = function(x);
                Found { bound: found.bound * (1.0 - INWARD), ..found }
            },
        )
    }
}

/// What is permitted, at least, for a lane of operands.
pub(crate) fn point(op: Op, x: &Lane, lanes: &Lanes<'_>) -> Option<Point> {
    with(op, lanes, Fill(x))
}

fn by_way<const EITHER: bool, const ALONG: bool, A: Apply>(
    op: Op,
    way: Way<EITHER, ALONG>,
    apply: A,
) -> Option<A::Output> {
    let around = |constant: f64| (way.grid.floor(constant), constant, way.grid.ceil(constant));
    Some(match op {
        Op::Sqrt => apply.apply(
            #[inline(always)]
            move |x| way.sqrt(x),
        ),
        Op::Tan => apply.apply(
            #[inline(always)]
            move |x| way.tan(x),
        ),
        Op::Asin => apply.apply(
            #[inline(always)]
            move |x| way.angle(x, kernels::atan2),
        ),
        Op::Acos => apply.apply(
            #[inline(always)]
            move |x| {
                way.angle(
                    x,
                    #[inline(always)]
                    |x, y| kernels::atan2(y, x),
                )
            },
        ),
        Op::Sinh => apply.apply(
            #[inline(always)]
            move |x| way.sinh(x),
        ),
        Op::Cosh => apply.apply(
            #[inline(always)]
            move |x| way.cosh(x),
        ),
        Op::Tanh => apply.apply(
            #[inline(always)]
            move |x| way.tanh(x),
        ),
        Op::Asinh => apply.apply(
            #[inline(always)]
            move |x| way.asinh(x),
        ),
        Op::Acosh => apply.apply(
            #[inline(always)]
            move |x| way.acosh(x),
        ),
        Op::Atanh => apply.apply(
            #[inline(always)]
            move |x| way.atanh(x),
        ),
        Op::Radians => {
            let constant = around(std::f64::consts::PI / 180.0);
            apply.apply(
                #[inline(always)]
                move |x| way.scaled(x, constant),
            )
        }
        Op::Degrees => {
            let constant = around(180.0 / std::f64::consts::PI);
            apply.apply(
                #[inline(always)]
                move |x| way.scaled(x, constant),
            )
        }
        _ => return None,
    })
}
