//! `FaceForward` and `Refract`, whose formulas have a condition.

use crate::second_method::{
    environment::Value,
    functions::{Ball, Fun, real},
    inherited::{Evaluation, about, any_number, dot_call, exact_dot},
    num::{Index, Rat},
    rewrite::{Ex, Name, add, call, leaf, mul, num, sub},
    rules::Outcome,
    steps::Env,
    values::{Values, Zeros},
};
use assay_precision::Op;

/// Rule for component `i` of vectors of `n` components.
pub(crate) fn rule(op: Op, env: Env, i: usize, n: usize, v: &[Value]) -> Option<Outcome> {
    let leaves: Vec<Index> = v.iter().map(|v| v.number().0).collect();
    let infinite = leaves.iter().any(|&i| env.is_infinite(i));
    // For infinite operands, only the possibility of an infinite result matters.
    let exact: Vec<Rat> = leaves.iter().map(|&i| if infinite { Rat::int(0) } else { Rat::value(env.f, i) }).collect();
    let evaluation = Evaluation::new(env, &leaves);
    let (values, tiny) = match op {
        Op::FaceForward => {
            let condition = evaluation.all_forms(&dot_call(2 * n, n, n));
            let (yes, no) = (leaf(i), crate::second_method::rewrite::neg(&leaf(i)));
            let values = select(&evaluation, &condition, &yes, &no);
            if infinite {
                return Some(of_infinite(env, &values));
            }
            about(env, &values, |_| {
                let below = exact_dot(&exact[2 * n..], &exact[n..2 * n]).sign() < 0;
                Some(Ball::exact(if below { exact[i].clone() } else { exact[i].negated() }))
            })
        }
        _ => {
            let (eta, dot) = (leaf(2 * n), dot_call(n, 0, n));
            let squares = mul(&eta, &eta);
            let k = sub(&num(1), &mul(&squares, &sub(&num(1), &mul(&dot, &dot))));
            let root = call(Name::Sqrt, &[call(Name::NotNegative, std::slice::from_ref(&k))]);
            let bent = sub(&mul(&eta, &leaf(i)), &mul(&add(&mul(&eta, &dot), &root), &leaf(n + i)));
            let condition = evaluation.all_forms(&k);
            let values = select(&evaluation, &condition, &num(0), &bent);
            if infinite {
                return Some(of_infinite(env, &values));
            }
            about(env, &values, |bits| {
                let d = exact_dot(&exact[n..2 * n], &exact[..n]);
                let one = Rat::int(1);
                let eta = &exact[2 * n];
                let k = one.minus(&eta.times(eta).times(&one.minus(&d.times(&d))));
                if k.sign() < 0 {
                    return Some(Ball::exact(Rat::int(0)));
                }
                let root = real(Fun::Sqrt, &[k], bits)?;
                let with = |r: &Rat| eta.times(&exact[i]).minus(&eta.times(&d).plus(r).times(&exact[n + i]));
                let (a, b) = (with(&root.lo), with(&root.hi));
                Some(if a.le(&b) { Ball { lo: a, hi: b } } else { Ball { lo: b, hi: a } })
            })
        }
    };
    Some(Outcome::Float { values, tiny, zeros: Zeros::BOTH })
}

fn of_infinite(env: Env, values: &Values) -> Outcome {
    let infinite = !values.any && values.ends().is_some_and(|(lo, hi)| env.is_infinite(lo) || env.is_infinite(hi));
    let values = if infinite { any_number(env) } else { Values::any() };
    Outcome::Float { values, tiny: false, zeros: Zeros::BOTH }
}

/// `condition < 0.0 ? yes : no`
fn select(evaluation: &Evaluation<'_>, condition: &Values, yes: &Ex, no: &Ex) -> Values {
    if condition.any || condition.nan {
        return Values::any();
    }
    let condition = evaluation.env.read(condition);
    let (least, greatest) = condition.ends().unwrap();
    let env = evaluation.env;
    if env.not_inf && (env.is_infinite(least) || env.is_infinite(greatest)) {
        return Values::any();
    }
    let mut values = Values::default();
    if least < 0 {
        values.join(&evaluation.all_forms(yes));
    }
    if greatest >= 0 {
        values.join(&evaluation.all_forms(no));
    }
    values
}
