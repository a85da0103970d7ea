//! Infinitely precise results, approximated in `f64` with a bound on the error (running error
//! analysis: Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, section 3.3).

use super::{
    SimdEvaluator,
    arithmetic::{LANES, LaneValues, SLACK, flag, lane, lanes, vectorised},
};
use crate::{
    Specification,
    bound::divisor_exponent,
    formula::{ExactDefinition, Formula, Node, NodeId},
    real_op::RealOp,
    wgsl,
};
use assay_float::{Function, f64_kernels};
use std::f64::consts::PI;

/// Real number for each lane: it differs from `value` by at most `error`.
#[derive(Clone, Debug)]
pub(crate) struct ReferenceValue {
    pub(crate) value: LaneValues,
    pub(crate) error: LaneValues,
}

/// Relative error bound of one rounding to `f64`: `2^-52`, twice the unit roundoff, so that
/// second-order terms are covered.
const ROUNDING: f64 = f64::EPSILON;

impl ReferenceValue {
    /// Numbers that the values equal exactly.
    pub(crate) fn certain(value: LaneValues) -> ReferenceValue {
        ReferenceValue { value, error: [0.0; LANES] }
    }

    /// Numbers that the values approximate within a quarter of the slack, relatively.
    fn within_slack(value: LaneValues) -> ReferenceValue {
        let of = &value;
        let error = lanes!([of], |i| SLACK / 4.0 * of[i].abs());
        ReferenceValue { value, error }
    }
}

/// Exact result of an operation on exactly known operands, and the lanes in which nothing is
/// required. `None` for operations that are evaluated elsewhere.
pub(crate) fn real_operation(
    real: RealOp,
    x: &[&LaneValues],
    evaluator: &SimdEvaluator<'_>,
) -> Option<(ReferenceValue, LaneValues)> {
    let half = evaluator.env.half_column();
    let none = [0.0; LANES];
    let rounding = |value: LaneValues| {
        let of = &value;
        let error = lanes!([of], |i| ROUNDING * of[i].abs());
        ReferenceValue { value, error }
    };
    let (a, b) = (x[0], x.get(1).copied().unwrap_or(x[0]));
    Some(match real {
        RealOp::Add => (rounding(lanes!([a, b], |i| a[i] + b[i])), none),
        RealOp::Sub => (rounding(lanes!([a, b], |i| a[i] - b[i])), none),
        RealOp::Mul => (rounding(lanes!([a, b], |i| a[i] * b[i])), none),
        RealOp::Difference => (rounding(lanes!([a, b], |i| b[i] - a[i])), none),
        RealOp::FromInt | RealOp::Convert | RealOp::PackHalf => (ReferenceValue::certain(*x[0]), none),
        RealOp::Fract => (rounding(lanes!([a], |i| a[i] - a[i].floor())), none),
        RealOp::Div => {
            let e = 2f64.powi(divisor_exponent(half));
            let any = lanes!([b], |i| flag((b[i].abs() < 1.0 / e) | (b[i].abs() > e)));
            let outside = &any;
            let value = lanes!([a, b, outside], |i| {
                let quotient = a[i] / b[i];
                if outside[i] > 0.0 { 0.0 } else { quotient }
            });
            (rounding(value), any)
        }
        RealOp::Atan2 => {
            // WGSL requires nothing for x out of range or y that is not normal.
            let (least_x, most_x, least_y) = match evaluator.env.specification {
                Specification::Vulkan => (0.0, f64::INFINITY, 0.0),
                Specification::Wgsl => {
                    let e = 2f64.powi(wgsl::wgsl_bounds::range_exponent(half));
                    (1.0 / e, e, evaluator.grid.min_normal)
                }
            };
            let any = vectorised(|| {
                lane(|i| {
                    let (y, x) = (x[0][i], x[1][i]);
                    let outside = (x.abs() < least_x) | (x.abs() > most_x) | (y.abs() < least_y);
                    flag((y == 0.0 && x == 0.0) | outside)
                })
            });
            let value = vectorised(|| lane(|i| if any[i] > 0.0 { 0.0 } else { f64_kernels::atan2(x[0][i], x[1][i]) }));
            (ReferenceValue::within_slack(value), any)
        }
        // The exact result of three operands, or of a scale, may not fit the precision or the range
        // of `f64`.
        RealOp::Fma | RealOp::Dot | RealOp::Width | RealOp::Ldexp | RealOp::Unpack => return None,
        // Functions of one operand with a bound of their own are handled by
        // `unary::visit_stated_bound`.
        RealOp::Exp
        | RealOp::Exp2
        | RealOp::Log
        | RealOp::Log2
        | RealOp::InverseSqrt
        | RealOp::Sin
        | RealOp::Cos
        | RealOp::Atan => {
            return None;
        }
    })
}

/// Clamps an operand to the domain in which the exponentials fit `f64`; beyond it the format
/// overflows or underflows anyway.
#[inline(always)]
pub(super) fn bounded(x: f64) -> f64 {
    let x = if x > 300.0 { 300.0 } else { x };
    if x < -300.0 { -300.0 } else { x }
}

/// Operands with 1 in place of those that are not positive, and a flag for each of these. A NaN,
/// which marks an unknown value, is kept.
fn positive(x: &LaneValues) -> (LaneValues, LaneValues) {
    (lanes!([x], |i| if x[i] <= 0.0 { 1.0 } else { x[i] }), lanes!([x], |i| flag(x[i] <= 0.0)))
}

/// Exact result of a formula. `None` if the formula contains an operation that is not handled here.
pub(crate) fn formula(formula: &Formula, x: &[&LaneValues]) -> Option<ReferenceValue> {
    let map = |f: fn(f64) -> f64| ReferenceValue::within_slack(vectorised(|| lane(|i| f(x[0][i]))));
    Some(match formula.definition {
        // The formula itself, evaluated in double precision, approximates its exact result.
        ExactDefinition::Formula | ExactDefinition::Normalized(_) => {
            let operands: Vec<ReferenceValue> = x.iter().map(|&x| ReferenceValue::certain(*x)).collect();
            node(formula, formula.root, &operands)?
        }
        ExactDefinition::Function(function) => match function {
            Function::Sqrt => map(f64::sqrt),
            Function::Tan => map(f64_kernels::tan),
            Function::Asin => map(f64_kernels::asin),
            Function::Acos => map(f64_kernels::acos),
            Function::Sinh => map(|x| f64_kernels::sinh(bounded(x))),
            Function::Cosh => map(|x| f64_kernels::cosh(bounded(x))),
            Function::Tanh => map(|x| f64_kernels::tanh(x.clamp(-300.0, 300.0))),
            Function::Asinh => map(f64_kernels::asinh),
            Function::Acosh => map(f64_kernels::acosh),
            Function::Atanh => map(f64_kernels::atanh),
            Function::InverseSqrt
            | Function::Exp
            | Function::Exp2
            | Function::Ln
            | Function::Log2
            | Function::Sin
            | Function::Cos
            | Function::Atan => return None,
        },
        // The remainder of `f64` is exact. Its correction adds one rounding.
        ExactDefinition::RemTrunc => ReferenceValue::certain(lane(|i| x[0][i] % x[1][i])),
        ExactDefinition::RemFloor => {
            let value = lane(|i| {
                let r = x[0][i] % x[1][i];
                if r != 0.0 && (r < 0.0) != (x[1][i] < 0.0) { r + x[1][i] } else { r }
            });
            let error = lane(|i| ROUNDING * x[1][i].abs());
            ReferenceValue { value, error }
        }
        ExactDefinition::Pow => {
            let (base, _) = positive(x[0]);
            let exponent = vectorised(|| lane(|i| x[1][i] * f64_kernels::log2(base[i])));
            let value = vectorised(|| lane(|i| f64_kernels::exp2_moderate(bounded(exponent[i]))));
            let error = vectorised(|| lane(|i| SLACK / 4.0 * (1.0 + exponent[i].abs()) * value[i]));
            ReferenceValue { value, error }
        }
    })
}

/// Exact value of a node, with the errors of the operands propagated.
fn node(formula: &Formula, id: NodeId, x: &[ReferenceValue]) -> Option<ReferenceValue> {
    let of = |id: NodeId| node(formula, id, x);
    Some(match &formula.nodes[id] {
        Node::Operand(i) => x[*i].clone(),
        Node::Constant(value) => ReferenceValue::certain([value.to_f64(); LANES]),
        Node::RadiansPerDegree => ReferenceValue::within_slack([PI / 180.0; LANES]),
        Node::DegreesPerRadian => ReferenceValue::within_slack([180.0 / PI; LANES]),
        Node::Sum(sum) => {
            let mut total: Option<ReferenceValue> = None;
            for term in &sum.terms {
                let mut product: Option<ReferenceValue> = None;
                for &factor in &term.factors {
                    let value = of(factor)?;
                    product = Some(match product {
                        Some(p) => mul(&p, &value),
                        None => value,
                    });
                }
                let mut product = product.unwrap_or_else(|| ReferenceValue::certain([1.0; LANES]));
                if term.negative {
                    product.value = product.value.map(|v| -v);
                }
                total = Some(match total {
                    Some(t) => add(&t, &product),
                    None => product,
                });
            }
            total?
        }
        Node::Real(RealOp::Div, operands) => div(&of(operands[0])?, &of(operands[1])?),
        Node::Real(RealOp::InverseSqrt, operands) => {
            div(&ReferenceValue::certain([1.0; LANES]), &sqrt(&of(operands[0])?))
        }
        Node::Inherited(inner, operands) => {
            let operands: Vec<ReferenceValue> = operands.iter().map(|&o| of(o)).collect::<Option<_>>()?;
            match inner.definition {
                ExactDefinition::Function(Function::Sqrt) => sqrt(&operands[0]),
                ExactDefinition::Formula | ExactDefinition::Normalized(_) => node(inner, inner.root, &operands)?,
                ExactDefinition::Function(_)
                | ExactDefinition::RemTrunc
                | ExactDefinition::RemFloor
                | ExactDefinition::Pow => return None,
            }
        }
        Node::ClampToUnit(operand) => {
            let mut exact = of(*operand)?;
            exact.value = exact.value.map(|v| v.clamp(0.0, 1.0));
            exact
        }
        Node::NotNegative(operand) => of(*operand)?,
        Node::Select { condition, negative, otherwise } => {
            let (condition, negative, otherwise) = (of(*condition)?, of(*negative)?, of(*otherwise)?);
            let pick = |i: usize| if condition.value[i] < 0.0 { &negative } else { &otherwise };
            // If the sign of the condition is undecided, the result is unknown.
            let known = |i: usize| condition.value[i].abs() > condition.error[i] || condition.error[i] == 0.0;
            ReferenceValue {
                value: lane(|i| pick(i).value[i]),
                error: lane(|i| if known(i) { pick(i).error[i] } else { f64::NAN }),
            }
        }
        Node::Either(formulas) => of(formulas[0])?,
        Node::Let(value, body) => node(body, body.root, &[of(*value)?])?,
        Node::Real(..) | Node::Floor(_) | Node::Trunc(_) => return None,
    })
}

fn add(a: &ReferenceValue, b: &ReferenceValue) -> ReferenceValue {
    let value = vectorised(|| lane(|i| a.value[i] + b.value[i]));
    let error = vectorised(|| lane(|i| a.error[i] + b.error[i] + ROUNDING * value[i].abs()));
    ReferenceValue { value, error }
}

fn mul(a: &ReferenceValue, b: &ReferenceValue) -> ReferenceValue {
    let value = vectorised(|| lane(|i| a.value[i] * b.value[i]));
    let error = vectorised(|| {
        lane(|i| {
            let carried = a.value[i].abs() * b.error[i] + (b.value[i].abs() + b.error[i]) * a.error[i];
            carried * (1.0 + SLACK) + ROUNDING * value[i].abs()
        })
    });
    ReferenceValue { value, error }
}

fn div(a: &ReferenceValue, b: &ReferenceValue) -> ReferenceValue {
    let value = vectorised(|| lane(|i| a.value[i] / b.value[i]));
    let error = vectorised(|| {
        lane(|i| {
            let least = b.value[i].abs() - b.error[i];
            let carried = (a.error[i] + value[i].abs() * b.error[i]) / least;
            if least > 0.0 { carried * (1.0 + SLACK) + ROUNDING * value[i].abs() } else { f64::NAN }
        })
    });
    ReferenceValue { value, error }
}

fn sqrt(a: &ReferenceValue) -> ReferenceValue {
    let value = vectorised(|| lane(|i| a.value[i].sqrt()));
    // |sqrt(v + e) - sqrt(v)| <= e / sqrt(v)
    let error = vectorised(|| {
        lane(|i| {
            let carried = if a.error[i] > 0.0 { a.error[i] / value[i] } else { 0.0 };
            let known = a.value[i] > 2.0 * a.error[i] || a.error[i] == 0.0;
            if known { carried * (1.0 + SLACK) + ROUNDING * value[i] } else { f64::NAN }
        })
    });
    ReferenceValue { value, error }
}
