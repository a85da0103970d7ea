//! Arithmetic of many values at once, in plain `f64` operations that compilers vectorise.
//!
//! All functions here work on numbers of a format of at most 24 significant bits. `f64` represents
//! these exactly and leaves 29 bits for errors: [`SLACK`] is far above the accumulated rounding
//! error of an evaluation in `f64`, and `2^-20` of an ulp of the widest format.

use assay_float::Format;

/// Number of inputs that are evaluated together: enough to amortise the cost of each group, few
/// enough to stay in the first-level cache and to be copied quickly.
pub(crate) const LANES: usize = 128;

/// One `f64` for each input of a group.
pub(crate) type LaneValues = [f64; LANES];

/// Relative error that is provided for in every step: `2^-44`.
///
/// Derivation, with `u = 2^-53`. A step is at most one kernel, whose relative error is at most `8 u`
/// ([`assay_float::f64_kernels::ERROR_BOUND`]), and some roundings of `u` each. `SLACK` is `512 u`.
/// It is used as follows:
///
/// * Fractions from `SLACK / 16 = 32 u` to `SLACK / 4 = 128 u`: error of a value that one or two
///   kernels and a few roundings give.
/// * `SLACK / 64 = 8 u`: error of one correctly rounded operation, and of adding this amount itself.
/// * `SLACK` times the magnitudes of the terms: at most 4 roundings of a sum of a value, its bound
///   and the amounts by which an end is moved inward. The error of the value is subtracted as well.
/// * `SLACK` times a value whose ulp is taken ([`Grid::ulp`]): the value crosses a power of two only
///   if it lies within this amount of it, which covers the error of the value.
///
/// For a format of 24 bits, whose ulp is at least `2^-24` of the value, it is at most `2^-20` ulp.
pub(crate) const SLACK: f64 = 1.0 / (1u64 << 44) as f64;

const EXPONENT: u64 = 0x7ff0_0000_0000_0000;

/// `2^exponent`, which must be a normal `f64`.
pub(crate) const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// Parameters of a format that rounding needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// `2^-fraction_bits`, the spacing of the values from one on.
    epsilon: f64,
    /// Smallest normal value.
    pub(crate) min_normal: f64,
    /// Largest finite value.
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

    /// Distance from `|v|` to the next larger value of the format, if `|v|` is a value of the
    /// format; the spacing of the binade around it otherwise.
    #[inline(always)]
    pub(crate) fn spacing(self, v: f64) -> f64 {
        let magnitude = if v.abs() > self.min_normal { v.abs() } else { self.min_normal };
        f64::from_bits(magnitude.to_bits() & EXPONENT) * self.epsilon
    }

    /// Lower bound on `ulp(v)`. It is equal unless `|v|` lies within the slack above a power of
    /// two.
    #[inline(always)]
    pub(crate) fn ulp(self, v: f64) -> f64 {
        let magnitude = v.abs() * (1.0 - SLACK);
        self.spacing(if magnitude < self.max { magnitude } else { self.max })
    }

    /// Largest value of the format that is not above `v`.
    #[inline(always)]
    pub(crate) fn floor(self, v: f64) -> f64 {
        let spacing = self.spacing(v);
        let nearest = rounded(v, spacing);
        // A mask instead of a conditional, which a compiler may turn into a branch.
        let above = u64::from(nearest > v).wrapping_neg();
        nearest - f64::from_bits(spacing.to_bits() & above)
    }

    /// Smallest value of the format that is not below `v`.
    #[inline(always)]
    pub(crate) fn ceil(self, v: f64) -> f64 {
        -self.floor(-v)
    }

    /// Nearest value of the format, ties to even.
    #[inline(always)]
    pub(crate) fn nearest(self, v: f64) -> f64 {
        rounded(v, self.spacing(v))
    }
}

/// Nearest multiple of a power of two, ties to even.
///
/// Adding `1.5 * 2^52 * spacing` rounds `v` to a multiple of `spacing`, since the last bit of the
/// sum is worth exactly that; subtracting it again is exact. The result is a NaN for an infinity
/// and for values near the largest `f64`, where the sum overflows.
#[inline(always)]
fn rounded(v: f64, spacing: f64) -> f64 {
    let shifter = spacing * 6_755_399_441_055_744.0;
    (v + shifter) - shifter
}

/// Runs a loop over lanes with the widest vectors of the processor.
#[inline(always)]
pub(crate) fn vectorised<T>(f: impl FnOnce() -> T) -> T {
    pulp::Arch::new().dispatch(f)
}

/// Lane computed by an expression of the index, over copies of the named lanes: `lanes!([a, b], |i|
/// a[i] + b[i])`. The lanes are variables that are references. Everything else in the expression
/// must be a variable of its own.
///
/// The copies let the compiler vectorise: it knows that local memory has no aliases.
macro_rules! lanes {
    ([$($lane:ident),*], |$i:ident| $value:expr) => {{
        $(let $lane: LaneValues = *$lane;)*
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

/// Lane filled by a function of the index.
#[inline(always)]
pub(crate) fn lane(f: impl Fn(usize) -> f64) -> LaneValues {
    let mut out = [0.0; LANES];
    for (i, value) in out.iter_mut().enumerate() {
        *value = f(i);
    }
    out
}

/// 1.0 if the condition holds, otherwise 0.0. Masks as numbers vectorise together with the
/// arithmetic.
#[inline(always)]
pub(crate) fn flag(condition: bool) -> f64 {
    if condition { 1.0 } else { 0.0 }
}

/// The lesser argument; the second if either is a NaN.
#[inline(always)]
pub(crate) fn least(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The greater argument; the second if either is a NaN.
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
