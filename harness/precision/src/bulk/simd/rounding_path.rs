//! Rounding paths: one choice of rounding at each operation of a formula, for one operand or for a
//! whole group of consecutive operands.

use super::arithmetic::{Grid, LANES, SLACK, greatest, power_of_two};

/// One rounding path through a formula.
///
/// With `EITHER_NEIGHBOUR`, correctly rounded operations may return either neighbour of the exact
/// result, because no rounding mode is declared; otherwise they round to nearest. With
/// `WHOLE_GROUP`, every value is a lower bound that holds for each operand of a group, see
/// [`super::inner_bound::visit_group_bound`].
#[derive(Clone, Copy)]
pub(super) struct RoundingPath<const EITHER_NEIGHBOUR: bool, const WHOLE_GROUP: bool> {
    pub(super) grid: Grid,
    /// Upper bound on the relative variation of an intermediate value along a group.
    pub(super) variation: f64,
}

/// Upper bound on the relative difference of the operands in a group: at most [`LANES`] steps of
/// one ulp, at most `2^-23` of the operand each, in one binade.
pub(super) const GROUP_VARIATION: f64 = LANES as f64 * power_of_two(-23);

/// Provision for the relative variation of an intermediate value along a group, unless a smaller
/// one is given: `2^-8`, 256 times [`GROUP_VARIATION`].
///
/// To first order, a function `g` of the operand `x` varies by its condition number `|x g'(x) /
/// g(x)|` times the variation of the operand, so that the provision is enough for condition numbers
/// up to 256. Operands with a larger one are excluded:
///
/// | intermediate value | condition number | operands with a bound | at most |
/// |---|---|---|---|
/// | `cos x` of Tan | `abs(x tan x)` | `abs(cos x) > 4 MAX_VARIATION` | 102 |
/// | `exp x` of Sinh, Cosh, Tanh | `abs(x)` | `exp x` does not overflow | 89 |
/// | `x^2 - 1` of Acosh | `2 x^2 / (x^2 - 1)` | `x > 1.01` | 102 |
/// | `ln` of Acosh | `x / (sqrt(x^2 - 1) acosh x)` | `x > 1.01` | 51 |
/// | `1 - x` of Atanh | `abs(x) / (1 - x)` | `abs(x) < 1 - 4 MAX_VARIATION` | 63 |
/// | roots, squares and quotients | 2 | all | 2 |
///
/// Two values are not covered by this: `sin x` of Tan near pi, and the sum of Asinh for negative
/// operands, where it cancels. For their groups the bound rests on the tests of the quadratic
/// filter, which compare it operand by operand.
pub(super) const MAX_VARIATION: f64 = power_of_two(-8);

/// Values that vary by less than this, at most `2^-12` ulp, are treated as constant along a group:
/// their neighbours in the format are computed once.
const CONSTANT_VARIATION: f64 = power_of_two(-36);

/// Largest relative amount by which a computed end may fall short of the intended end along a
/// group: `2^-20`, at least eight ulp.
///
/// It counts only for a variation between [`CONSTANT_VARIATION`] and this amount, which occurs in
/// the quotients of Atanh for small operands, and in the root of Asinh for small operands. Their
/// divisors are ends that [`RoundingPath::up`], [`RoundingPath::down`] or [`RoundingPath::floor`] has
/// moved by at most one spacing, `2^-23` of the value. The dividend of Atanh is such an end too, and
/// next to a power of two the bound of the inverse root may be an ulp too small. Together that is
/// `2^-22`, a quarter of the provision. For a larger variation, the variation itself is the
/// provision.
const END_SHORTFALL: f64 = power_of_two(-20);

impl<const EITHER_NEIGHBOUR: bool, const WHOLE_GROUP: bool> RoundingPath<EITHER_NEIGHBOUR, WHOLE_GROUP> {
    /// The same path for intermediate values whose relative variation along a group is less than
    /// `variation`.
    #[inline(always)]
    pub(super) fn varying(self, variation: f64) -> Self {
        RoundingPath { variation: if variation < MAX_VARIATION { variation } else { MAX_VARIATION }, ..self }
    }

    /// Lower bound on the ulp of a value.
    #[inline(always)]
    pub(super) fn ulp(self, v: f64) -> f64 {
        self.grid.ulp(if WHOLE_GROUP { v * (1.0 - self.variation) } else { v })
    }

    /// Lower bound on the ulp of an end of an operation's range. Along a group a computed end may
    /// be up to [`END_SHORTFALL`] short of the true one.
    #[inline(always)]
    pub(super) fn ulp_of_end(self, v: f64) -> f64 {
        let short = if self.variation < CONSTANT_VARIATION { 0.0 } else { END_SHORTFALL };
        self.grid.ulp(if WHOLE_GROUP { v * (1.0 - greatest(self.variation, short)) } else { v })
    }

    /// Largest value of the format that is not above `v`. Along a group: a lower bound on it that
    /// is smooth in `v`, `v` less one spacing, or constant if `v` hardly varies.
    #[inline(always)]
    pub(super) fn floor(self, v: f64) -> f64 {
        if !WHOLE_GROUP {
            return self.grid.floor(v);
        }
        let varied = self.variation * v.abs();
        let smooth = v - self.grid.spacing(v.abs() + varied);
        let constant = self.grid.floor(v - varied);
        if self.variation < CONSTANT_VARIATION { constant } else { smooth }
    }

    /// Lower bound, along a group, on half the distance from the least to the greatest value of the
    /// format that an operation may return. Its exact results range from `low` to `high`, its
    /// permitted error is half of `twice`.
    ///
    /// The result bounds the permitted error of a formula from below: the farther end of a range is
    /// at least half its width away from any point between the ends, and so from the exact result.
    ///
    /// Derivation: let the interval of real results have the length `total = n * spacing + part`,
    /// `0 <= part < spacing`. It contains at least `n` values of the format if the spacing is the
    /// same throughout, so that the extreme ones are at least `(n - 1) * spacing` apart. With two
    /// spacings, each end loses less than the greater one, which leaves `total - 2 * spacing`.
    #[inline(always)]
    pub(super) fn half_width(self, low: f64, high: f64, twice: f64) -> f64 {
        let (a, b) = (low.abs(), high.abs());
        let (near, far) = if a < b { (a, b) } else { (b, a) };
        let varied = self.variation * far;
        // Upper bound on the distance of either end from `low` and `high`.
        let around = varied + 2.0 * twice;
        let spacing = self.grid.spacing(far + around);
        let same = (near > around) & (self.grid.spacing(near - around) == spacing);
        let total = twice + (high - low) * (1.0 - MAX_VARIATION);
        let smooth = total - 2.0 * spacing;
        let kept = ((total / spacing).floor() - 1.0) * spacing;
        0.5 * if same & (kept > smooth) { kept } else { smooth }
    }

    /// Returns `bound`, or along a group the half width if that is more.
    #[inline(always)]
    pub(super) fn or_half_width(self, bound: f64, half_width: impl Fn() -> f64) -> f64 {
        if !WHOLE_GROUP {
            return bound;
        }
        let other = half_width();
        // A comparison with a NaN is false.
        if other > bound { other } else { bound }
    }

    /// Greatest value that rounding `v` certainly may give. A NaN if `v` is so close to the
    /// midpoint of two values that the result of rounding to nearest is undecided. Along a group: a
    /// lower bound on that value, as for [`RoundingPath::floor`].
    #[inline(always)]
    pub(super) fn up(self, v: f64) -> f64 {
        let slack = SLACK / 64.0 * v.abs();
        if WHOLE_GROUP {
            let varied = self.variation * v.abs();
            let (low, high) = (v - slack - varied, v + slack + varied);
            let (constant, smooth) = if EITHER_NEIGHBOUR {
                (self.grid.ceil(low), v - slack)
            } else {
                let nearest = self.grid.nearest(low);
                let known = if nearest == self.grid.nearest(high) { nearest } else { f64::NAN };
                (known, v - slack - 0.5 * self.grid.spacing(v.abs() + varied))
            };
            return if self.variation < CONSTANT_VARIATION { constant } else { smooth };
        }
        if EITHER_NEIGHBOUR {
            return self.grid.ceil(v - slack);
        }
        let nearest = self.grid.nearest(v - slack);
        if nearest == self.grid.nearest(v + slack) { nearest } else { f64::NAN }
    }

    /// Lower bound on some value that rounding `v` may give, which suffices where the rest of the
    /// formula is monotone. Never a NaN for one operand.
    #[inline(always)]
    pub(super) fn up_or_less(self, v: f64) -> f64 {
        if EITHER_NEIGHBOUR | WHOLE_GROUP { self.up(v) } else { self.grid.floor(v - SLACK / 64.0 * v.abs()) }
    }

    /// Least value that rounding `v` certainly may give.
    #[inline(always)]
    pub(super) fn down(self, v: f64) -> f64 {
        -self.up(-v)
    }

    /// Greatest value of the format that lies certainly within `bound` of `v`.
    #[inline(always)]
    pub(super) fn above(self, v: f64, bound: f64) -> f64 {
        self.above_less(v, bound, SLACK)
    }

    /// Least value of the format that lies certainly within `bound` of `v`.
    #[inline(always)]
    pub(super) fn below(self, v: f64, bound: f64) -> f64 {
        -self.above(-v, bound)
    }

    /// Greatest value of the format within `bound` of `v`, where `slack` bounds the relative error
    /// of the sum.
    #[inline(always)]
    pub(super) fn above_less(self, v: f64, bound: f64, slack: f64) -> f64 {
        self.floor(v + bound - slack * (v.abs() + bound))
    }

    /// Lower bound on the distance of the farther end from the exact result, which differs from
    /// `value` by at most `error`. Twice the error is subtracted: once for this distance, and once
    /// so that a range of that half-width about `value` lies within the one about the exact result.
    #[inline(always)]
    pub(super) fn reach(self, value: f64, error: f64, low: f64, high: f64) -> f64 {
        let farthest = greatest(value - low, high - value);
        farthest - 2.0 * error - SLACK * farthest.abs()
    }
}
