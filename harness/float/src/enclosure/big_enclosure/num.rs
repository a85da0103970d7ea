//! Ends of a [`super::BigEnclosure`]: dyadic numbers of any length, and two symbols for magnitudes
//! beyond their exponents.

use crate::Dyadic;
use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, ToPrimitive, Zero};
use std::cmp::Ordering;

/// Finite ends have magnitudes in `[2^-LIMIT, 2^LIMIT]`, so that sums of a few exponents cannot
/// overflow an `i64`.
pub(crate) const LIMIT: i64 = 1 << 40;
/// Exponent of the symbols.
const SYMBOL: i64 = 1 << 60;

/// Rounding direction of an inexact result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Down,
    Up,
}

/// End of an interval: zero, `±mantissa * 2^exponent` with an odd mantissa, or one of two symbols:
///
/// * `±HUGE`, an end beyond every finite one: the interval is unbounded on that side;
/// * `±TINY`, an end closer to zero than every finite one: zero itself is not a member.
///
/// The symbols are ordered like the giant and minute powers of two that represent them. A lower end
/// is never `+HUGE` or `-TINY`, and an upper end never `-HUGE` or `+TINY`, because these would
/// claim too much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Num {
    pub(crate) negative: bool,
    pub(crate) mantissa: BigUint,
    pub(crate) exponent: i64,
}

impl Num {
    pub(crate) fn zero() -> Num {
        Num { negative: false, mantissa: BigUint::zero(), exponent: 0 }
    }

    pub(crate) fn one() -> Num {
        Num::pow2(0)
    }

    pub(crate) fn pow2(exponent: i64) -> Num {
        Num { negative: false, mantissa: BigUint::one(), exponent }
    }

    pub(crate) fn huge() -> Num {
        Num::pow2(SYMBOL)
    }

    pub(crate) fn tiny() -> Num {
        Num::pow2(-SYMBOL)
    }

    pub(crate) fn int(value: i64) -> Num {
        Num::exact(value < 0, BigUint::from(value.unsigned_abs()), 0)
    }

    /// Value of an `f64`; an infinite one becomes `±HUGE`.
    pub(crate) fn from_f64(value: f64) -> Num {
        match Dyadic::from_f64(value) {
            Some(value) => Num::from_dyadic(value),
            None if value < 0.0 => Num::huge().neg(),
            None => Num::huge(),
        }
    }

    pub(crate) fn from_dyadic(value: Dyadic) -> Num {
        Num {
            negative: value.is_negative(),
            mantissa: BigUint::from(value.mantissa()),
            exponent: value.exponent().into(),
        }
    }

    /// The number itself, of any length.
    pub(crate) fn exact(negative: bool, mantissa: BigUint, exponent: i64) -> Num {
        match mantissa.trailing_zeros() {
            None => Num::zero(),
            Some(0) => Num { negative, mantissa, exponent },
            Some(zeros) => Num { negative, mantissa: mantissa >> zeros, exponent: exponent + zeros as i64 },
        }
    }

    /// `value * 2^exponent`, rounded to `precision` bits.
    pub(crate) fn round_int(value: &BigInt, exponent: i64, precision: u32, direction: Direction) -> Num {
        let negative = value.sign() == Sign::Minus;
        round(negative, value.magnitude().clone(), exponent, false, precision).end(direction)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.mantissa.is_zero()
    }

    /// Returns true for `±HUGE`.
    pub(crate) fn is_huge(&self) -> bool {
        self.exponent == SYMBOL
    }

    /// Returns true for `±TINY`.
    pub(crate) fn is_tiny(&self) -> bool {
        self.exponent == -SYMBOL
    }

    pub(crate) fn is_symbol(&self) -> bool {
        self.exponent.abs() == SYMBOL
    }

    /// Sign as a comparison with zero.
    pub(crate) fn sign(&self) -> Ordering {
        match (self.is_zero(), self.negative) {
            (true, _) => Ordering::Equal,
            (_, true) => Ordering::Less,
            (_, false) => Ordering::Greater,
        }
    }

    /// The `t` with `2^(t - 1) <= |x| < 2^t`; meaningless for zero.
    pub(crate) fn top(&self) -> i64 {
        self.exponent + self.mantissa.bits() as i64
    }

    pub(crate) fn is_pow2(&self) -> bool {
        self.mantissa.is_one()
    }

    #[must_use]
    pub(crate) fn neg(&self) -> Num {
        Num { negative: !self.negative && !self.is_zero(), ..self.clone() }
    }

    #[must_use]
    pub(crate) fn abs(&self) -> Num {
        Num { negative: false, ..self.clone() }
    }

    /// The number times `2^by`. The number must not be a symbol.
    #[must_use]
    pub(crate) fn scale(&self, by: i64) -> Num {
        if self.is_zero() { self.clone() } else { Num { exponent: self.exponent + by, ..self.clone() } }
    }

    /// Leading 64 bits of the magnitude, the first of which is set, and true if non-zero bits
    /// follow. The number must not be zero.
    pub(crate) fn leading(&self) -> (u64, bool) {
        let bits = self.mantissa.bits();
        let mut digits = self.mantissa.iter_u64_digits().rev();
        let first = digits.next().expect("not zero");
        let shift = first.leading_zeros();
        let leading = match shift {
            0 => first,
            _ => first << shift | digits.next().unwrap_or(0) >> (64 - shift),
        };
        // The mantissa is odd, so that the remaining bits are not all zero.
        (leading, bits > 64)
    }

    /// Approximate value, for seeds of iterations and for display: zero or an infinity beyond the
    /// range of `f64`.
    pub(crate) fn to_f64(&self) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        let (leading, _) = self.leading();
        let exponent = (self.top() - 64).clamp(-2_000, 2_000) as i32;
        Dyadic::new(self.negative, leading, exponent).to_f64()
    }

    /// `floor(x * 2^scale)` for a finite number.
    pub(crate) fn to_fixed(&self, scale: i64) -> BigInt {
        let shift = self.exponent + scale;
        let sign = if self.negative { Sign::Minus } else { Sign::Plus };
        if shift >= 0 {
            BigInt::from_biguint(sign, &self.mantissa << shift as u64)
        } else {
            BigInt::from_biguint(sign, self.mantissa.clone()) >> shift.unsigned_abs()
        }
    }

    /// The number as an integer, if it is one and fits.
    pub(crate) fn to_i64(&self) -> Option<i64> {
        if self.exponent < 0 || self.top() > 62 {
            return None;
        }
        let magnitude = self.mantissa.to_i64()? << self.exponent;
        Some(if self.negative { -magnitude } else { magnitude })
    }
}

impl PartialOrd for Num {
    fn partial_cmp(&self, other: &Num) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Num {
    fn cmp(&self, other: &Num) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        if by_sign.is_ne() || self.is_zero() {
            return by_sign;
        }
        let magnitude = self.top().cmp(&other.top()).then_with(|| match self.exponent.cmp(&other.exponent) {
            Ordering::Equal => self.mantissa.cmp(&other.mantissa),
            // The tops are equal, so that the difference is at most the length of the longer
            // mantissa.
            Ordering::Greater => (&self.mantissa << (self.exponent - other.exponent) as u64).cmp(&other.mantissa),
            Ordering::Less => self.mantissa.cmp(&(&other.mantissa << (other.exponent - self.exponent) as u64)),
        });
        if self.negative { magnitude.reverse() } else { magnitude }
    }
}

/// Result rounded in both directions: the neighbours around it, equal if it is exact.
pub(crate) struct Neighbours {
    pub(crate) lo: Num,
    pub(crate) hi: Num,
}

impl From<Neighbours> for (Num, Num) {
    fn from(value: Neighbours) -> (Num, Num) {
        (value.lo, value.hi)
    }
}

impl Neighbours {
    /// Interval between the negated neighbours.
    pub(crate) fn neg(self) -> Neighbours {
        Neighbours { lo: self.hi.neg(), hi: self.lo.neg() }
    }

    pub(crate) fn exact(value: Num) -> Neighbours {
        Neighbours { lo: value.clone(), hi: value }
    }

    /// One of the neighbours.
    pub(crate) fn end(self, direction: Direction) -> Num {
        match direction {
            Direction::Down => self.lo,
            Direction::Up => self.hi,
        }
    }
}

/// `±(mantissa + s) * 2^exponent` rounded to `precision` bits in both directions, where `0 < s < 1`
/// if `sticky`, otherwise `s = 0`. With `sticky`, a mantissa that is not longer than the precision
/// gives a coarse result.
pub(crate) fn round(negative: bool, mantissa: BigUint, exponent: i64, sticky: bool, precision: u32) -> Neighbours {
    let Some(zeros) = mantissa.trailing_zeros() else {
        debug_assert!(!sticky);
        return Neighbours::exact(Num::zero());
    };
    let drop = mantissa.bits().saturating_sub(precision.into());
    let inexact = sticky || zeros < drop;
    let exponent = exponent + drop as i64;
    let truncated = if drop == 0 { mantissa } else { mantissa >> drop };
    let (toward, away) = if inexact {
        let next = &truncated + 1u32;
        (Num::exact(negative, truncated, exponent), Num::exact(negative, next, exponent))
    } else {
        let value = Num::exact(negative, truncated, exponent);
        (value.clone(), value)
    };
    let (toward, away) = (saturate(toward, false), saturate(away, true));
    if negative { Neighbours { lo: away, hi: toward } } else { Neighbours { lo: toward, hi: away } }
}

/// Moves a magnitude back between the limits, away from zero or toward it.
fn saturate(value: Num, away: bool) -> Num {
    let top = value.top();
    let magnitude = match (top > LIMIT, top < -LIMIT) {
        (true, _) if away => Num::huge(),
        (true, _) => Num::pow2(LIMIT - 1),
        (_, true) if away => Num::pow2(-LIMIT - 1),
        (_, true) => Num::tiny(),
        _ => return value,
    };
    Num { negative: value.negative, ..magnitude }
}
