//! One operation on values: the rules of the tables, for use inside formulas and alone.

use crate::second_method::{
    functions::{Ball, Fun, decide, real},
    num::{Index, Int, Q, Rat, infinity, is_denormal},
    values::Values,
};
use assay_float::{F16, Format};
use assay_precision::Rounding;
use num_bigint::BigInt;
use std::{cell::RefCell, collections::HashMap};

/// Environment of an operation, as far as it concerns values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Env {
    pub(crate) f: Format,
    /// Set if denormal operands and results may be flushed.
    pub(crate) flush: bool,
    pub(crate) rounding: Rounding,
    pub(crate) not_inf: bool,
    /// Set in the lenient reading of formulas: operands with equal or opposite values count as one.
    pub(crate) equal_operands: bool,
}

/// Bound on the error of a result.
pub(crate) enum Bound {
    Ulps(Rat),
    Within(Rat),
    Below(Rat),
    Nothing,
}

impl Env {
    /// The environment without flushing.
    pub(crate) fn keeping(self) -> Env {
        Env { flush: false, ..self }
    }

    /// Correct rounding of an exact number, without flushing.
    pub(crate) fn round<I: Int>(self, q: &Q<I>) -> Values {
        let (lo, hi) = (q.down(self.f), q.up(self.f));
        if lo == hi {
            return Values::point(lo);
        }
        match self.rounding {
            Rounding::Undeclared => Values::range(lo, hi),
            Rounding::Rtz => Values::point(if q.sign() > 0 { lo } else { hi }),
            Rounding::Rte => {
                // The value of infinity is taken as that of the next number, as if there were one.
                let beyond = Q::<I>::value(self.f, infinity(self.f) - 1);
                let ulp = beyond.ulp(self.f);
                let value = |i: Index| {
                    if i.abs() == infinity(self.f) {
                        let v = beyond.plus(&Q::scaled(1, ulp));
                        if i < 0 { v.negated() } else { v }
                    } else {
                        Q::value(self.f, i)
                    }
                };
                let (below, above) = (q.minus(&value(lo)), value(hi).minus(q));
                Values::point(match below.cmp(&above) {
                    std::cmp::Ordering::Less => lo,
                    std::cmp::Ordering::Greater => hi,
                    std::cmp::Ordering::Equal if lo % 2 == 0 => lo,
                    std::cmp::Ordering::Equal => hi,
                })
            }
        }
    }

    /// Adds the zero that a denormal result may become.
    pub(crate) fn flushed(self, mut v: Values, denormal: bool) -> Values {
        if self.flush && (denormal || v.has_denormal(self.f)) {
            v.add(0, 0);
        }
        v
    }

    /// A correctly rounded step of a formula.
    fn rounded<I: Int>(self, q: &Q<I>) -> Values {
        self.flushed(self.round(q), self.is_tiny(q))
    }

    /// Returns true if the number "may be considered denormal".
    pub(crate) fn is_tiny<I: Int>(self, q: &Q<I>) -> bool {
        q.sign() != 0 && q.abs().lt(&Q::value(self.f, 1 << self.f.fraction_bits))
    }

    fn sum<I: Int>(self, a: Index, b: Index) -> Values {
        self.rounded(&Q::<I>::value(self.f, a).plus(&Q::value(self.f, b)))
    }

    fn product<I: Int>(self, a: Index, b: Index) -> Values {
        self.rounded(&Q::<I>::value(self.f, a).times(&Q::value(self.f, b)))
    }

    pub(crate) fn quotient<I: Int>(self, a: Index, b: Index) -> Values {
        let q = Q::<I>::value(self.f, a).over(&Q::value(self.f, b));
        let reach = Q::scaled(5, q.ulp(self.f) - 1);
        let (lo, hi) = (q.minus(&reach), q.plus(&reach));
        let mut v = Values::range(lo.up(self.f), hi.down(self.f));
        if hi.sign() > 0 && hi.overflows(self.f) {
            v.add_overflow(self.f, false);
        }
        if lo.sign() < 0 && lo.overflows(self.f) {
            v.add_overflow(self.f, true);
        }
        self.flushed(v, self.is_tiny(&q))
    }

    pub(crate) fn is_infinite(self, i: Index) -> bool {
        i.abs() == infinity(self.f)
    }

    /// `a + b` in a formula.
    pub(crate) fn add(self, a: Index, b: Index) -> Values {
        let inf = infinity(self.f);
        match (self.is_infinite(a), self.is_infinite(b)) {
            (false, false) if self.f == F16 => self.sum::<i128>(a, b),
            (false, false) => self.sum::<BigInt>(a, b),
            _ if self.not_inf => Values::any(),
            (true, true) if a != b => Values::nan(),
            (true, _) => Values::point(inf * a.signum()),
            _ => Values::point(inf * b.signum()),
        }
    }

    /// `a * b` in a formula.
    pub(crate) fn mul(self, a: Index, b: Index) -> Values {
        if self.is_infinite(a) || self.is_infinite(b) {
            if self.not_inf {
                return Values::any();
            }
            return if a == 0 || b == 0 {
                Values::nan()
            } else {
                Values::point(infinity(self.f) * a.signum() * b.signum())
            };
        }
        if self.f == F16 { self.product::<i128>(a, b) } else { self.product::<BigInt>(a, b) }
    }

    /// Returns true if `OpFDiv` has a requirement for the divisor.
    pub(crate) fn divisor_in_range(self, b: Index) -> bool {
        let e = if self.f == F16 { 14 } else { 126 };
        if self.is_infinite(b) {
            return false;
        }
        let y = Rat::value(self.f, b).abs();
        Rat::scaled(1, -e).le(&y) && y.le(&Rat::scaled(1, e))
    }

    /// `a / b` in a formula.
    pub(crate) fn div(self, a: Index, b: Index) -> Values {
        if (self.is_infinite(a) || b == 0) && self.not_inf {
            return Values::any();
        }
        if b == 0 {
            let inf = infinity(self.f);
            // Of either sign, because the sign of zero is not modelled.
            let mut v = Values::point(inf);
            v.add(-inf, -inf);
            return if a == 0 { Values::nan() } else { v };
        }
        if !self.divisor_in_range(b) {
            return Values::any();
        }
        if self.is_infinite(a) {
            // 2.5 ulp of infinity require nothing.
            return Values::any();
        }
        if self.f == F16 { self.quotient::<i128>(a, b) } else { self.quotient::<BigInt>(a, b) }
    }

    /// Bound of a function, as stated in the tables.
    pub(crate) fn bound(self, fun: Fun, x: &Rat) -> Bound {
        let half = self.f == F16;
        match fun {
            Fun::Exp | Fun::Exp2 => Bound::Ulps(Rat::int(if half { 1 } else { 3 }).plus(&x.abs().shift(1))),
            Fun::Log | Fun::Log2 if Rat::scaled(1, -1).le(x) && x.le(&Rat::int(2)) => {
                Bound::Below(Rat::scaled(1, if half { -7 } else { -21 }))
            }
            Fun::Log | Fun::Log2 => Bound::Ulps(Rat::int(3)),
            Fun::InverseSqrt => Bound::Ulps(Rat::int(2)),
            Fun::Sin | Fun::Cos => {
                // pi = 2 * (angle of the positive y axis).
                let pi = real(Fun::Atan2, &[Rat::int(0), Rat::int(-1)], 512).unwrap();
                if x.abs().le(&pi.lo) {
                    Bound::Within(Rat::scaled(1, if half { -7 } else { -11 }))
                } else {
                    Bound::Nothing
                }
            }
            Fun::Atan | Fun::Atan2 => Bound::Ulps(Rat::int(if half { 5 } else { 4096 })),
            _ => unreachable!("a precision inherited from a formula"),
        }
    }

    /// Function with a stated bound at finite values, without flushing; and true if the exact
    /// result is tiny.
    pub(crate) fn stated(self, fun: Fun, args: &[Index]) -> (Values, bool) {
        let args: Vec<Rat> = args.iter().map(|&i| Rat::value(self.f, i)).collect();
        let bound = self.bound(fun, &args[0]);
        if real(fun, &args, 192).is_none() {
            return (Values::any(), false);
        }
        decide(|bits| self.within(&real(fun, &args, bits)?, &bound))
    }

    /// Values within a bound of a number; `None` if the number is not known well enough.
    pub(crate) fn within(self, x: &Ball, bound: &Bound) -> Option<(Values, bool)> {
        let reach = match bound {
            Bound::Ulps(n) => {
                let ulp = x.lo.ulp(self.f);
                if ulp != x.hi.ulp(self.f) {
                    return None;
                }
                n.shift(ulp)
            }
            Bound::Within(e) | Bound::Below(e) => e.clone(),
            Bound::Nothing => return Some((Values::any(), false)),
        };
        let strict = matches!(bound, Bound::Below(_));
        self.interval(
            &Ball { lo: x.lo.minus(&reach), hi: x.hi.minus(&reach) },
            &Ball { lo: x.lo.plus(&reach), hi: x.hi.plus(&reach) },
            strict,
        )
        .and_then(|v| self.tiny_ball(x).map(|t| (v, t)))
    }

    /// Returns true if the number is tiny; `None` if that is uncertain.
    pub(crate) fn tiny_ball(self, x: &Ball) -> Option<bool> {
        let (a, b) = (self.is_tiny(&x.lo), self.is_tiny(&x.hi));
        (a == b).then_some(a)
    }

    /// Values between two numbers, with infinity and the largest finite value if the interval
    /// extends beyond.
    pub(crate) fn interval(self, lo: &Ball, hi: &Ball, strict: bool) -> Option<Values> {
        let f = self.f;
        let step = i64::from(strict);
        // Least value that is not below (with `strict`: above) the lower end, for both bounds of
        // that end.
        let least = |q: &Rat| if strict { q.down(f) + step } else { q.up(f) };
        let greatest = |q: &Rat| if strict { q.up(f) - step } else { q.down(f) };
        let (l, h) = (least(&lo.lo), greatest(&hi.hi));
        if l != least(&lo.hi) || h != greatest(&hi.lo) {
            return None;
        }
        let above = |q: &Rat| q.sign() > 0 && q.overflows(f);
        let below = |q: &Rat| q.sign() < 0 && q.overflows(f);
        if above(&hi.lo) != above(&hi.hi) || below(&lo.lo) != below(&lo.hi) {
            return None;
        }
        let mut v = Values::range(l, h);
        if above(&hi.lo) {
            v.add_overflow(f, false);
        }
        if below(&lo.lo) {
            v.add_overflow(f, true);
        }
        Some(v)
    }

    /// Function with a stated bound inside a formula.
    pub(crate) fn function(self, fun: Fun, args: &[Index]) -> Values {
        type Key = (Format, Fun, Index, Index);
        thread_local! {
            static KNOWN: RefCell<HashMap<Key, (Values, bool)>> = RefCell::new(HashMap::new());
        }
        if args.iter().any(|&i| self.is_infinite(i)) {
            return Values::any();
        }
        let x = args[0];
        let zero_is_infinite = matches!(fun, Fun::Log | Fun::Log2 | Fun::InverseSqrt) && x == 0;
        if zero_is_infinite {
            // Vulkan calls a mathematically undefined result poison.
            return Values::any();
        }
        let key = (self.f, fun, x, args.get(1).copied().unwrap_or(0));
        let known = KNOWN.with_borrow(|k| k.get(&key).cloned());
        let (v, tiny) = known.unwrap_or_else(|| {
            let found = self.stated(fun, args);
            KNOWN.with_borrow_mut(|k| {
                if k.len() > 4_000_000 {
                    k.clear();
                }
                k.insert(key, found.clone())
            });
            found
        });
        self.flushed(v, tiny)
    }

    /// Values that an operand may be read as.
    pub(crate) fn read(self, v: &Values) -> Values {
        self.flushed(v.clone(), false)
    }

    pub(crate) fn read_one(self, i: Index) -> Values {
        self.flushed(Values::point(i), is_denormal(self.f, i))
    }
}
