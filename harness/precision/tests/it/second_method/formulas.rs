//! Formulas of the tables, and exact results of the instructions that inherit from them.

use crate::second_method::{
    environment::Value,
    functions::{Ball, Fun, real},
    inherited::{cosh, cubic, dot, dot_call, exact_dot, length, sinh, sqrt},
    num::{Q, Rat},
    rewrite::{Ex, Name, add, call, div, half, leaf, mul, num, sub},
};
use assay_precision::Op;

/// Returns true if the instruction is a sum of products of pairs of operand scalars.
pub(crate) fn is_sum(op: Op) -> bool {
    matches!(op, Op::Dot | Op::MatrixTimesVector | Op::VectorTimesMatrix | Op::MatrixTimesMatrix)
}

/// Returns true if the instruction set leaves the value undefined.
pub(crate) fn undefined(op: Op, v: &[Value]) -> bool {
    let at = |k: usize| v[k].number().0;
    match op {
        Op::Pow => at(0) < 0 || (at(0) == 0 && at(1) <= 0),
        Op::SmoothStep => at(1) <= at(0),
        Op::FRem | Op::FMod => at(1) == 0,
        _ => false,
    }
}

/// Formula for component `i` of the result of an instruction on vectors of `n` components (1 for
/// scalars), over all operand scalars in order. `None` if its precision is not inherited, or
/// inherited by a condition. In the lenient reading each use of a named intermediate may have
/// another value.
pub(crate) fn formula(op: Op, i: usize, n: usize, lenient: bool) -> Option<Ex> {
    let x = leaf(0);
    let fun = |f, args: &[Ex]| call(Name::Fun(f), args);
    let root = |e: &Ex| call(Name::Sqrt, std::slice::from_ref(e));
    let one = num(1);
    // Operands of a component-wise instruction.
    let (a, b, c) = (leaf(i), leaf(n + i), leaf(2 * n + i));
    Some(match op {
        Op::Fma => add(&mul(&a, &b), &c),
        Op::FRem | Op::FMod => {
            let name = if op == Op::FRem { Name::Trunc } else { Name::Floor };
            sub(&a, &mul(&b, &call(name, &[div(&a, &b)])))
        }
        Op::Sqrt => sqrt(),
        Op::Pow => fun(Fun::Exp2, &[mul(&leaf(1), &fun(Fun::Log2, &[x]))]),
        Op::Radians => mul(&x, &Ex::Radian),
        Op::Degrees => mul(&x, &Ex::Degree),
        Op::Tan => div(&fun(Fun::Sin, std::slice::from_ref(&x)), &fun(Fun::Cos, std::slice::from_ref(&x))),
        Op::Asin => fun(Fun::Atan2, &[x.clone(), root(&sub(&one, &mul(&x, &x)))]),
        Op::Acos => fun(Fun::Atan2, &[root(&sub(&one, &mul(&x, &x))), x]),
        Op::Sinh => sinh(),
        Op::Cosh => cosh(),
        Op::Tanh => div(&call(Name::Sinh, std::slice::from_ref(&x)), &call(Name::Cosh, std::slice::from_ref(&x))),
        Op::Asinh => fun(Fun::Log, &[add(&x, &root(&add(&mul(&x, &x), &one)))]),
        Op::Acosh => fun(Fun::Log, &[add(&x, &root(&sub(&mul(&x, &x), &one)))]),
        Op::Atanh => mul(&fun(Fun::Log, &[div(&add(&one, &x), &sub(&one, &x))]), &half()),
        Op::Length => length(n),
        Op::Distance => call(Name::Length, &(0..n).map(|k| sub(&leaf(k), &leaf(n + k))).collect::<Vec<_>>()),
        op if is_sum(op) => dot(0, n, n),
        Op::Cross => {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            sub(&mul(&leaf(j), &leaf(3 + k)), &mul(&leaf(3 + j), &leaf(k)))
        }
        Op::Normalize => mul(&a, &fun(Fun::InverseSqrt, &[dot_call(0, 0, n)])),
        Op::Reflect => sub(&a, &mul(&mul(&num(2), &dot_call(n, 0, n)), &b)),
        Op::FMix => add(&mul(&a, &sub(&one, &c)), &mul(&b, &c)),
        Op::SmoothStep => {
            let t = call(Name::Clamp, &[div(&sub(&c, &a), &sub(&b, &a))]);
            if lenient { cubic(&t) } else { call(Name::Cubic, &[t]) }
        }
        _ => return None,
    })
}

/// The exact result of such an instruction.
pub(crate) fn exact(op: Op, i: usize, n: usize, v: &[Rat], bits: usize) -> Option<Ball> {
    let at = |k: usize| &v[k * n + i];
    let one = Rat::int(1);
    let whole = |q: &Rat| Q { n: q.floor(), d: 1.into() };
    let fun = |f| real(f, v, bits);
    let point = |q| Some(Ball::exact(q));
    match op {
        Op::Fma => point(at(0).times(at(1)).plus(at(2))),
        Op::FRem | Op::FMod => {
            if at(1).sign() == 0 {
                return None;
            }
            let q = at(0).over(at(1));
            let w = if op == Op::FMod || q.sign() > 0 { whole(&q) } else { whole(&q.negated()).negated() };
            point(at(0).minus(&at(1).times(&w)))
        }
        Op::Sqrt => fun(Fun::Sqrt),
        Op::Pow => fun(Fun::Pow),
        Op::Radians | Op::Degrees => {
            let pi = real(Fun::Atan2, &[Rat::int(0), Rat::int(-1)], bits)?;
            if v[0].sign() == 0 {
                return point(Rat::int(0));
            }
            let c = |pi: &Rat| {
                let unit = Rat::int(180);
                v[0].times(&if op == Op::Radians { pi.over(&unit) } else { unit.over(pi) })
            };
            let (a, b) = (c(&pi.lo), c(&pi.hi));
            Some(if a.lt(&b) { Ball { lo: a, hi: b } } else { Ball { lo: b, hi: a } })
        }
        Op::Tan => fun(Fun::Tan),
        Op::Asin => fun(Fun::Asin),
        Op::Acos => fun(Fun::Acos),
        Op::Sinh => fun(Fun::Sinh),
        Op::Cosh => fun(Fun::Cosh),
        Op::Tanh => fun(Fun::Tanh),
        Op::Asinh => fun(Fun::Asinh),
        Op::Acosh => fun(Fun::Acosh),
        Op::Atanh => fun(Fun::Atanh),
        Op::Length => real(Fun::Sqrt, &[exact_dot(v, v)], bits),
        Op::Distance => {
            let d: Vec<Rat> = (0..n).map(|k| v[k].minus(&v[n + k])).collect();
            real(Fun::Sqrt, &[exact_dot(&d, &d)], bits)
        }
        op if is_sum(op) => point(exact_dot(&v[..n], &v[n..])),
        Op::Cross => {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            point(v[j].times(&v[3 + k]).minus(&v[3 + j].times(&v[k])))
        }
        Op::Normalize => {
            let square = exact_dot(v, v);
            let r = real(Fun::InverseSqrt, &[square], bits)?;
            let (a, b) = (r.lo.times(at(0)), r.hi.times(at(0)));
            Some(if a.lt(&b) { Ball { lo: a, hi: b } } else { Ball { lo: b, hi: a } })
        }
        Op::Reflect => {
            let d = exact_dot(&v[..n], &v[n..]);
            point(at(0).minus(&Rat::int(2).times(&d).times(at(1))))
        }
        Op::FMix => point(at(0).times(&one.minus(at(2))).plus(&at(1).times(at(2)))),
        Op::SmoothStep => {
            if at(1).le(at(0)) {
                return None;
            }
            let t = at(2).minus(at(0)).over(&at(1).minus(at(0)));
            let t = if t.sign() < 0 {
                Rat::int(0)
            } else if one.lt(&t) {
                one
            } else {
                t
            };
            point(t.times(&t).times(&Rat::int(3).minus(&t.times(&Rat::int(2)))))
        }
        _ => unreachable!("not inherited"),
    }
}
