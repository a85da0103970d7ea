//! Real functions to any precision, by `astro-float` and integer square roots.

use crate::second_method::num::{Int, Rat};
use astro_float::{BigFloat, Consts, RoundingMode, Sign};
use num_bigint::BigInt;
use std::cell::RefCell;

/// Closed interval that contains one real number; a point if it is known exactly.
#[derive(Clone, Debug)]
pub(crate) struct Ball {
    pub(crate) lo: Rat,
    pub(crate) hi: Rat,
}

/// Functions of real numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Fun {
    Exp,
    Exp2,
    Log,
    Log2,
    Sqrt,
    InverseSqrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Pow,
}

thread_local! {
    static CONSTS: RefCell<Consts> = RefCell::new(Consts::new().unwrap());
}

const NEAREST: RoundingMode = RoundingMode::ToEven;

/// Exponents beyond which a result lies far outside every format.
const FAR: i64 = 5000;

/// A dyadic number as a `BigFloat`, exactly.
fn big(x: &Rat) -> BigFloat {
    let (_, words) = x.n.to_u64_digits();
    if words.is_empty() {
        return BigFloat::new(64);
    }
    let bits = x.n.bits() as i64;
    let length = (bits + 63) / 64 * 64;
    let (_, words) = Int::shl(&x.n, (length - bits) as u64).to_u64_digits();
    let shift = x.d.bits() as i64 - 1;
    assert!(x.d == BigInt::from(1) << shift, "dyadic");
    let sign = if x.sign() < 0 { Sign::Neg } else { Sign::Pos };
    BigFloat::from_words(&words, sign, i32::try_from(bits - shift).unwrap())
}

/// Value of a `BigFloat`.
fn rat(x: &BigFloat) -> Rat {
    let (words, _, sign, e, _) = x.as_raw_parts().expect("finite");
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let n =
        BigInt::from_bytes_le(if sign == Sign::Neg { num_bigint::Sign::Minus } else { num_bigint::Sign::Plus }, &bytes);
    Rat { n, d: BigInt::from(1) }.shift(i64::from(e) - 64 * words.len() as i64)
}

impl Ball {
    pub(crate) fn exact(x: Rat) -> Ball {
        Ball { lo: x.clone(), hi: x }
    }

    /// All numbers within `2^-bits` of `x`, relatively.
    fn around(x: &Rat, bits: usize) -> Ball {
        let slack = x.abs().shift(-(bits as i64));
        Ball { lo: x.minus(&slack), hi: x.plus(&slack) }
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.lo.cmp(&self.hi).is_eq()
    }

    fn power_of_two_far(up: bool) -> Ball {
        let e = if up { FAR } else { -FAR };
        Ball { lo: Rat::scaled(1, e - 1), hi: Rat::scaled(1, e) }
    }
}

/// Square root of a non-negative rational: exact if it is rational with a dyadic or smaller
/// numerator and denominator.
fn sqrt(x: &Rat, bits: usize) -> Ball {
    // sqrt(n / d) = sqrt(n * d) / d, with zeros appended below.
    let product = x.n.times(&x.d);
    let wanted = 2 * bits as i64 + 2 * x.d.bits() as i64;
    let zeros = (wanted - product.bits() as i64).max(0) as u64;
    let zeros = zeros + zeros % 2;
    let scaled = product.shl(zeros);
    let root = scaled.sqrt();
    let exact = &root * &root == scaled;
    let d = x.d.shl(zeros / 2);
    let hi = if exact { root.clone() } else { &root + 1 };
    Ball { lo: Rat { n: root, d: d.clone() }, hi: Rat { n: hi, d } }
}

/// If `x` is `odd * 2^k`: `(odd, k)`.
fn odd_part(x: &Rat) -> (BigInt, i64) {
    let zeros = x.n.trailing_zeros().unwrap_or(0);
    (&x.n >> zeros, zeros as i64 - (x.d.bits() as i64 - 1))
}

/// `x^y` where it is rational and short enough to matter; `None` if it is not.
fn exact_pow(x: &Rat, y: &Rat) -> Option<Rat> {
    let (mut base, mut k) = odd_part(x);
    let (mut m, e) = odd_part(y);
    if y.sign() == 0 || (base == BigInt::from(1) && k == 0) {
        return Some(Rat::int(1));
    }
    if e > 20 {
        return None;
    }
    for _ in e..0 {
        let root = base.sqrt();
        if &root * &root != base || k % 2 != 0 {
            return None;
        }
        base = root;
        k /= 2;
    }
    if e > 0 {
        m <<= e;
    }
    let m = i64::try_from(&m).ok().filter(|m| m.abs() < 1 << 20)?;
    if base == BigInt::from(1) {
        return (k * m).abs().lt(&FAR).then(|| Rat::scaled(1, k * m));
    }
    // Powers of other bases have too many digits to lie on a boundary, or no finite ones.
    if m < 0 || base.bits() as i64 * m > 6000 {
        return None;
    }
    Some(Rat { n: base.pow(m as u32), d: BigInt::from(1) }.shift(k * m))
}

/// Value of a function to about `bits` bits; `None` where it is undefined or infinite.
pub(crate) fn real(fun: Fun, args: &[Rat], bits: usize) -> Option<Ball> {
    let x = &args[0];
    let one = Rat::int(1);
    let zero = x.sign() == 0;
    let is_one = x.cmp(&one).is_eq();
    let beyond_one = one.lt(&x.abs());
    let point = |v: i64| Some(Ball::exact(Rat::int(v)));
    let p = bits + 64;
    let call = |g: &dyn Fn(&BigFloat, &mut Consts) -> BigFloat| {
        let y = CONSTS.with_borrow_mut(|c| g(&big(x), c));
        Some(Ball::around(&rat(&y), bits))
    };
    match fun {
        Fun::Exp if zero => point(1),
        Fun::Exp if Rat::int(FAR / 2).lt(&x.abs()) => Some(Ball::power_of_two_far(x.sign() > 0)),
        Fun::Exp => call(&|x, c| x.exp(p, NEAREST, c)),
        Fun::Exp2 if Rat::int(FAR).le(&x.abs()) => Some(Ball::power_of_two_far(x.sign() > 0)),
        Fun::Exp2 => {
            let whole = x.floor();
            let e = Int::small(&whole);
            let rest = x.minus(&Rat { n: whole, d: BigInt::from(1) });
            if rest.sign() == 0 {
                return Some(Ball::exact(Rat::scaled(1, e)));
            }
            let y = CONSTS.with_borrow_mut(|c| BigFloat::from_word(2, 64).pow(&big(&rest), p, NEAREST, c));
            Some(Ball::around(&rat(&y).shift(e), bits))
        }
        Fun::Log | Fun::Log2 if x.sign() <= 0 => None,
        Fun::Log if is_one => point(0),
        Fun::Log => call(&|x, c| x.ln(p, NEAREST, c)),
        Fun::Log2 => match x.binade() {
            (e, true) => point(e),
            _ => call(&|x, c| x.log2(p, NEAREST, c)),
        },
        Fun::Sqrt => (x.sign() >= 0).then(|| sqrt(x, bits)),
        Fun::InverseSqrt => (x.sign() > 0).then(|| {
            let root = sqrt(x, bits);
            Ball { lo: one.over(&root.hi), hi: one.over(&root.lo) }
        }),
        Fun::Sin | Fun::Tan | Fun::Asin | Fun::Atan | Fun::Sinh | Fun::Tanh | Fun::Asinh | Fun::Atanh if zero => {
            point(0)
        }
        Fun::Cos | Fun::Cosh if zero => point(1),
        Fun::Sin => call(&|x, c| x.sin(p, NEAREST, c)),
        Fun::Cos => call(&|x, c| x.cos(p, NEAREST, c)),
        Fun::Tan => call(&|x, c| x.tan(p, NEAREST, c)),
        Fun::Asin | Fun::Acos if beyond_one => None,
        Fun::Acos if is_one => point(0),
        Fun::Asin => call(&|x, c| x.asin(p, NEAREST, c)),
        Fun::Acos => call(&|x, c| x.acos(p, NEAREST, c)),
        Fun::Atan => call(&|x, c| x.atan(p, NEAREST, c)),
        Fun::Sinh | Fun::Cosh if Rat::int(FAR / 2).lt(&x.abs()) => {
            let far = Ball::power_of_two_far(true);
            let negative = fun == Fun::Sinh && x.sign() < 0;
            Some(if negative { Ball { lo: far.hi.negated(), hi: far.lo.negated() } } else { far })
        }
        Fun::Sinh => call(&|x, c| x.sinh(p, NEAREST, c)),
        Fun::Cosh => call(&|x, c| x.cosh(p, NEAREST, c)),
        // Closer to one than any compared value.
        Fun::Tanh if Rat::int(FAR / 2).lt(&x.abs()) => {
            let near = Ball { lo: one.minus(&Rat::scaled(1, -FAR)), hi: one };
            Some(if x.sign() < 0 { Ball { lo: near.hi.negated(), hi: near.lo.negated() } } else { near })
        }
        Fun::Tanh => call(&|x, c| x.tanh(p, NEAREST, c)),
        Fun::Asinh => call(&|x, c| x.asinh(p, NEAREST, c)),
        Fun::Acosh if x.lt(&one) => None,
        Fun::Acosh if is_one => point(0),
        Fun::Acosh => call(&|x, c| x.acosh(p, NEAREST, c)),
        Fun::Atanh if one.le(&x.abs()) => None,
        Fun::Atanh => call(&|x, c| x.atanh(p, NEAREST, c)),
        Fun::Atan2 => atan2(x, &args[1], bits),
        Fun::Pow => pow(x, &args[1], bits),
    }
}

/// The angle of the point `(x, y)`, in `(-pi, pi]`.
fn atan2(y: &Rat, x: &Rat, bits: usize) -> Option<Ball> {
    let p = bits + 64;
    if y.sign() == 0 && x.sign() >= 0 {
        return (x.sign() > 0).then(|| Ball::exact(Rat::int(0)));
    }
    let angle = CONSTS.with_borrow_mut(|c| {
        let pi = c.pi(p, NEAREST);
        if y.sign() == 0 {
            return pi;
        }
        if x.sign() == 0 {
            return pi.div(&BigFloat::from_word(2, 64), p, NEAREST);
        }
        let steep = big(&y.abs()).div(&big(&x.abs()), p, NEAREST).atan(p, NEAREST, c);
        if x.sign() > 0 { steep } else { pi.sub(&steep, p, NEAREST) }
    });
    let angle = rat(&angle);
    Some(Ball::around(&if y.sign() < 0 { angle.negated() } else { angle }, bits))
}

/// `x^y` where the instruction set defines it.
fn pow(x: &Rat, y: &Rat, bits: usize) -> Option<Ball> {
    if x.sign() < 0 || (x.sign() == 0 && y.sign() <= 0) {
        return None;
    }
    if x.sign() == 0 {
        return Some(Ball::exact(Rat::int(0)));
    }
    if let Some(exact) = exact_pow(x, y) {
        return Some(Ball::exact(exact));
    }
    let p = bits + 128;
    let t = CONSTS.with_borrow_mut(|c| rat(&big(y).mul(&big(x).log2(p, NEAREST, c), p, NEAREST)));
    if Rat::int(FAR).le(&t.abs()) {
        return Some(Ball::power_of_two_far(t.sign() > 0));
    }
    let e = real(Fun::Exp2, &[t], bits + 16)?;
    Some(Ball { lo: e.lo.minus(&e.lo.shift(-(bits as i64))), hi: e.hi.plus(&e.hi.shift(-(bits as i64))) })
}

/// Evaluates at increasing precision until the answer is decided.
pub(crate) fn decide<T>(ask: impl Fn(usize) -> Option<T>) -> T {
    [192, 512, 2048, 8192].into_iter().find_map(ask).expect("an exact case went unrecognised")
}
