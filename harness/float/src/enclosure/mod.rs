//! Certified enclosures of real numbers.

pub(crate) mod big;
mod decimal;
pub(crate) mod fast;
mod image;
mod interval;
mod rank;

use crate::{Dyadic, Format, Rank};
use std::{cmp::Ordering, fmt::Debug};

/// The enclosure at hand is too wide to answer: ask again with more precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("undecided at this precision")]
pub struct Undecided;

/// The real functions of one variable that rules name.
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

/// An interval with exactly known ends that is certain to hold the real number (or the range of real numbers) meant.
///
/// * An end may be known not to be a member: an inexact result lies strictly between its neighbours. Comparisons and
///   ranks make use of it, so that `1 + 2^-100` rounds like any number just above one, however few bits carry it.
/// * Every operation returns an enclosure of all results over all members of its operands.
/// * An operation whose operands are points and whose result is exactly representable at this precision returns a
///   point: so exact cases (`exp2(3)`, `sqrt(4)`, `6 / 3`) are told apart from near misses. By the theorems of
///   Lindemann and of Gelfond and Schneider the functions have no others than those handled.
/// * `Err(Undecided)` asks for more precision, and is final only for questions without an answer, such as the
///   logarithm of a range that holds zero: ask about domains first.
pub trait Enclosure: Clone + Debug {
    /// What selects the working precision.
    type Precision: Copy + Debug;

    /// The enclosure of one exact value; a point wherever the precision allows.
    fn exact(value: Dyadic, precision: Self::Precision) -> Self;
    /// The number pi.
    fn pi(precision: Self::Precision) -> Self;

    /// The lower end, as a point, whether it is a member or not (an unbounded interval gives one around its end).
    #[must_use]
    fn lower(&self) -> Self;
    /// The upper end, as a point, likewise.
    #[must_use]
    fn upper(&self) -> Self;
    /// The least interval that holds both.
    #[must_use]
    fn hull(&self, other: &Self) -> Self;
    /// Whether both ends are the same.
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
    /// The quotient; undecided where the divisor holds zero.
    fn div(&self, other: &Self) -> Result<Self, Undecided>;
    /// `min(self, other)` member by member.
    #[must_use]
    fn min(&self, other: &Self) -> Self;
    /// `max(self, other)` member by member.
    #[must_use]
    fn max(&self, other: &Self) -> Self;
    /// A function of one variable; undecided where the operand reaches outside its (open) domain.
    ///
    /// Sin, Cos and Tan take operands in `[-4, 4]` and are undecided beyond.
    fn function(&self, function: Function) -> Result<Self, Undecided>;
    /// The angle of the point `(x, self)` in `[-pi, pi]`; undecided where the box holds the origin or meets the cut
    /// along negative x from both sides.
    fn atan2(&self, x: &Self) -> Result<Self, Undecided>;
    /// `self` to the power of `exponent` for positive `self`.
    fn pow(&self, exponent: &Self) -> Result<Self, Undecided>;
    /// `self - y * trunc(self / y)` of two points, y not zero.
    fn rem_trunc(&self, y: &Self) -> Result<Self, Undecided>;
    /// `self - y * floor(self / y)` of two points, y not zero.
    fn rem_floor(&self, y: &Self) -> Result<Self, Undecided>;

    /// How the numbers compare, once that is certain.
    fn compare(&self, other: &Self) -> Result<Ordering, Undecided>;
    /// The least rank whose value is at least the number: `-0` for zero, `+inf` beyond the largest finite value.
    fn ceil_rank(&self, format: Format) -> Result<Rank, Undecided>;
    /// The greatest rank whose value is at most the number: `+0` for zero, `-inf` below the least finite value.
    fn floor_rank(&self, format: Format) -> Result<Rank, Undecided>;
    /// The least and the greatest rank whose value may lie in the interval (an end that is no member counts as excluded); the
    /// first may be above the second if no value of the format lies in it.
    fn member_ranks(&self, format: Format) -> (Rank, Rank);
    /// The rank that `roundTiesToEven` gives, a zero taking the sign of the number (`+0` for zero itself),
    /// an infinity from the largest finite value plus half its ulp on.
    fn nearest_rank(&self, format: Format) -> Result<Rank, Undecided>;
    /// The `e` with `2^e < |x| <= 2^(e + 1)`; undecided for zero.
    fn binade(&self) -> Result<i32, Undecided>;

    /// A member, as the nearest `f64`: for margins and pictures, never for a verdict.
    fn approximate(&self) -> f64;
    /// The number in decimal, with as many digits as are certain but at most `digits` significant ones; exact where
    /// it is short. For derivations.
    fn decimal(&self, digits: usize) -> String;
}
