//! Certified enclosures of real numbers: interval arithmetic with outward rounding (Moore,
//! *Interval Analysis*, 1966).

pub(crate) mod big_enclosure;
mod decimal;
pub(crate) mod f64_enclosure;
mod function_range;
mod interval;
mod rank_rounding;

use crate::{Dyadic, Format, Rank};
use std::{cmp::Ordering, fmt::Debug};

/// Error: the enclosure is too wide to answer; more precision may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("undecided at this precision")]
pub struct Undecided;

/// Real functions of one variable that rules name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Function {
    Sqrt,
    InverseSqrt,
    Exp,
    Exp2,
    Ln,
    Log2,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
}

/// Interval with exactly known ends that certainly contains a real number (or a range of real
/// numbers).
///
/// * An end may be open: known not to be a member. An inexact result lies strictly between its
///   neighbours. Comparisons and ranks make use of this, so that `1 + 2^-100` rounds like any
///   number just above one, in any working precision.
/// * Every operation returns an enclosure of all results over all members of its operands.
/// * An operation on points whose result is exactly representable at the working precision returns
///   a point. Exact cases (`exp2(3)`, `sqrt(4)`, `6 / 3`) are thereby distinguished from near
///   misses. By the theorems of Lindemann and of Gelfond and Schneider, the functions have no other
///   exact cases than those that are handled.
/// * `Err(Undecided)` requests more precision. It is final only for questions without an answer,
///   such as the logarithm of a range that contains zero: callers check domains first.
pub trait Enclosure: Clone + Debug {
    /// Selects the working precision.
    type Precision: Copy + Debug;

    /// Enclosure of one exact value: a point wherever the precision allows.
    fn exact(value: Dyadic, precision: Self::Precision) -> Self;
    /// The number pi.
    fn pi(precision: Self::Precision) -> Self;

    /// Lower end as a point, even if it is open. For an unbounded interval, an enclosure of its
    /// end.
    #[must_use]
    fn lower(&self) -> Self;
    /// Upper end as a point, even if it is open. For an unbounded interval, an enclosure of its end.
    #[must_use]
    fn upper(&self) -> Self;
    /// Least interval that contains both.
    #[must_use]
    fn hull(&self, other: &Self) -> Self;
    /// Returns true if both ends are equal.
    fn is_point(&self) -> bool;

    /// The negation.
    #[must_use]
    fn neg(&self) -> Self;
    /// The magnitude.
    #[must_use]
    fn abs(&self) -> Self;
    /// The sum.
    #[must_use]
    fn add(&self, other: &Self) -> Self;
    /// The difference.
    #[must_use]
    fn sub(&self, other: &Self) -> Self;
    /// The product.
    #[must_use]
    fn mul(&self, other: &Self) -> Self;
    /// The quotient; undecided if the divisor contains zero.
    fn div(&self, other: &Self) -> Result<Self, Undecided>;
    /// `min(self, other)` of the members.
    #[must_use]
    fn min(&self, other: &Self) -> Self;
    /// `max(self, other)` of the members.
    #[must_use]
    fn max(&self, other: &Self) -> Self;
    /// A function of one variable; undecided if the operand extends beyond its (open) domain.
    ///
    /// Sin, Cos and Tan take operands in `[-4, 4]` and are undecided outside.
    fn function(&self, function: Function) -> Result<Self, Undecided>;
    /// Angle of the point `(x, self)` in `[-pi, pi]`; undecided if the box contains the origin or
    /// meets the cut along the negative x axis from both sides.
    fn atan2(&self, x: &Self) -> Result<Self, Undecided>;
    /// `self` to the power of `exponent`, for positive `self`.
    fn pow(&self, exponent: &Self) -> Result<Self, Undecided>;
    /// `self - y * trunc(self / y)` for two points, `y` not zero.
    fn rem_trunc(&self, y: &Self) -> Result<Self, Undecided>;
    /// `self - y * floor(self / y)` for two points, `y` not zero.
    fn rem_floor(&self, y: &Self) -> Result<Self, Undecided>;

    /// Order of the numbers, if it is certain.
    fn compare(&self, other: &Self) -> Result<Ordering, Undecided>;
    /// Least rank whose value is at least the number: `-0` for zero, `+inf` beyond the largest
    /// finite value.
    fn ceil_rank(&self, format: Format) -> Result<Rank, Undecided>;
    /// Greatest rank whose value is at most the number: `+0` for zero, `-inf` below the least
    /// finite value.
    fn floor_rank(&self, format: Format) -> Result<Rank, Undecided>;
    /// Least and greatest rank whose value may lie in the interval; open ends are excluded. The
    /// first may exceed the second if no value of the format lies in the interval.
    fn member_ranks(&self, format: Format) -> (Rank, Rank);
    /// Rank of the number rounded by `roundTiesToEven`. A zero takes the sign of the number (`+0` for
    /// zero itself). The result is an infinity from the largest finite value plus half its ulp on.
    fn nearest_rank(&self, format: Format) -> Result<Rank, Undecided>;
    /// The `e` with `2^e < |x| <= 2^(e + 1)`; undecided for zero.
    fn binade(&self) -> Result<i32, Undecided>;

    /// A member, as the nearest `f64`: for margins and images, never for a verdict.
    fn approximate(&self) -> f64;
    /// The number in decimal with all certain digits, at most `digits` significant ones; exact if
    /// it is short. For derivations.
    fn decimal(&self, digits: usize) -> String;
}
