//! Functions of one operand: approximate exact result, its error and the permitted error, for one
//! operand at a time. Callers apply them in loops of their own, which fuses evaluation and use into
//! one loop.

use super::{
    LaneBounds, SimdEvaluator,
    arithmetic::{LANES, LaneValues, SLACK, flag, power_of_two, vectorised},
    reference_value::{ReferenceValue, bounded},
};
use crate::real_op::{Bound, RealOp};
use assay_float::f64_kernels;
use std::f64::consts::PI;

/// Exact result and permitted error for one operand.
#[derive(Clone, Copy)]
pub(crate) struct UnaryOutcome {
    /// Approximation of the exact result.
    pub(crate) value: f64,
    /// Bound on the absolute error of `value`.
    pub(crate) error: f64,
    /// Lower bound on the permitted error; a NaN where it is unknown.
    pub(crate) bound: f64,
    /// 1.0 where nothing is required, otherwise 0.0.
    pub(crate) any: f64,
}

/// Use of a function of one operand. It is compiled once for each function (static dispatch), so
/// that its loop contains the function's code.
pub(crate) trait UnaryVisitor {
    /// Result of the use.
    type Output;

    /// Applies this use to a function.
    fn visit(self, function: impl Fn(f64) -> UnaryOutcome) -> Self::Output;
}

/// Evaluates the function for each operand of a lane.
pub(crate) struct FillLanes<'a>(pub(crate) &'a LaneValues);

impl UnaryVisitor for FillLanes<'_> {
    type Output = LaneBounds;

    #[inline(always)]
    fn visit(self, function: impl Fn(f64) -> UnaryOutcome) -> LaneBounds {
        // A local copy, which the compiler knows not to alias.
        let x = *self.0;
        vectorised(
            #[inline(always)]
            move || {
                let none = [0.0; LANES];
                let mut point =
                    LaneBounds { exact: ReferenceValue { value: none, error: none }, bound: none, any: none };
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

/// Exponential of `x` for taking its ulp: above one if `x` is positive, even where `f64` shows no
/// difference from one.
#[inline(always)]
pub(super) fn above_one(x: f64, exponential: f64) -> f64 {
    const ABOVE: f64 = 1.0 + 1.0 / (1u64 << 40) as f64;
    if (x > 0.0) & (exponential < ABOVE) { ABOVE } else { exponential }
}

/// Applies the function of an operation with a bound of its own. `None` for operations of several
/// operands and correctly rounded ones.
pub(crate) fn visit_stated_bound<A: UnaryVisitor>(
    real: RealOp,
    evaluator: &SimdEvaluator<'_>,
    visitor: A,
) -> Option<A::Output> {
    let grid = evaluator.grid;
    let near = |value: f64, bound: f64, any: f64| UnaryOutcome { value, error: SLACK / 4.0 * value.abs(), bound, any };
    // The logarithms decode a NaN like a number; adding the product keeps the result a NaN. A NaN
    // marks an unknown value.
    let positive = |x: f64| if x <= 0.0 { 1.0 } else { x };
    let inside = |x: f64| if x.abs() > PI { 0.0 } else { x };
    Some(match (real, real.bound(evaluator.env.specification, evaluator.env.half_column())) {
        (RealOp::Exp, Bound::UlpsPlusTwiceX { base }) => {
            let base = f64::from(base);
            visitor.visit(
                #[inline(always)]
                move |x| {
                    let v = f64_kernels::exp_moderate(bounded(x));
                    near(v, (base + 2.0 * x.abs()) * grid.ulp(above_one(x, v)), 0.0)
                },
            )
        }
        (RealOp::Exp2, Bound::UlpsPlusTwiceX { base }) => {
            let base = f64::from(base);
            visitor.visit(
                #[inline(always)]
                move |x| {
                    let v = f64_kernels::exp2_moderate(bounded(x));
                    near(v, (base + 2.0 * x.abs()) * grid.ulp(above_one(x, v)), 0.0)
                },
            )
        }
        (RealOp::Log | RealOp::Log2, Bound::Logarithm { ulps, exponent, strict: _ }) => {
            let (ulps, within) = (f64::from(ulps), power_of_two(exponent));
            let found = move |x: f64, v: f64| {
                let ulps = ulps * grid.ulp(v);
                near(v, if (x - 1.25).abs() <= 0.75 { within } else { ulps }, flag(x <= 0.0))
            };
            match real {
                RealOp::Log => visitor.visit(
                    #[inline(always)]
                    move |x| found(x, f64_kernels::ln(positive(x)) + 0.0 * positive(x)),
                ),
                _ => visitor.visit(
                    #[inline(always)]
                    move |x| found(x, f64_kernels::log2(positive(x)) + 0.0 * positive(x)),
                ),
            }
        }
        (RealOp::InverseSqrt, Bound::Ulps { half_ulps }) => {
            let n = 0.5 * f64::from(half_ulps);
            visitor.visit(
                #[inline(always)]
                move |x| {
                    let v = 1.0 / positive(x).sqrt();
                    near(v, n * grid.ulp(v), flag(x <= 0.0))
                },
            )
        }
        (RealOp::Sin, Bound::Trigonometric { exponent }) => {
            let bound = power_of_two(exponent);
            // No value of a narrow format is as close to pi as the nearest `f64` is, so that the
            // comparison is right.
            visitor.visit(
                #[inline(always)]
                move |x| near(f64_kernels::sin(inside(x)), bound, flag(x.abs() > PI)),
            )
        }
        (RealOp::Cos, Bound::Trigonometric { exponent }) => {
            let bound = power_of_two(exponent);
            visitor.visit(
                #[inline(always)]
                move |x| near(f64_kernels::cos(inside(x)), bound, flag(x.abs() > PI)),
            )
        }
        (RealOp::Atan, Bound::Ulps { half_ulps }) => {
            let n = 0.5 * f64::from(half_ulps);
            visitor.visit(
                #[inline(always)]
                move |x| {
                    let v = f64_kernels::atan(x);
                    near(v, n * grid.ulp(v), 0.0)
                },
            )
        }
        _ => return None,
    })
}
