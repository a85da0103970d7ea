//! Formulas, and their equivalents by associativity, commutativity and distributivity.

use crate::second_method::functions::Fun;
use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    rc::Rc,
};

/// A formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Ex {
    /// An operand scalar of the instruction.
    Leaf(usize),
    /// `n * 2^e`.
    Const(i64, i64),
    /// pi / 180, correctly rounded.
    Radian,
    /// 180 / pi, correctly rounded.
    Degree,
    Neg(Rc<Ex>),
    Add(Rc<Ex>, Rc<Ex>),
    Mul(Rc<Ex>, Rc<Ex>),
    Div(Rc<Ex>, Rc<Ex>),
    /// Operation that the laws treat as opaque.
    Call(Name, Vec<Ex>),
}

/// Operations that the laws treat as opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Name {
    /// A function with a stated bound.
    Fun(Fun),
    Floor,
    Trunc,
    /// Clamp to [0, 1].
    Clamp,
    /// `t * t * (3.0 - 2.0 * t)` of one value of `t`.
    Cubic,
    Sqrt,
    /// A value that a condition found not to be negative.
    NotNegative,
    Sinh,
    Cosh,
    /// Dot product of two vectors, one after the other.
    Dot,
    Length,
}

pub(crate) fn leaf(i: usize) -> Ex {
    Ex::Leaf(i)
}

pub(crate) fn num(n: i64) -> Ex {
    Ex::Const(n, 0)
}

pub(crate) fn half() -> Ex {
    Ex::Const(1, -1)
}

pub(crate) fn call(name: Name, args: &[Ex]) -> Ex {
    Ex::Call(name, args.to_vec())
}

pub(crate) fn neg(a: &Ex) -> Ex {
    match a {
        Ex::Neg(a) => (**a).clone(),
        a => Ex::Neg(Rc::new(a.clone())),
    }
}

/// Sum; the order of the operands does not matter to any rule.
pub(crate) fn add(a: &Ex, b: &Ex) -> Ex {
    let (a, b) = if a <= b { (a, b) } else { (b, a) };
    Ex::Add(Rc::new(a.clone()), Rc::new(b.clone()))
}

pub(crate) fn sub(a: &Ex, b: &Ex) -> Ex {
    add(a, &neg(b))
}

/// Product with its sign in front: negation is exact and every rule is symmetric.
pub(crate) fn mul(a: &Ex, b: &Ex) -> Ex {
    match (a, b) {
        (Ex::Neg(a), b) | (b, Ex::Neg(a)) => neg(&mul(a, b)),
        _ => {
            let (a, b) = if a <= b { (a, b) } else { (b, a) };
            Ex::Mul(Rc::new(a.clone()), Rc::new(b.clone()))
        }
    }
}

/// Quotient with its sign in front.
pub(crate) fn div(a: &Ex, b: &Ex) -> Ex {
    match (a, b) {
        (Ex::Neg(a), b) => neg(&div(a, b)),
        (a, Ex::Neg(b)) => neg(&div(a, b)),
        _ => Ex::Div(Rc::new(a.clone()), Rc::new(b.clone())),
    }
}

impl Ex {
    /// The formula with other formulas in place of its operands.
    pub(crate) fn with_leaves(&self, other: &impl Fn(usize) -> Ex) -> Ex {
        let within = |e: &Ex| e.with_leaves(other);
        match self {
            Ex::Leaf(i) => other(*i),
            Ex::Const(..) | Ex::Radian | Ex::Degree => self.clone(),
            Ex::Neg(a) => neg(&within(a)),
            Ex::Add(a, b) => add(&within(a), &within(b)),
            Ex::Mul(a, b) => mul(&within(a), &within(b)),
            Ex::Div(a, b) => div(&within(a), &within(b)),
            Ex::Call(name, args) => Ex::Call(*name, args.iter().map(within).collect()),
        }
    }
}

/// A factor or term and its sign.
fn unsigned(e: &Ex) -> (&Ex, bool) {
    match e {
        Ex::Neg(e) => (e, true),
        e => (e, false),
    }
}

fn signed(e: &Ex, negative: bool) -> Ex {
    if negative { neg(e) } else { e.clone() }
}

/// Formulas that one application of a law at the root makes of a formula.
fn at_root(e: &Ex) -> Vec<Ex> {
    let mut out = Vec::new();
    match e {
        Ex::Add(a, b) => {
            for (a, b) in [(a, b), (b, a)] {
                let (term, negative) = unsigned(b);
                if let Ex::Add(c, d) = term {
                    let (c, d) = (signed(c, negative), signed(d, negative));
                    out.push(add(&add(a, &c), &d));
                    out.push(add(&add(a, &d), &c));
                }
            }
            let ((x, x_negative), (y, y_negative)) = (unsigned(a), unsigned(b));
            if x_negative && y_negative {
                out.push(neg(&add(x, y)));
            }
            if let (Ex::Mul(a, b), Ex::Mul(c, d)) = (x, y) {
                for (a, b) in [(a, b), (b, a)] {
                    for (c, d) in [(c, d), (d, c)] {
                        if a == c {
                            out.push(mul(a, &add(&signed(b, x_negative), &signed(d, y_negative))));
                        }
                    }
                }
            }
            if let (Ex::Div(a, b), Ex::Div(c, d)) = (x, y)
                && b == d
            {
                out.push(div(&add(&signed(a, x_negative), &signed(c, y_negative)), b));
            }
        }
        Ex::Mul(a, b) => {
            for (a, b) in [(a, b), (b, a)] {
                if let Ex::Mul(c, d) = &**b {
                    out.push(mul(&mul(a, c), d));
                    out.push(mul(&mul(a, d), c));
                }
                if let Ex::Add(c, d) = &**b {
                    out.push(add(&mul(a, c), &mul(a, d)));
                }
            }
        }
        Ex::Div(a, b) => {
            if let Ex::Add(c, d) = &**a {
                out.push(add(&div(c, b), &div(d, b)));
            }
        }
        Ex::Neg(a) => {
            if let Ex::Add(c, d) = &**a {
                out.push(add(&neg(c), &neg(d)));
            }
        }
        Ex::Leaf(_) | Ex::Const(..) | Ex::Radian | Ex::Degree | Ex::Call(..) => {}
    }
    out
}

/// Formulas that one application of a law anywhere makes of a formula.
fn anywhere(e: &Ex) -> Vec<Ex> {
    let mut out = at_root(e);
    match e {
        Ex::Add(a, b) => {
            out.extend(anywhere(a).iter().map(|a| add(a, b)));
            out.extend(anywhere(b).iter().map(|b| add(a, b)));
        }
        Ex::Mul(a, b) => {
            out.extend(anywhere(a).iter().map(|a| mul(a, b)));
            out.extend(anywhere(b).iter().map(|b| mul(a, b)));
        }
        Ex::Div(a, b) => {
            out.extend(anywhere(a).iter().map(|a| div(a, b)));
            out.extend(anywhere(b).iter().map(|b| div(a, b)));
        }
        Ex::Neg(a) => out.extend(anywhere(a).iter().map(neg)),
        Ex::Leaf(_) | Ex::Const(..) | Ex::Radian | Ex::Degree | Ex::Call(..) => {}
    }
    out
}

/// Every formula that the laws reach.
pub(crate) fn forms(e: &Ex) -> Rc<Vec<Ex>> {
    thread_local! {
        static KNOWN: RefCell<HashMap<Ex, Rc<Vec<Ex>>>> = RefCell::new(HashMap::new());
    }
    if let Some(known) = KNOWN.with_borrow(|k| k.get(e).cloned()) {
        return known;
    }
    let mut found = BTreeSet::from([e.clone()]);
    let mut fresh = vec![e.clone()];
    while let Some(next) = fresh.pop() {
        for other in anywhere(&next) {
            if found.insert(other.clone()) {
                fresh.push(other);
            }
        }
        assert!(found.len() < 200_000, "the laws reach too many formulas from {e:?}");
    }
    let found = Rc::new(found.into_iter().collect::<Vec<_>>());
    KNOWN.with_borrow_mut(|k| k.insert(e.clone(), found.clone()));
    found
}
