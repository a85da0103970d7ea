//! Precision inherited from a formula: every formula, every value of every intermediate, then the
//! interval about the exact result.

use crate::second_method::{
    functions::{Ball, Fun, decide, real},
    num::{Index, Q, Rat, infinity},
    rewrite::{Ex, Name, add, div, forms, half, leaf, mul, num, sub},
    steps::Env,
    values::Values,
};
use assay_float::F16;
use std::{cell::RefCell, collections::HashMap};

/// Number of members of an intermediate set above which only a selection is evaluated (see
/// [`Values::members`]); never for halves.
fn limit(env: Env) -> i64 {
    if env.f == F16 { 70_000 } else { 600 }
}

/// A formula over operand scalars with known values.
pub(crate) struct Evaluation<'a> {
    pub(crate) env: Env,
    pub(crate) leaves: &'a [Index],
    known: RefCell<HashMap<Ex, Values>>,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(env: Env, leaves: &'a [Index]) -> Self {
        Evaluation { env, leaves, known: RefCell::default() }
    }

    /// The values of every formula equivalent to this one.
    pub(crate) fn all_forms(&self, e: &Ex) -> Values {
        let mut all = Values::default();
        let merged = self.env.equal_operands.then(|| e.with_leaves(&|i| self.first_equal(i)));
        let also = merged.filter(|merged| merged != e).map(|merged| forms(&merged));
        for form in forms(e).iter().chain(also.iter().flat_map(|forms| forms.iter())) {
            all.join(&self.one_form(form));
            if all.any || all.nan {
                return Values::any();
            }
        }
        all
    }

    /// The first operand with the value of this one, or with the opposite value.
    fn first_equal(&self, i: usize) -> Ex {
        let value = self.leaves[i];
        let first = (0..i).find(|&j| self.leaves[j].abs() == value.abs()).unwrap_or(i);
        if self.leaves[first] == value { leaf(first) } else { Ex::Neg(leaf(first).into()) }
    }

    fn one_form(&self, e: &Ex) -> Values {
        if let Some(known) = self.known.borrow().get(e) {
            return known.clone();
        }
        let v = self.step(e);
        self.known.borrow_mut().insert(e.clone(), v.clone());
        v
    }

    fn step(&self, e: &Ex) -> Values {
        let env = self.env;
        match e {
            Ex::Leaf(i) => env.read_one(self.leaves[*i]),
            Ex::Const(n, e) => Values::point(Rat::scaled(*n, *e).down(env.f)),
            Ex::Radian | Ex::Degree => angle_unit(env, *e == Ex::Radian),
            Ex::Neg(a) => {
                let mut out = self.one_form(a);
                out.ranges = out.ranges.iter().rev().map(|&(lo, hi)| (-hi, -lo)).collect();
                out
            }
            Ex::Add(a, b) => self.pairs(a, b, |a, b| env.add(a, b)),
            Ex::Mul(a, b) => self.pairs(a, b, |a, b| env.mul(a, b)),
            Ex::Div(a, b) => self.pairs(a, b, |a, b| env.div(a, b)),
            Ex::Call(name, args) => {
                let sets: Vec<Values> = args.iter().map(|a| env.read(&self.all_forms(a))).collect();
                if sets.iter().any(|s| s.any || s.nan) {
                    return Values::any();
                }
                self.combinations(&sets, |args| self.call(*name, args))
            }
        }
    }

    fn pairs(&self, a: &Ex, b: &Ex, op: impl Fn(Index, Index) -> Values) -> Values {
        let (a, b) = (self.env.read(&self.one_form(a)), self.env.read(&self.one_form(b)));
        if a.any || b.any || a.nan || b.nan {
            return Values::any();
        }
        self.combinations(&[a, b], |v| op(v[0], v[1]))
    }

    /// The union over all combinations of members.
    fn combinations(&self, sets: &[Values], op: impl Fn(&[Index]) -> Values) -> Values {
        let members: Vec<Vec<Index>> = sets.iter().map(|s| s.members(self.env.f, limit(self.env))).collect();
        let mut found = Vec::new();
        let mut at = vec![0; sets.len()];
        let mut values: Vec<Index> = members.iter().map(|m| m[0]).collect();
        loop {
            let one = op(&values);
            if one.any || one.nan {
                return Values::any();
            }
            found.extend(one.ranges);
            if found.len() > 1 << 16 {
                found = Values::of(found).ranges;
            }
            let Some(next) = (0..at.len()).find(|&k| at[k] + 1 < members[k].len()) else { return Values::of(found) };
            at[..next].fill(0);
            at[next] += 1;
            for k in 0..=next {
                values[k] = members[k][at[k]];
            }
        }
    }

    fn call(&self, name: Name, args: &[Index]) -> Values {
        let (env, x) = (self.env, args[0]);
        let one = Rat::int(1).down(env.f);
        let finite = !env.is_infinite(x);
        match name {
            Name::Fun(fun) => env.function(fun, args),
            Name::Clamp if finite || !env.not_inf => Values::point(x.clamp(0, one)),
            Name::Floor | Name::Trunc if finite => {
                let q = Rat::value(env.f, x);
                let down = name == Name::Floor || q.sign() > 0;
                let whole = if down { q.floor() } else { -q.negated().floor() };
                Values::point(Q { n: whole, d: 1.into() }.down(env.f))
            }
            Name::Floor | Name::Trunc | Name::Clamp => Values::any(),
            Name::Cubic => Evaluation::new(env, &[x]).all_forms(&cubic(&leaf(0))),
            Name::NotNegative if x < 0 => Values::default(),
            Name::NotNegative => Values::point(x),
            Name::Sqrt | Name::Sinh | Name::Cosh if finite => self.nested_function(name, x),
            Name::Dot | Name::Length if args.iter().all(|&i| !env.is_infinite(i)) => self.nested_sum(name, args),
            Name::Sqrt | Name::Sinh | Name::Cosh | Name::Dot | Name::Length => Values::any(),
        }
    }

    fn nested_function(&self, name: Name, x: Index) -> Values {
        let (formula, fun) = match name {
            Name::Sinh => (sinh(), Fun::Sinh),
            Name::Cosh => (cosh(), Fun::Cosh),
            _ => (sqrt(), Fun::Sqrt),
        };
        if fun == Fun::Sqrt && x == 0 {
            return Values::point(0);
        }
        let (v, tiny) = inherited(self.env, &formula, &[x], |bits| real(fun, &[Rat::value(self.env.f, x)], bits));
        self.env.flushed(v, tiny)
    }

    fn nested_sum(&self, name: Name, args: &[Index]) -> Values {
        let f = self.env.f;
        let v: Vec<Rat> = args.iter().map(|&i| Rat::value(f, i)).collect();
        let (v, tiny) = if name == Name::Dot {
            let n = args.len() / 2;
            // Equal scalars on both sides are one operand.
            let same = args[..n] == args[n..];
            let formula = if same { dot(0, 0, n) } else { dot(0, n, n) };
            inherited(self.env, &formula, args, |_| Some(Ball::exact(exact_dot(&v[..n], &v[n..]))))
        } else {
            inherited(self.env, &length(args.len()), args, |bits| real(Fun::Sqrt, &[exact_dot(&v, &v)], bits))
        };
        self.env.flushed(v, tiny)
    }
}

/// The correctly rounded constants of `Radians` and `Degrees`.
fn angle_unit(env: Env, radian: bool) -> Values {
    let pi = real(Fun::Atan2, &[Rat::int(0), Rat::int(-1)], 400).unwrap().lo;
    let c = if radian { pi.over(&Rat::int(180)) } else { Rat::int(180).over(&pi) };
    Values::range(c.down(env.f), c.up(env.f))
}

pub(crate) fn exact_dot(a: &[Rat], b: &[Rat]) -> Rat {
    a.iter().zip(b).fold(Rat::int(0), |sum, (a, b)| sum.plus(&a.times(b)))
}

/// Set of an operation that inherits its precision from a formula, before flushing its own result;
/// and true if the exact result is tiny. Many modes make equal environments, for each of which it
/// is computed once.
pub(crate) fn inherited(
    env: Env,
    formula: &Ex,
    leaves: &[Index],
    exact: impl Fn(usize) -> Option<Ball>,
) -> (Values, bool) {
    type KnownResults = HashMap<(Env, Vec<Index>), (Values, bool)>;
    thread_local! {
        static KNOWN: RefCell<HashMap<Ex, KnownResults>> = RefCell::new(HashMap::new());
    }
    let key = (env, leaves.to_vec());
    if let Some(known) = KNOWN.with_borrow(|k| k.get(formula)?.get(&key).cloned()) {
        return known;
    }
    let found = about(env, &Evaluation::new(env, leaves).all_forms(formula), exact);
    KNOWN.with_borrow_mut(|k| {
        let known = k.entry(formula.clone()).or_default();
        if known.len() > 1_000_000 {
            known.clear();
        }
        known.insert(key, found.clone())
    });
    found
}

/// Permitted results if a formula may give an infinity.
pub(crate) fn any_number(env: Env) -> Values {
    if env.not_inf { Values::any() } else { Values::range(-infinity(env.f), infinity(env.f)) }
}

/// Interval about the exact result that reaches as far as the formulas' values.
pub(crate) fn about(env: Env, values: &Values, exact: impl Fn(usize) -> Option<Ball>) -> (Values, bool) {
    if values.any || values.nan || exact(192).is_none() {
        return (Values::any(), false);
    }
    let (least, greatest) = values.ends().expect("a value");
    let inf = infinity(env.f);
    if least == -inf || greatest == inf {
        return (any_number(env), false);
    }
    let (least, greatest) = (Rat::value(env.f, least), Rat::value(env.f, greatest));
    decide(|bits| {
        let x = exact(bits)?;
        // x - least compared with greatest - x.
        let (a, b) = (
            x.lo.plus(&x.lo).minus(&least).minus(&greatest).sign(),
            x.hi.plus(&x.hi).minus(&least).minus(&greatest).sign(),
        );
        if a != b {
            return None;
        }
        let end = if a >= 0 { &least } else { &greatest };
        let mirrored = Ball { lo: x.lo.plus(&x.lo).minus(end), hi: x.hi.plus(&x.hi).minus(end) };
        let end = Ball::exact(end.clone());
        let (lo, hi) = match (end.lo.lt(&mirrored.lo), mirrored.hi.lt(&end.lo)) {
            (true, _) => (end, mirrored),
            (_, true) => (mirrored, end),
            _ if x.is_exact() => (end.clone(), end),
            _ => return None,
        };
        let v = env.interval(&lo, &hi, false)?;
        Some((v, env.tiny_ball(&x)?))
    })
}

pub(crate) fn sqrt() -> Ex {
    div(&num(1), &call1(Name::Fun(Fun::InverseSqrt), &leaf(0)))
}

/// The polynomial of `SmoothStep`.
pub(crate) fn cubic(t: &Ex) -> Ex {
    mul(&mul(t, t), &sub(&num(3), &mul(&num(2), t)))
}

fn call1(name: Name, a: &Ex) -> Ex {
    Ex::Call(name, vec![a.clone()])
}

fn exp(a: &Ex) -> Ex {
    call1(Name::Fun(Fun::Exp), a)
}

pub(crate) fn sinh() -> Ex {
    let x = leaf(0);
    mul(&sub(&exp(&x), &exp(&crate::second_method::rewrite::neg(&x))), &half())
}

pub(crate) fn cosh() -> Ex {
    let x = leaf(0);
    mul(&add(&exp(&x), &exp(&crate::second_method::rewrite::neg(&x))), &half())
}

/// The sum of `n` products of leaves from `a` and from `b` on.
pub(crate) fn dot(a: usize, b: usize, n: usize) -> Ex {
    let products: Vec<Ex> = (0..n).map(|i| mul(&leaf(a + i), &leaf(b + i))).collect();
    products[1..].iter().fold(products[0].clone(), |sum, p| add(&sum, p))
}

/// `dot` as an operation; for scalars, which `OpDot` does not take, the product.
pub(crate) fn dot_call(a: usize, b: usize, n: usize) -> Ex {
    if n == 1 {
        return mul(&leaf(a), &leaf(b));
    }
    Ex::Call(Name::Dot, (0..n).map(|i| leaf(a + i)).chain((0..n).map(|i| leaf(b + i))).collect())
}

pub(crate) fn length(n: usize) -> Ex {
    call1(Name::Sqrt, &dot_call(0, 0, n))
}
