//! Where roundings may lead: one value that each may give, or what holds all along a group of consecutive operands.

use super::arithmetic::{Grid, LANES, SLACK, greatest, power_of_two};

/// One way through a formula. `EITHER`: correctly rounded operations may return either neighbour. `ALONG`: what holds for every operand of
/// a group of consecutive ones, see [`super::inner::along`].
#[derive(Clone, Copy)]
pub(super) struct Way<const EITHER: bool, const ALONG: bool> {
    pub(super) grid: Grid,
    /// More than intermediate values vary along a group, relatively.
    pub(super) variation: f64,
}

/// Consecutive operands of a group, up to [`LANES`] apart in one binade, differ relatively by no more than this.
pub(super) const GROUP: f64 = LANES as f64 * power_of_two(-23);

/// What is taken for the variation of an intermediate value along a group if nothing better is said: 2^-8, 256 times that of the operands.
pub(super) const VARIATION: f64 = power_of_two(-8);

/// A value that varies less than this, 2^-12 of an ulp, is as good as constant along a group: so are its neighbours in the format.
const STILL: f64 = power_of_two(-36);

/// An end along a group may be less than the one that is meant by so much, relatively: eight ulp.
const SHORT: f64 = power_of_two(-20);

impl<const EITHER: bool, const ALONG: bool> Way<EITHER, ALONG> {
    /// The same for intermediate values that vary by less than this along a group, relatively.
    #[inline(always)]
    pub(super) fn varying(self, variation: f64) -> Self {
        Way { variation: if variation < VARIATION { variation } else { VARIATION }, ..self }
    }

    /// No more than the ulp of a value.
    #[inline(always)]
    pub(super) fn ulp(self, v: f64) -> f64 {
        self.grid.ulp(if ALONG { v * (1.0 - self.variation) } else { v })
    }

    /// No more than the ulp of a value that is an end of what an operation may give. Along a group an end may be a few ulp short of that.
    #[inline(always)]
    pub(super) fn ulp_of_end(self, v: f64) -> f64 {
        let short = if self.variation < STILL { 0.0 } else { SHORT };
        self.grid.ulp(if ALONG { v * (1.0 - greatest(self.variation, short)) } else { v })
    }

    /// The greatest value of the format that is not above `v`. Along a group: no more than that, smooth in `v` or constant.
    #[inline(always)]
    pub(super) fn floor(self, v: f64) -> f64 {
        if !ALONG {
            return self.grid.floor(v);
        }
        let varied = self.variation * v.abs();
        let smooth = v - self.grid.spacing(v.abs() + varied);
        let constant = self.grid.floor(v - varied);
        if self.variation < STILL { constant } else { smooth }
    }

    /// Along a group: no more than half the distance from the least to the greatest value of the format that an operation may give for exact
    /// results from `low` to `high`, which its bound lets them be off by; `twice` is twice that. The farther end of a formula is at least as far
    /// from the exact value as half the distance between its ends.
    ///
    /// An end may lie a whole spacing inside the bound, and the other one too, but not always both: of `n` spacings and a part, `n - 1` are kept.
    #[inline(always)]
    pub(super) fn half_width(self, low: f64, high: f64, twice: f64) -> f64 {
        let (a, b) = (low.abs(), high.abs());
        let (near, far) = if a < b { (a, b) } else { (b, a) };
        let varied = self.variation * far;
        // Farther than any end may be.
        let around = varied + 2.0 * twice;
        let spacing = self.grid.spacing(far + around);
        let same = (near > around) & (self.grid.spacing(near - around) == spacing);
        let total = twice + (high - low) * (1.0 - VARIATION);
        let smooth = total - 2.0 * spacing;
        let kept = ((total / spacing).floor() - 1.0) * spacing;
        0.5 * if same & (kept > smooth) { kept } else { smooth }
    }

    /// The bound, or along a group what half a width says if that is more.
    #[inline(always)]
    pub(super) fn or_half_width(self, bound: f64, half_width: impl Fn() -> f64) -> f64 {
        if !ALONG {
            return bound;
        }
        let other = half_width();
        // Of a NaN none is more.
        if other > bound { other } else { bound }
    }

    /// A value that rounding `v` may give, as great as is certain; a NaN next to the middle between two values of which only one may be.
    /// Along a group: no more than that, as for [`Way::floor`].
    #[inline(always)]
    pub(super) fn up(self, v: f64) -> f64 {
        let slack = SLACK / 64.0 * v.abs();
        if ALONG {
            let varied = self.variation * v.abs();
            let (low, high) = (v - slack - varied, v + slack + varied);
            let (constant, smooth) = if EITHER {
                (self.grid.ceil(low), v - slack)
            } else {
                let nearest = self.grid.nearest(low);
                let known = if nearest == self.grid.nearest(high) { nearest } else { f64::NAN };
                (known, v - slack - 0.5 * self.grid.spacing(v.abs() + varied))
            };
            return if self.variation < STILL { constant } else { smooth };
        }
        if EITHER {
            return self.grid.ceil(v - slack);
        }
        let nearest = self.grid.nearest(v - slack);
        if nearest == self.grid.nearest(v + slack) { nearest } else { f64::NAN }
    }

    /// No more than a value that rounding `v` may give: enough where all that follows from it is monotone.
    #[inline(always)]
    pub(super) fn up_or_less(self, v: f64) -> f64 {
        if EITHER | ALONG { self.up(v) } else { self.grid.floor(v - SLACK / 64.0 * v.abs()) }
    }

    /// A value that rounding `v` may give, as small as is certain.
    #[inline(always)]
    pub(super) fn down(self, v: f64) -> f64 {
        -self.up(-v)
    }

    /// The greatest value that is certain to lie within `bound` of `v`.
    #[inline(always)]
    pub(super) fn above(self, v: f64, bound: f64) -> f64 {
        self.above_less(v, bound, SLACK)
    }

    /// The least value that is certain to lie within `bound` of `v`.
    #[inline(always)]
    pub(super) fn below(self, v: f64, bound: f64) -> f64 {
        -self.above(-v, bound)
    }

    /// The greatest value within `bound` of `v`, of which the sum may be off by so much, relatively.
    #[inline(always)]
    pub(super) fn above_less(self, v: f64, bound: f64, slack: f64) -> f64 {
        self.floor(v + bound - slack * (v.abs() + bound))
    }

    /// A little less than the distance of the farther end from a value that is off by at most `error`: so much less that the approximate
    /// value may stand for the exact one in the range around it, too.
    #[inline(always)]
    pub(super) fn reach(self, value: f64, error: f64, low: f64, high: f64) -> f64 {
        let farthest = greatest(value - low, high - value);
        farthest - 2.0 * error - SLACK * farthest.abs()
    }
}
