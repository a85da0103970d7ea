//! Permitted results of pairs of halves, as the filter for pairs takes them.

use crate::bulk::simd::arithmetic::{Grid, SLACK, greatest};

/// Permitted results of one pair.
#[derive(Clone, Copy)]
pub(super) struct PairOutcome {
    /// Approximation of the exact result; a NaN if there is none.
    pub(super) value: f64,
    /// Bound on the absolute error of `value`.
    pub(super) error: f64,
    /// Upper bound on the reciprocal of the permitted error; a NaN where only the interval decides.
    pub(super) scale: f64,
    /// Least result that is permitted whatever its margin; a NaN if there is no such interval.
    pub(super) lo: f64,
    /// Greatest result that is permitted whatever its margin.
    pub(super) hi: f64,
    /// Set if only the interval is permitted, apart from flushed results.
    pub(super) only: bool,
    /// Margin of a result inside the interval whose margin by distance is unknown or above one. The
    /// negative zero stands for a result that has none, such as a permitted infinity.
    pub(super) inside: f64,
    /// Set if a zero is permitted in addition.
    pub(super) zero: bool,
    /// Set if a NaN is permitted in addition.
    pub(super) nan: bool,
    /// 1.0 where nothing is required, otherwise 0.0.
    pub(super) any: f64,
}

impl PairOutcome {
    /// Results within `1 / scale` of a value.
    #[inline(always)]
    pub(super) fn near(value: f64, error: f64, scale: f64) -> PairOutcome {
        PairOutcome {
            value,
            error,
            scale,
            lo: f64::NAN,
            hi: f64::NAN,
            only: false,
            inside: 1.0,
            zero: false,
            nan: value.is_nan(),
            any: 0.0,
        }
    }

    /// One value, or a NaN.
    #[inline(always)]
    pub(super) fn exactly(value: f64) -> PairOutcome {
        PairOutcome { lo: value, hi: value, only: true, inside: -0.0, ..PairOutcome::near(value, 0.0, f64::NAN) }
    }

    /// Results of a formula: the hull `[lo, hi]` of its own, and what lies no farther from the
    /// exact result than the farther end.
    #[inline(always)]
    pub(super) fn inherited(value: f64, error: f64, lo: f64, hi: f64) -> PairOutcome {
        let farthest = greatest((value - lo).abs(), (value - hi).abs());
        let slack = if error == 0.0 { 0.0 } else { SLACK * farthest };
        let bound = farthest - error - slack;
        // Greater than the reciprocal, so that no rounding makes a margin too small.
        let scale = if bound > 0.0 { (1.0 + 2.0 * f64::EPSILON) / bound } else { f64::NAN };
        PairOutcome { lo, hi, nan: false, ..PairOutcome::near(value, error, scale) }
    }
}

/// Rounding of exact results to halves.
#[derive(Clone, Copy)]
pub(super) struct HalfRounding<const MODE: u8> {
    pub(super) grid: Grid,
}

pub(super) const UNDECLARED: u8 = 0;
pub(super) const RTE: u8 = 1;
pub(super) const RTZ: u8 = 2;

impl<const MODE: u8> HalfRounding<MODE> {
    /// Least and greatest correctly rounded result of an exact value. Both are NaNs for an infinity
    /// or a NaN.
    #[inline(always)]
    pub(super) fn ends(self, v: f64) -> (f64, f64) {
        let (spacing, max) = (self.grid.spacing(v), self.grid.max);
        let nearest = self.grid.nearest(v);
        match MODE {
            RTE => {
                let nearest = if nearest.abs() > max { f64::INFINITY.copysign(v) } else { nearest };
                (nearest, nearest)
            }
            RTZ => {
                let away = if nearest.abs() > v.abs() { spacing.copysign(v) } else { 0.0 };
                let inner = nearest - away;
                let inner = if inner.abs() > max { max.copysign(v) } else { inner };
                (inner, inner)
            }
            _ => {
                let lo = nearest - if nearest > v { spacing } else { 0.0 };
                let hi = nearest + if nearest < v { spacing } else { 0.0 };
                let lo = if lo > max { max } else { lo };
                let hi = if hi < -max { -max } else { hi };
                (if lo < -max { f64::NEG_INFINITY } else { lo }, if hi > max { f64::INFINITY } else { hi })
            }
        }
    }

    /// Permitted results of a correctly rounded operation with this exact result.
    #[inline(always)]
    pub(super) fn outcome(self, v: f64) -> PairOutcome {
        let (lo, hi) = self.ends(v);
        let scale = reciprocal(self.grid.ulp(v)) * if MODE == RTE { 2.0 } else { 1.0 };
        PairOutcome { lo, hi, only: true, inside: -0.0, ..PairOutcome::near(v, 0.0, scale) }
    }
}

/// Reciprocal of a power of two, exactly: the exponent field `1023 + k` becomes `1023 - k`.
#[inline(always)]
pub(super) fn reciprocal(power: f64) -> f64 {
    f64::from_bits((2046u64 << 52).wrapping_sub(power.to_bits()))
}
