//! Minima, maxima, clamps and steps, also of the values of a subgroup and in memory.

use crate::second_method::{
    environment::Value,
    num::{Index, Rat},
    rules::Outcome,
    steps::Env,
    values::{Values, Zeros},
};
use assay_precision::Op;

/// A number with the sign of its zero, or a NaN.
type Operand = Option<(Index, bool)>;

/// Results that an operand-selecting instruction may return: any of these.
type Choice = Vec<Operand>;

/// `-0` orders below `+0`.
fn below(a: (Index, bool), b: (Index, bool)) -> bool {
    a.0 < b.0 || (a.0 == 0 && b.0 == 0 && a.1 && !b.1)
}

/// Lesser or greater of two operands. With `quiet`, the number out of a number and a NaN; otherwise
/// either.
fn extreme(a: Operand, b: Operand, greater: bool, quiet: bool) -> Choice {
    match (a, b) {
        (None, None) => vec![None],
        (None, n) | (n, None) if quiet => vec![n],
        (None, n) | (n, None) => vec![n, None],
        (Some(x), Some(y)) => vec![Some(if below(x, y) == greater { y } else { x })],
    }
}

fn combine(a: &Choice, b: Operand, greater: bool, quiet: bool) -> Choice {
    a.iter().flat_map(|&a| extreme(a, b, greater, quiet)).collect()
}

/// Lesser or greater of two operands without an order of the two zeros, the number out of a number
/// and a NaN.
fn unordered_extreme(a: Operand, b: Operand, greater: bool) -> Choice {
    match (a, b) {
        (Some((0, _)), Some((0, _))) => vec![a, b],
        _ => extreme(a, b, greater, true),
    }
}

/// Value that SPV_EXT_shader_atomic_float_min_max leaves in memory: "min(x, qNaN) = min(qNaN, x) = x",
/// "min(x, sNaN) = min(sNaN, x) = NaN or x", "min(-0, +0) = min(+0, -0) = +0 or -0".
fn atomic_extreme(a: Operand, b: Operand, greater: bool, is_signalling: bool) -> Choice {
    let mut choice = unordered_extreme(a, b, greater);
    choice.extend(is_signalling.then_some(None));
    choice
}

/// Instructions that return one of their operands, and `Step`. The operands' bits tell signalling
/// NaNs.
pub(crate) fn choice(op: Op, slot: usize, env: Env, v: &[Value], bits: &[u64]) -> Option<Outcome> {
    let operand = |k: usize| match v[k] {
        Value::Nan => None,
        number => Some(number.number()),
    };
    let choice = match op {
        Op::Step => {
            let less = matches!((operand(0), operand(1)), (Some(edge), Some(x)) if x.0 < edge.0);
            let values = Values::point(if less { 0 } else { Rat::int(1).down(env.f) });
            return Some(Outcome::Float { values, tiny: false, zeros: Zeros::one(false) });
        }
        Op::FMin | Op::NMin => extreme(operand(0), operand(1), false, op == Op::NMin),
        Op::FMax | Op::NMax => extreme(operand(0), operand(1), true, op == Op::NMax),
        // "If for any two Values one of them is a NaN, the other is chosen. If all Value(s) that are
        // used by the current invocation are NaN, then the result is an undefined value."
        Op::GroupNonUniformFMin | Op::GroupNonUniformFMax => {
            if v.iter().all(|v| *v == Value::Nan) {
                return Some(Outcome::Anything);
            }
            unordered_extreme(operand(0), operand(1), op == Op::GroupNonUniformFMax)
        }
        // "The instruction's result is the Original Value".
        Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT if slot == 0 => vec![operand(0)],
        Op::AtomicFMinEXT | Op::AtomicFMaxEXT => {
            let is_quiet = |bits: u64| bits >> (env.f.fraction_bits - 1) & 1 == 1;
            let is_signalling = v.iter().zip(bits).any(|(v, &bits)| *v == Value::Nan && !is_quiet(bits));
            atomic_extreme(operand(0), operand(1), op == Op::AtomicFMaxEXT, is_signalling)
        }
        Op::FClamp | Op::NClamp => {
            if let (Some(lo), Some(hi)) = (operand(1), operand(2))
                && hi.0 < lo.0
            {
                return Some(Outcome::Anything);
            }
            let quiet = op == Op::NClamp;
            combine(&extreme(operand(0), operand(1), true, quiet), operand(2), false, quiet)
        }
        _ => return None,
    };
    let mut values = Values::default();
    let mut zeros = Zeros::default();
    for chosen in choice {
        match chosen {
            None => values.nan = true,
            Some((i, negative)) => {
                values.add(i, i);
                if i == 0 {
                    zeros.negative |= negative;
                    zeros.positive |= !negative;
                }
            }
        }
    }
    Some(Outcome::Float { values, tiny: false, zeros })
}
