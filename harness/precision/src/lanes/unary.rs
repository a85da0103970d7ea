//! Functions of one operand: what is exact, by how much that may be off, and how far a result may lie from it, for one operand at a
//! time, so that whatever is done with it is one loop.

use super::{
    Lanes, Point,
    arithmetic::{LANES, Lane, SLACK, flag, power_of_two, vectorised},
    truth::{Exact, bounded},
};
use crate::real::{Bound, Real};
use assay_float::kernels;
use std::f64::consts::PI;

/// What one operand comes to.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    /// The exact result, approximately.
    pub(crate) value: f64,
    /// By how much `value` may be off, absolutely.
    pub(crate) error: f64,
    /// At most the permitted error; a NaN where this way does not tell.
    pub(crate) bound: f64,
    /// 1.0 where nothing is required.
    pub(crate) any: f64,
}

/// Something that is done with a function of one operand, compiled for each.
pub(crate) trait Apply {
    /// What comes of it.
    type Output;

    /// Does it.
    fn apply(self, function: impl Fn(f64) -> Found) -> Self::Output;
}

/// The function of each operand of a lane.
pub(crate) struct Fill<'a>(pub(crate) &'a Lane);

impl Apply for Fill<'_> {
    type Output = Point;

    #[inline(always)]
    fn apply(self, function: impl Fn(f64) -> Found) -> Point {
        // A copy, of which compilers know that nothing else writes to it.
        let x = *self.0;
        vectorised(
            #[inline(always)]
            move || {
                let none = [0.0; LANES];
                let mut point = Point { exact: Exact { value: none, error: none }, bound: none, any: none };
                for (i, &x) in x.iter().enumerate() {
                    let found = function(x);
                    point.exact.value[i] = found.value;
                    point.exact.error[i] = found.error;
                    point.bound[i] = found.bound;
                    point.any[i] = found.any;
                }
                point
            },
        )
    }
}

/// An exponential of `x` for taking its ulp: above one where it is, though by less than `f64` shows.
#[inline(always)]
pub(super) fn above_one(x: f64, exponential: f64) -> f64 {
    const ABOVE: f64 = 1.0 + 1.0 / (1u64 << 40) as f64;
    if (x > 0.0) & (exponential < ABOVE) { ABOVE } else { exponential }
}

/// A function with a bound of its own. `None` for operations of several operands and those that are correctly rounded.
pub(crate) fn direct<A: Apply>(real: Real, lanes: &Lanes<'_>, apply: A) -> Option<A::Output> {
    let grid = lanes.grid;
    let near = |value: f64, bound: f64, any: f64| Found { value, error: SLACK / 4.0 * value.abs(), bound, any };
    // The logarithms take a NaN apart like a number; the product keeps it one. It stands for a value not known.
    let positive = |x: f64| if x <= 0.0 { 1.0 } else { x };
    let inside = |x: f64| if x.abs() > PI { 0.0 } else { x };
    Some(match (real, real.bound(lanes.env.rules, lanes.env.half_column())) {
        (Real::Exp, Bound::UlpsPlusTwiceX { base }) => {
            let base = f64::from(base);
            apply.apply(
                #[inline(always)]
                move |x| {
                    let v = kernels::exp_moderate(bounded(x));
                    near(v, (base + 2.0 * x.abs()) * grid.ulp(above_one(x, v)), 0.0)
                },
            )
        }
        (Real::Exp2, Bound::UlpsPlusTwiceX { base }) => {
            let base = f64::from(base);
            apply.apply(
                #[inline(always)]
                move |x| {
                    let v = kernels::exp2_moderate(bounded(x));
                    near(v, (base + 2.0 * x.abs()) * grid.ulp(above_one(x, v)), 0.0)
                },
            )
        }
        (Real::Log | Real::Log2, Bound::Logarithm { ulps, exponent, strict: _ }) => {
            let (ulps, within) = (f64::from(ulps), power_of_two(exponent));
            let found = move |x: f64, v: f64| {
                let ulps = ulps * grid.ulp(v);
                near(v, if (x - 1.25).abs() <= 0.75 { within } else { ulps }, flag(x <= 0.0))
            };
            match real {
                Real::Log => apply.apply(
                    #[inline(always)]
                    move |x| found(x, kernels::ln(positive(x)) + 0.0 * positive(x)),
                ),
                _ => apply.apply(
                    #[inline(always)]
                    move |x| found(x, kernels::log2(positive(x)) + 0.0 * positive(x)),
                ),
            }
        }
        (Real::InverseSqrt, Bound::Ulps { half_ulps }) => {
            let n = 0.5 * f64::from(half_ulps);
            apply.apply(
                #[inline(always)]
                move |x| {
                    let v = 1.0 / positive(x).sqrt();
                    near(v, n * grid.ulp(v), flag(x <= 0.0))
                },
            )
        }
        (Real::Sin, Bound::Trigonometric { exponent }) => {
            let bound = power_of_two(exponent);
            // No value of a narrow format is as near to pi as pi is to its f64.
            apply.apply(
                #[inline(always)]
                move |x| near(kernels::sin(inside(x)), bound, flag(x.abs() > PI)),
            )
        }
        (Real::Cos, Bound::Trigonometric { exponent }) => {
            let bound = power_of_two(exponent);
            apply.apply(
                #[inline(always)]
                move |x| near(kernels::cos(inside(x)), bound, flag(x.abs() > PI)),
            )
        }
        (Real::Atan, Bound::Ulps { half_ulps }) => {
            let n = 0.5 * f64::from(half_ulps);
            apply.apply(
                #[inline(always)]
                move |x| {
                    let v = kernels::atan(x);
                    near(v, n * grid.ulp(v), 0.0)
                },
            )
        }
        _ => return None,
    })
}
