//! Permitted ranges of operations that are real functions.
//!
//! [`RealOp::point`] gives the exact range for operands that are single values, [`RealOp::cover`] a
//! superset of the ranges for operands in intervals.

use crate::{
    Modes, Rounding, Specification,
    bound::divisor_exponent,
    environment::Environment,
    lists::Lists,
    rank_interval::{RankInterval, Stop, convert_rank},
    real_op::{Bound, RealOp},
    wgsl::wgsl_bounds,
};
use assay_float::{Dyadic, Enclosure, EnclosureQuery, Format, Function, Rank, Undecided, decide};
use std::cmp::Ordering;

impl RealOp {
    /// Infinitely precise result for operands in these enclosures (points for single values).
    ///
    /// # Errors
    /// `Stop::Anything` if the result is not mathematically defined, or nothing is required, for
    /// some of the operands.
    pub(crate) fn exact<R: Enclosure>(self, x: &[R], env: &Environment, precision: R::Precision) -> Result<R, Stop> {
        let constant = |value| R::exact(value, precision);
        let zero = || constant(Dyadic::ZERO);
        Ok(match self {
            RealOp::Add => x[0].add(&x[1]),
            RealOp::Sub => x[0].sub(&x[1]),
            RealOp::Mul => x[0].mul(&x[1]),
            RealOp::Fma => x[0].mul(&x[1]).add(&x[2]),
            RealOp::Difference => x[1].sub(&x[0]),
            RealOp::Dot => {
                let (a, b) = x.split_at(x.len() / 2);
                a.iter().zip(b).fold(zero(), |sum, (a, b)| sum.add(&a.mul(b)))
            }
            RealOp::Width => x[1].sub(&x[0]).abs().add(&x[2].sub(&x[0]).abs()),
            // The exponent of Ldexp is given as the power of two itself.
            RealOp::Ldexp => x[0].mul(&x[1]),
            RealOp::FromInt | RealOp::Convert | RealOp::PackHalf => x[0].clone(),
            RealOp::Fract => x[0].rem_floor(&constant(Dyadic::ONE))?,
            // The largest value of a normalised integer lies in every range of divisors.
            RealOp::Unpack => x[0].div(&x[1])?,
            RealOp::Div => {
                let magnitude = x[1].abs();
                let e = divisor_exponent(env.half_column());
                if holds_zero(&x[1], &zero())? {
                    return Err(Stop::Anything("the divisor may be zero, and infinities need not be preserved"));
                }
                let below = magnitude.lower().compare(&constant(Dyadic::pow2(-e)))? == Ordering::Less;
                let above = magnitude.upper().compare(&constant(Dyadic::pow2(e)))? == Ordering::Greater;
                if below || above {
                    return Err(Stop::Anything(
                        "the divisor may lie outside the range for which a precision is stated",
                    ));
                }
                x[0].div(&x[1])?
            }
            RealOp::Exp => x[0].function(Function::Exp)?,
            RealOp::Exp2 => x[0].function(Function::Exp2)?,
            RealOp::Log | RealOp::Log2 | RealOp::InverseSqrt => {
                if x[0].lower().compare(&zero())? != Ordering::Greater {
                    return Err(Stop::Anything("the operand may be zero or below, where the function is not defined"));
                }
                x[0].function(match self {
                    RealOp::Log => Function::Ln,
                    RealOp::Log2 => Function::Log2,
                    _ => Function::InverseSqrt,
                })?
            }
            RealOp::Sin | RealOp::Cos => {
                if x[0].abs().upper().compare(&R::pi(precision))? == Ordering::Greater {
                    return Err(Stop::Anything("the operand may lie outside [-pi, pi], where no precision is stated"));
                }
                x[0].function(if self == RealOp::Sin { Function::Sin } else { Function::Cos })?
            }
            RealOp::Atan => x[0].function(Function::Atan)?,
            RealOp::Atan2 => {
                if holds_zero(&x[0], &zero())? && holds_zero(&x[1], &zero())? {
                    return Err(Stop::Anything("both operands may be zero, where Atan2 is undefined"));
                }
                if env.specification == Specification::Wgsl {
                    in_wgsl_range(x, env, precision)?;
                }
                x[0].atan2(&x[1])?
            }
        })
    }

    /// Permitted results for operands with exactly these values.
    pub(crate) fn point<R: Enclosure>(
        self,
        x: &[R],
        env: &Environment,
        precision: R::Precision,
    ) -> Result<PointBound<R>, Stop> {
        let exact = self.exact(x, env, precision)?;
        let constant = |value| R::exact(value, precision);
        let in_ulps = |n: R| -> Result<R, Stop> { Ok(n.mul(&ulp(&exact, env, precision)?)) };
        let bound = match self.bound(env.specification, env.half_column()) {
            Bound::Rounded => return rounded(exact, env, env.rounding, precision),
            Bound::Either => return rounded(exact, env, Rounding::Undeclared, precision),
            Bound::Ulps { half_ulps } => in_ulps(constant(Dyadic::new(false, half_ulps.into(), -1)))?,
            Bound::UlpsPlusTwiceX { base } => {
                let twice = x[0].abs().mul(&constant(Dyadic::int(2)));
                in_ulps(constant(Dyadic::int(base.into())).add(&twice))?
            }
            Bound::Logarithm { ulps, exponent, strict } => {
                let inside = x[0].compare(&constant(Dyadic::pow2(-1)))? != Ordering::Less
                    && x[0].compare(&constant(Dyadic::int(2)))? != Ordering::Greater;
                if inside {
                    let bound = constant(Dyadic::pow2(exponent));
                    return Ok(within(exact, bound, strict, env, precision)?);
                }
                in_ulps(constant(Dyadic::int(ulps.into())))?
            }
            Bound::Trigonometric { exponent } => constant(Dyadic::pow2(exponent)),
        };
        Ok(within(exact, bound, false, env, precision)?)
    }

    /// Superset of the permitted results for all operands in these enclosures.
    ///
    /// Let `n` be the number of ulp. The lower end is the least value of `v - n ulp(v)` over the
    /// exact results `v`, or `v` less the absolute error. For negative `v` it is taken at the
    /// lowest `v`. For positive `v` the function rises with `v` except just above a power of two
    /// `2^k`, where the ulp doubles. If `n epsilon < 1`, the values there increase with `k`, so
    /// that the minimum is at the lowest `v` or just above the first power of two above it. If `n
    /// epsilon >= 1`, the ulp of the largest magnitude serves. The upper end is symmetric.
    pub(crate) fn cover<R: Enclosure>(
        self,
        x: &[R],
        env: &Environment,
        precision: R::Precision,
    ) -> Result<RankInterval, Stop> {
        let exact = self.exact(x, env, precision)?;
        let constant = |value| R::exact(value, precision);
        let (none, bound) = (constant(Dyadic::ZERO), self.bound(env.specification, env.half_column()));
        // Number of ulp and absolute error. If both may apply, the greater one counts.
        let (ulps, absolute) = match bound {
            Bound::Rounded | Bound::Either => (constant(Dyadic::ONE), none.clone()),
            Bound::Ulps { half_ulps } => (constant(Dyadic::new(false, half_ulps.into(), -1)), none.clone()),
            Bound::UlpsPlusTwiceX { base } => {
                let twice = x[0].abs().upper().mul(&constant(Dyadic::int(2)));
                (constant(Dyadic::int(base.into())).add(&twice).upper(), none.clone())
            }
            Bound::Logarithm { ulps, exponent, strict: _ } => {
                let (half, two) = (constant(Dyadic::pow2(-1)), constant(Dyadic::int(2)));
                let (lower, upper) = (x[0].lower(), x[0].upper());
                let outside = upper.compare(&half)? == Ordering::Less || lower.compare(&two)? == Ordering::Greater;
                let inside = lower.compare(&half)? != Ordering::Less && upper.compare(&two)? != Ordering::Greater;
                let ulps = if inside { none.clone() } else { constant(Dyadic::int(ulps.into())) };
                (ulps, if outside { none.clone() } else { constant(Dyadic::pow2(exponent)) })
            }
            Bound::Trigonometric { exponent } => (none.clone(), constant(Dyadic::pow2(exponent))),
        };
        let largest = exact.abs().upper();
        let epsilon = constant(Dyadic::pow2(-(env.bound_format.fraction_bits as i32)));
        let grows = ulps.mul(&epsilon).compare(&constant(Dyadic::ONE))? == Ordering::Less;
        // Reach of the bound below `end`, if all members are at or above it.
        let reach = |end: &R| -> Result<R, Stop> {
            let at_end = ulps.mul(&ulp(end, env, precision)?);
            let by_ulps = if end.compare(&none)? == Ordering::Less {
                at_end
            } else if grows {
                // `v - n ulp(v)` rises with `v` except just above a power of two, where the ulp
                // doubles. The first of these drops is the deepest.
                let tiny =
                    end.compare(&constant(Dyadic::pow2(env.bound_format.min_normal_exponent())))? != Ordering::Greater;
                let binade = if tiny { env.bound_format.min_normal_exponent() } else { end.binade()? };
                let power = constant(Dyadic::pow2(binade + 1));
                if largest.compare(&power)? == Ordering::Greater {
                    let drop =
                        end.sub(&power).add(&ulps.mul(&ulp(&constant(Dyadic::pow2(binade + 2)), env, precision)?));
                    at_end.max(&drop)
                } else {
                    at_end
                }
            } else {
                ulps.mul(&ulp(&largest, env, precision)?)
            };
            Ok(by_ulps.max(&absolute).upper())
        };
        // Values strictly between the ends of the enclosure stay so: next to an end that is not a
        // member, a value may be excluded.
        let down = exact.sub(&reach(&exact.lower())?);
        let up = exact.add(&reach(&exact.upper().neg())?);
        let (lo, hi) = (down.member_ranks(env.format).0, up.member_ranks(env.format).1);
        let (least, greatest) = (down.lower(), up.upper());
        Ok(overflow(lo, hi, &least, &greatest, env)?)
    }
}

/// Permitted results for operands with exactly known values.
#[derive(Clone, Debug)]
pub(crate) struct PointBound<R> {
    /// Permitted values.
    pub(crate) interval: RankInterval,
    /// Infinitely precise result.
    pub(crate) exact: R,
    /// Error with margin 1.0.
    pub(crate) bound: R,
}

/// Stops unless `x` and `y` lie in the range for which WGSL states an accuracy of `atan2(y, x)`:
/// "for `|x|` in the range [2^-126, 2^126], and `y` is finite and normal" (14 for f16).
fn in_wgsl_range<R: Enclosure>(x: &[R], env: &Environment, precision: R::Precision) -> Result<(), Stop> {
    let half = env.half_column();
    let power = |exponent| R::exact(Dyadic::pow2(exponent), precision);
    let e = wgsl_bounds::range_exponent(half);
    let zero = R::exact(Dyadic::ZERO, precision);
    let below = |v: &R, least: R| -> Result<bool, Undecided> {
        let across = holds_zero(v, &zero)?;
        Ok(across || v.abs().lower().compare(&least)? == Ordering::Less)
    };
    if below(&x[1], power(-e))? || x[1].abs().upper().compare(&power(e))? == Ordering::Greater {
        return Err(Stop::Anything("x may lie outside the range for which WGSL states an accuracy"));
    }
    if below(&x[0], power(env.bound_format.min_normal_exponent()))? {
        return Err(Stop::Anything("y may be zero or subnormal, for which WGSL states no accuracy"));
    }
    Ok(())
}

/// Returns true if OpFDiv has a stated precision for a divisor with these bits.
pub(crate) fn is_divisor_in_range(bits: u64, format: Format, half: bool) -> bool {
    let e = divisor_exponent(half);
    let power = |exponent| neighbours(Dyadic::pow2(exponent), format).lo;
    let magnitude = (bits & format.magnitude_mask()).cast_signed();
    format.is_zero(bits) || (power(-e) <= magnitude && magnitude <= power(e))
}

fn holds_zero<R: Enclosure>(x: &R, zero: &R) -> Result<bool, Undecided> {
    Ok(x.lower().compare(zero)? != Ordering::Greater && x.upper().compare(zero)? != Ordering::Less)
}

/// `ulp(x)` in the format of the bounds.
fn ulp<R: Enclosure>(x: &R, env: &Environment, precision: R::Precision) -> Result<R, Undecided> {
    let magnitude = x.abs();
    let power = |exponent: i32| R::exact(Dyadic::pow2(exponent), precision);
    let (rule, beyond) = (env.bound_format, env.bound_format_beyond());
    let is_beyond = |format: Format| -> Result<bool, Undecided> {
        Ok(magnitude.lower().compare(&power(format.max_exponent() + 1))? != Ordering::Less)
    };
    // One ulp holds for all tiny values, and one for all huge values, however far.
    let exponent = if magnitude.upper().compare(&power(rule.min_normal_exponent()))? != Ordering::Greater {
        rule.quantum()
    } else if is_beyond(beyond)? {
        beyond.ulp_exponent(beyond.max_exponent())
    } else if is_beyond(rule)? {
        beyond.ulp_exponent(x.binade()?)
    } else {
        rule.ulp_exponent(x.binade()?)
    };
    Ok(R::exact(Dyadic::pow2(exponent), precision))
}

/// All values in `[exact - bound, exact + bound]`, without the ends if `strict`, extended for
/// overflow ([`overflow`]).
pub(crate) fn within<R: Enclosure>(
    exact: R,
    bound: R,
    strict: bool,
    env: &Environment,
    precision: R::Precision,
) -> Result<PointBound<R>, Undecided> {
    let (least, greatest) = (exact.sub(&bound), exact.add(&bound));
    let (mut lo, mut hi) = (least.ceil_rank(env.format)?, greatest.floor_rank(env.format)?);
    if strict {
        let is = |rank: Rank, end: &R| -> Result<bool, Undecided> {
            let finite = env.format.neg_infinity() < rank && rank < env.format.infinity();
            let value = || R::exact(env.format.value_of_rank(rank), precision);
            Ok(finite && value().compare(end)? == Ordering::Equal)
        };
        while is(lo, &least)? {
            lo += 1;
        }
        while is(hi, &greatest)? {
            hi -= 1;
        }
    }
    let interval = overflow(lo, hi, &least, &greatest, env)?;
    Ok(PointBound { interval, exact, bound })
}

/// Range `lo ..= hi` of values between two real numbers, extended as "ULP" says for magnitudes
/// above the largest finite value: the infinity and the largest finite value of that sign are then
/// permitted too.
pub(crate) fn overflow<R: Enclosure>(
    lo: Rank,
    hi: Rank,
    least: &R,
    greatest: &R,
    env: &Environment,
) -> Result<RankInterval, Undecided> {
    let format = env.format;
    let (mut lo, mut hi) = (lo, hi);
    if greatest.ceil_rank(format)? >= format.infinity() {
        hi = format.infinity();
        lo = lo.min(format.max_finite());
    }
    if least.floor_rank(format)? <= format.neg_infinity() {
        lo = format.neg_infinity();
        hi = hi.max(-1 - format.max_finite());
    }
    Ok(RankInterval { lo, hi })
}

/// Correctly rounded results for one real number.
fn rounded<R: Enclosure>(
    exact: R,
    env: &Environment,
    rounding: Rounding,
    precision: R::Precision,
) -> Result<PointBound<R>, Stop> {
    let ulp = ulp(&exact, env, precision)?;
    let interval = round(&exact, env, rounding, precision)?;
    let bound = match rounding {
        Rounding::Rte => ulp.mul(&R::exact(Dyadic::pow2(-1), precision)),
        Rounding::Undeclared | Rounding::Rtz => ulp,
    };
    Ok(PointBound { interval, exact, bound })
}

/// Correctly rounded values of one real number; both zeros for zero. If bounds are stated in a
/// narrower format than that of the values, only its precision is required: the range is the hull
/// of the values rounded to either format.
pub(crate) fn round<R: Enclosure>(
    exact: &R,
    env: &Environment,
    rounding: Rounding,
    precision: R::Precision,
) -> Result<RankInterval, Undecided> {
    let zero = R::exact(Dyadic::ZERO, precision);
    if exact.is_point() && exact.compare(&zero)? == Ordering::Equal {
        return Ok(RankInterval::ZERO);
    }
    let to = |format: Format| -> Result<RankInterval, Undecided> {
        let (lo, hi) = match rounding {
            Rounding::Undeclared => (exact.floor_rank(format)?, exact.ceil_rank(format)?),
            Rounding::Rte => {
                let nearest = exact.nearest_rank(format)?;
                (nearest, nearest)
            }
            Rounding::Rtz => {
                let negative = exact.compare(&zero)? == Ordering::Less;
                let inner = if negative { exact.ceil_rank(format)? } else { exact.floor_rank(format)? };
                (inner, inner)
            }
        };
        Ok(RankInterval { lo: convert_rank(lo, format, env.format), hi: convert_rank(hi, format, env.format) })
    };
    let own = to(env.format)?;
    if env.bound_format == env.format {
        return Ok(own);
    }
    let largest = R::exact(env.bound_format.value_of_rank(env.bound_format.max_finite()), precision);
    let is_beyond = exact.abs().compare(&largest)? == Ordering::Greater;
    Ok(own.hull(to(if is_beyond { env.bound_format_beyond() } else { env.bound_format })?))
}

/// Neighbours of a value in a format: the value itself, or both zeros, if it is representable.
pub(crate) fn neighbours(value: Dyadic, format: Format) -> RankInterval {
    rounded_product(value, Dyadic::ONE, format, Rounding::Undeclared)
}

/// Product, correctly rounded.
pub(crate) fn rounded_product(a: Dyadic, b: Dyadic, format: Format, rounding: Rounding) -> RankInterval {
    decide(&FusedQuestion { factors: [a, b], addend: Dyadic::ZERO, env: plain(format), rounding })
}

/// `a * b + c`, correctly rounded in either direction.
pub(crate) fn rounded_sum(a: Dyadic, b: Dyadic, c: Dyadic, format: Format) -> RankInterval {
    decide(&FusedQuestion { factors: [a, b], addend: c, env: plain(format), rounding: Rounding::Undeclared })
}

fn plain(format: Format) -> Environment {
    Environment::new(&Modes::default(), Lists::default(), format, format)
}

/// Question for a product and a sum, rounded once.
struct FusedQuestion {
    factors: [Dyadic; 2],
    addend: Dyadic,
    env: Environment,
    rounding: Rounding,
}

impl EnclosureQuery for FusedQuestion {
    type Answer = RankInterval;

    fn evaluate<R: Enclosure>(&self, precision: R::Precision) -> Result<RankInterval, Undecided> {
        let [a, b] = self.factors.map(|factor| R::exact(factor, precision));
        let exact = a.mul(&b).add(&R::exact(self.addend, precision));
        round(&exact, &self.env, self.rounding, precision)
    }
}
