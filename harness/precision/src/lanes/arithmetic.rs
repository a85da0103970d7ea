//! Arithmetic of many values at once, in plain `f64` operations that compilers vectorise.
//!
//! Every function here works on numbers of a format of at most 24 significant bits, which `f64` holds exactly with room for the
//! errors: [`SLACK`] is far above what an evaluation in `f64` accumulates, and far below an ulp of the format.

use assay_float::Format;

/// How many inputs are evaluated together: enough to amortise what happens per group, few enough to stay in the first-level cache and
/// to be copied quickly.
pub(crate) const LANES: usize = 128;

/// One `f64` of each.
pub(crate) type Lane = [f64; LANES];

/// Relative error that is allowed for in every step: 2^-44. One step here is at most a kernel (2^-49) and a few roundings.
pub(crate) const SLACK: f64 = 1.0 / (1u64 << 44) as f64;

const EXPONENT: u64 = 0x7ff0_0000_0000_0000;

/// `2^exponent`, a normal `f64`.
pub(crate) const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// What rounding to a format needs to know of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// `2^-fraction_bits`
    epsilon: f64,
    /// The smallest normal value.
    pub(crate) min_normal: f64,
    /// The largest finite value.
    pub(crate) max: f64,
}

impl Grid {
    pub(crate) fn new(format: Format) -> Grid {
        Grid {
            epsilon: power_of_two(-(format.fraction_bits as i32)),
            min_normal: power_of_two(format.min_normal_exponent()),
            max: format.to_f64(format.max_finite() as u64),
        }
    }

    /// The spacing of the format's values from `|v|` on, away from zero.
    #[inline(always)]
    pub(crate) fn spacing(self, v: f64) -> f64 {
        let magnitude = if v.abs() > self.min_normal { v.abs() } else { self.min_normal };
        f64::from_bits(magnitude.to_bits() & EXPONENT) * self.epsilon
    }

    /// No more than `ulp(v)`: exactly that, but for `v` within the slack above a power of two.
    #[inline(always)]
    pub(crate) fn ulp(self, v: f64) -> f64 {
        let magnitude = v.abs() * (1.0 - SLACK);
        self.spacing(if magnitude < self.max { magnitude } else { self.max })
    }

    /// The greatest value of the format that is not above `v`.
    #[inline(always)]
    pub(crate) fn floor(self, v: f64) -> f64 {
        let spacing = self.spacing(v);
        let nearest = rounded(v, spacing);
        // By a mask rather than a choice, of which a compiler may make a branch.
        let above = u64::from(nearest > v).wrapping_neg();
        nearest - f64::from_bits(spacing.to_bits() & above)
    }

    /// The least value of the format that is not below `v`.
    #[inline(always)]
    pub(crate) fn ceil(self, v: f64) -> f64 {
        -self.floor(-v)
    }

    /// The nearest value of the format, ties to even.
    #[inline(always)]
    pub(crate) fn nearest(self, v: f64) -> f64 {
        rounded(v, self.spacing(v))
    }
}

/// The nearest multiple of a power of two, ties to even: what is left of the bits of `v` once a number is added whose last bit is worth just
/// that. A NaN, a value not known, of an infinity and of what is near the largest `f64`.
#[inline(always)]
fn rounded(v: f64, spacing: f64) -> f64 {
    let shifter = spacing * 6_755_399_441_055_744.0;
    (v + shifter) - shifter
}

/// Runs a loop over lanes with the widest vectors that the processor has.
#[inline(always)]
pub(crate) fn vectorised<T>(f: impl FnOnce() -> T) -> T {
    pulp::Arch::new().dispatch(f)
}

/// A lane by an expression of the index, over copies of the lanes named: `lanes!([a, b], |i| a[i] + b[i])`. Lanes are given as variables that
/// are references, and whatever else the expression names must be a variable of its own.
///
/// Only of memory that is a loop's own do compilers know that nothing else writes to it, and vectorise.
macro_rules! lanes {
    ([$($lane:ident),*], |$i:ident| $value:expr) => {{
        $(let $lane: Lane = *$lane;)*
        vectorised(
            #[inline(always)]
            move || {
                let mut out = [0.0; LANES];
                for $i in 0..LANES {
                    out[$i] = $value;
                }
                out
            },
        )
    }};
}
pub(crate) use lanes;

/// A lane filled by a function of the index.
#[inline(always)]
pub(crate) fn lane(f: impl Fn(usize) -> f64) -> Lane {
    let mut out = [0.0; LANES];
    for (i, value) in out.iter_mut().enumerate() {
        *value = f(i);
    }
    out
}

/// 1.0 where the condition holds: masks as numbers, which vectorise together with the rest.
#[inline(always)]
pub(crate) fn flag(condition: bool) -> f64 {
    if condition { 1.0 } else { 0.0 }
}

/// The lesser; the second if the first is a NaN.
#[inline(always)]
pub(crate) fn least(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The greater; the second if the first is a NaN.
#[inline(always)]
pub(crate) fn greatest(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_float::{F16, F32};

    #[test]
    fn rounding_agrees_with_the_host_and_with_ranks() {
        let grid = Grid::new(F32);
        for v in [1.0, 1.000_000_01, -1.000_000_01, 1e-40, -3.3e-42, 1e38, 65_504.3, 0.0, 2f64.powi(-149) * 1.5] {
            let nearest = f64::from(v as f32);
            assert_eq!(grid.nearest(v), nearest, "{v}");
            assert!(grid.floor(v) <= v && v <= grid.ceil(v));
            assert!(grid.floor(v) == nearest || grid.ceil(v) == nearest);
            assert!(grid.ceil(v) - grid.floor(v) <= grid.spacing(v));
        }
        assert_eq!(grid.ulp(1.0), 2f64.powi(-24));
        assert_eq!(grid.ulp(1.000_001), 2f64.powi(-23));
        assert_eq!(grid.ulp(0.0), 2f64.powi(-149));
        assert_eq!(grid.ulp(1e300), 2f64.powi(104));
        let half = Grid::new(F16);
        for rank in 0..=F16.max_finite() {
            let value = F16.to_f64(rank as u64);
            assert_eq!((half.floor(value), half.ceil(value), half.nearest(value)), (value, value, value));
        }
    }
}
