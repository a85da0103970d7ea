//! Core arithmetic with IEEE 754's special values, and functions with a stated bound.

use crate::second_method::{
    environment::{Flags, Value},
    functions::{Fun, real},
    num::{Index, Rat, infinity},
    rules::Outcome,
    steps::Env,
    values::{Values, Zeros},
};
use assay_precision::{Op, Rounding};

fn infinite(env: Env, negative: bool) -> Outcome {
    let i = infinity(env.f);
    Outcome::Float { values: Values::point(if negative { -i } else { i }), tiny: false, zeros: Zeros::BOTH }
}

fn nan() -> Outcome {
    Outcome::Float { values: Values::nan(), tiny: false, zeros: Zeros::BOTH }
}

fn rounded(env: Env, q: &Rat, zero: Zeros) -> Outcome {
    let zeros = if q.sign() == 0 { zero } else { Zeros::one(q.sign() < 0) };
    Outcome::Float { values: env.round(q), tiny: env.is_tiny(q), zeros }
}

/// Arithmetic of the core instruction set on numbers.
pub(crate) fn core(op: Op, env: Env, flags: Flags, v: &[Value]) -> Option<Outcome> {
    let number = |k: usize| v[k].number();
    Some(match op {
        // The value that the atomic instruction leaves in memory.
        Op::FAdd | Op::AtomicFAddEXT => sum(env, number(0), number(1)),
        Op::FSub => {
            let (i, negative) = number(1);
            sum(env, number(0), (-i, !negative))
        }
        Op::FMul | Op::VectorTimesScalar | Op::MatrixTimesScalar | Op::OuterProduct => {
            product(env, number(0), number(1))
        }
        Op::FDiv => quotient(env, flags, number(0), number(1)),
        // Values of this invocation and of its neighbour.
        Op::DPdx | Op::DPdy | Op::DPdxFine | Op::DPdyFine | Op::DPdxCoarse | Op::DPdyCoarse => {
            let (i, negative) = number(0);
            sum(env, number(1), (-i, !negative))
        }
        Op::Fwidth | Op::FwidthFine | Op::FwidthCoarse => width(env, number(0), number(1), number(2)),
        Op::FmaKHR => fused(env, number(0), number(1), number(2)),
        _ => return None,
    })
}

/// "The sum of the absolute values of OpDPdx and OpDPdy", correctly rounded as a whole.
fn width(env: Env, here: (Index, bool), beside: (Index, bool), below: (Index, bool)) -> Outcome {
    let infinite_here = env.is_infinite(here.0);
    let neighbours = [beside.0, below.0];
    if infinite_here && neighbours.contains(&here.0) {
        return nan();
    }
    if infinite_here || neighbours.iter().any(|&i| env.is_infinite(i)) {
        return infinite(env, false);
    }
    let value = |i: Index| Rat::value(env.f, i);
    let sum = neighbours.iter().fold(Rat::int(0), |sum, &i| sum.plus(&value(i).minus(&value(here.0)).abs()));
    rounded(env, &sum, Zeros::one(false))
}

/// Sign of an exact zero that is a sum. IEEE 754 gives the common sign, otherwise +0, except when
/// rounding toward negative, which is possible if no mode is declared.
fn zero_of_sum(env: Env, a_negative: bool, b_negative: bool) -> Zeros {
    if a_negative == b_negative {
        Zeros::one(a_negative)
    } else if env.rounding == Rounding::Undeclared {
        Zeros::BOTH
    } else {
        Zeros::one(false)
    }
}

fn sum(env: Env, (a, a_negative): (Index, bool), (b, b_negative): (Index, bool)) -> Outcome {
    match (env.is_infinite(a), env.is_infinite(b)) {
        (true, true) if a_negative != b_negative => nan(),
        (true, _) => infinite(env, a_negative),
        (_, true) => infinite(env, b_negative),
        _ => {
            let q = Rat::value(env.f, a).plus(&Rat::value(env.f, b));
            rounded(env, &q, zero_of_sum(env, a_negative, b_negative))
        }
    }
}

fn product(env: Env, (a, a_negative): (Index, bool), (b, b_negative): (Index, bool)) -> Outcome {
    let negative = a_negative != b_negative;
    if env.is_infinite(a) || env.is_infinite(b) {
        return if a == 0 || b == 0 { nan() } else { infinite(env, negative) };
    }
    rounded(env, &Rat::value(env.f, a).times(&Rat::value(env.f, b)), Zeros::one(negative))
}

fn fused(env: Env, a: (Index, bool), b: (Index, bool), c: (Index, bool)) -> Outcome {
    let negative = a.1 != b.1;
    let any_infinite = env.is_infinite(a.0) || env.is_infinite(b.0);
    if any_infinite {
        return if a.0 == 0 || b.0 == 0 || (env.is_infinite(c.0) && c.1 != negative) {
            nan()
        } else {
            infinite(env, negative)
        };
    }
    if env.is_infinite(c.0) {
        return infinite(env, c.1);
    }
    let product = Rat::value(env.f, a.0).times(&Rat::value(env.f, b.0));
    let q = product.plus(&Rat::value(env.f, c.0));
    rounded(env, &q, zero_of_sum(env, negative, c.1))
}

fn quotient(env: Env, flags: Flags, (a, a_negative): (Index, bool), (b, b_negative): (Index, bool)) -> Outcome {
    let negative = a_negative != b_negative;
    if b == 0 {
        return match (a, env.is_infinite(a)) {
            (0, _) => nan(),
            (_, true) => infinite(env, negative),
            _ if flags.not_inf => Outcome::Anything,
            _ if flags.nsz => {
                let mut values = Values::point(infinity(env.f));
                values.add(-infinity(env.f), -infinity(env.f));
                Outcome::Float { values, tiny: false, zeros: Zeros::BOTH }
            }
            _ => infinite(env, negative),
        };
    }
    if !env.divisor_in_range(b) {
        return Outcome::Anything;
    }
    if env.is_infinite(a) {
        return infinite(env, negative);
    }
    let q = Rat::value(env.f, a).over(&Rat::value(env.f, b));
    let values = env.keeping().quotient::<num_bigint::BigInt>(a, b);
    Outcome::Float { values, tiny: env.is_tiny(&q), zeros: Zeros::one(negative) }
}

/// A function with a stated bound.
pub(crate) fn stated(env: Env, flags: Flags, fun: Fun, v: &[Value]) -> Option<Outcome> {
    let args: Vec<(Index, bool)> = v.iter().map(|v| v.number()).collect();
    if args.iter().any(|a| env.is_infinite(a.0)) {
        // A bound in ulp of infinity, or of a function of it, requires nothing.
        return Some(Outcome::Anything);
    }
    let (i, negative) = args[0];
    if fun == Fun::Atan2 && i == 0 && args[1].0 < 0 {
        // The cut: the sign of zero selects the side on which the point lies.
        let (mut values, tiny) = env.stated(fun, &[0, args[1].0]);
        let (lo, hi) = values.ends().unwrap();
        if negative {
            values = Values::range(-hi, -lo);
        }
        return Some(Outcome::Float { values, tiny, zeros: Zeros::BOTH });
    }
    if fun == Fun::Atan2 && i == 0 && args[1].0 > 0 {
        return Some(
            Outcome::Float { values: Values::point(0), tiny: false, zeros: Zeros::one(negative) }.widen_zero(env, fun),
        );
    }
    let _ = flags;
    let exact: Vec<Rat> = args.iter().map(|a| Rat::value(env.f, a.0)).collect();
    if real(fun, &exact, 192).is_none() {
        return Some(Outcome::Anything);
    }
    let idx: Vec<Index> = args.iter().map(|a| a.0).collect();
    let (values, tiny) = env.stated(fun, &idx);
    if values.any {
        return Some(Outcome::Anything);
    }
    Some(Outcome::Float { values, tiny, zeros: Zeros::BOTH })
}

impl Outcome {
    /// Result of zero with a bound in ulp: the neighbouring denormals are within the bound.
    fn widen_zero(self, env: Env, fun: Fun) -> Outcome {
        match self {
            Outcome::Float { tiny, zeros, .. } => {
                let (values, _) =
                    env.stated(fun, &[0, crate::second_method::num::Q::<num_bigint::BigInt>::int(1).down(env.f)]);
                let zeros = if values.ends() == Some((0, 0)) { zeros } else { Zeros::BOTH };
                Outcome::Float { values, tiny, zeros }
            }
            other => other,
        }
    }
}
