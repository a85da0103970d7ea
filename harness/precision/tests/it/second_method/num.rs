//! Exact arithmetic: quotients of integers, and the values of a format as indices on the real line.

use assay_float::{F8_E4M3, Format};
use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;

/// Position of a finite value or infinity among the values of its format; both zeros have index 0, neighbours
/// differ by one, `-i` is the negative of `i`.
pub(crate) type Index = i64;

/// Index of a bit pattern that is not a NaN.
pub(crate) fn index(f: Format, bits: u64) -> Index {
    let magnitude = (bits & !(1 << (f.width - 1))) as i64;
    if bits >> (f.width - 1) == 1 { -magnitude } else { magnitude }
}

/// Index of infinity; in a format without infinities that of its NaN, which no number has.
pub(crate) fn infinity(f: Format) -> Index {
    if f == F8_E4M3 {
        return 0x7f;
    }
    ((1 << f.exponent_bits) - 1) << f.fraction_bits
}

/// Exponent of the smallest normal value.
pub(crate) fn emin(f: Format) -> i64 {
    2 - (1 << (f.exponent_bits - 1))
}

/// Exponent of the largest binade.
pub(crate) fn emax(f: Format) -> i64 {
    (1 << (f.exponent_bits - 1)) - 1
}

/// Returns true for the index of a denormal.
pub(crate) fn is_denormal(f: Format, i: Index) -> bool {
    i != 0 && i.abs() < 1 << f.fraction_bits
}

/// Integers: `i128` where every value of a formula over halves fits, `BigInt` elsewhere.
pub(crate) trait Int: Clone + Ord {
    fn of(v: i64) -> Self;
    fn shl(&self, n: u64) -> Self;
    fn plus(&self, o: &Self) -> Self;
    fn times(&self, o: &Self) -> Self;
    fn negated(&self) -> Self;
    /// Quotient of non-negative numbers, and true if it is exact.
    fn quotient(&self, d: &Self) -> (Self, bool);
    fn bits(&self) -> i64;
    fn sign(&self) -> i32;
    fn small(&self) -> i64;
}

impl Int for i128 {
    fn of(v: i64) -> Self {
        v.into()
    }
    fn shl(&self, n: u64) -> Self {
        assert!(self.unsigned_abs().leading_zeros() as u64 > n + 1, "no overflow");
        self << n
    }
    fn plus(&self, o: &Self) -> Self {
        self.checked_add(*o).unwrap()
    }
    fn times(&self, o: &Self) -> Self {
        self.checked_mul(*o).unwrap()
    }
    fn negated(&self) -> Self {
        -self
    }
    fn quotient(&self, d: &Self) -> (Self, bool) {
        (self / d, self % d == 0)
    }
    fn bits(&self) -> i64 {
        128 - i64::from(self.unsigned_abs().leading_zeros())
    }
    fn sign(&self) -> i32 {
        self.signum() as i32
    }
    fn small(&self) -> i64 {
        i64::try_from(*self).unwrap()
    }
}

impl Int for BigInt {
    fn of(v: i64) -> Self {
        v.into()
    }
    fn shl(&self, n: u64) -> Self {
        self << n
    }
    fn plus(&self, o: &Self) -> Self {
        self + o
    }
    fn times(&self, o: &Self) -> Self {
        self * o
    }
    fn negated(&self) -> Self {
        -self
    }
    fn quotient(&self, d: &Self) -> (Self, bool) {
        let q = self / d;
        let exact = &q * d == *self;
        (q, exact)
    }
    fn bits(&self) -> i64 {
        BigInt::bits(self) as i64
    }
    fn sign(&self) -> i32 {
        match BigInt::sign(self) {
            Sign::Minus => -1,
            Sign::NoSign => 0,
            Sign::Plus => 1,
        }
    }
    fn small(&self) -> i64 {
        i64::try_from(self).unwrap()
    }
}

/// Exact rational number. The denominator is positive; the fraction is not reduced.
#[derive(Clone, Debug)]
pub(crate) struct Q<I> {
    pub(crate) n: I,
    pub(crate) d: I,
}

/// Rationals without limits.
pub(crate) type Rat = Q<BigInt>;

impl<I: Int> Q<I> {
    pub(crate) fn int(v: i64) -> Self {
        Q { n: I::of(v), d: I::of(1) }
    }

    /// `v * 2^e`.
    pub(crate) fn scaled(v: i64, e: i64) -> Self {
        Q::int(v).shift(e)
    }

    /// The value of a finite index.
    pub(crate) fn value(f: Format, i: Index) -> Self {
        let (m, field) = (i.abs() & ((1 << f.fraction_bits) - 1), i.abs() >> f.fraction_bits);
        let (m, e) = if field == 0 { (m, 0) } else { (m | 1 << f.fraction_bits, field - 1) };
        let unit = f.fraction_bits as i64 - emin(f);
        // Halves keep a common denominator, so that chains of operations do not grow.
        Q { n: I::of(m * i.signum()).shl(e as u64), d: I::of(1).shl(unit as u64) }
    }

    pub(crate) fn shift(&self, e: i64) -> Self {
        if e >= 0 {
            Q { n: self.n.shl(e as u64), d: self.d.clone() }
        } else {
            Q { n: self.n.clone(), d: self.d.shl(e.unsigned_abs()) }
        }
    }

    pub(crate) fn plus(&self, o: &Self) -> Self {
        if self.d == o.d {
            return Q { n: self.n.plus(&o.n), d: self.d.clone() };
        }
        Q { n: self.n.times(&o.d).plus(&o.n.times(&self.d)), d: self.d.times(&o.d) }
    }

    pub(crate) fn minus(&self, o: &Self) -> Self {
        self.plus(&o.negated())
    }

    pub(crate) fn times(&self, o: &Self) -> Self {
        Q { n: self.n.times(&o.n), d: self.d.times(&o.d) }
    }

    /// # Panics
    /// Panics for a zero divisor.
    pub(crate) fn over(&self, o: &Self) -> Self {
        let (n, d) =
            if self.d == o.d { (self.n.clone(), o.n.clone()) } else { (self.n.times(&o.d), self.d.times(&o.n)) };
        match d.sign() {
            1 => Q { n, d },
            -1 => Q { n: n.negated(), d: d.negated() },
            _ => panic!("division by zero"),
        }
    }

    pub(crate) fn negated(&self) -> Self {
        Q { n: self.n.negated(), d: self.d.clone() }
    }

    pub(crate) fn abs(&self) -> Self {
        if self.n.sign() < 0 { self.negated() } else { self.clone() }
    }

    pub(crate) fn sign(&self) -> i32 {
        self.n.sign()
    }

    pub(crate) fn cmp(&self, o: &Self) -> Ordering {
        if self.d == o.d {
            return self.n.cmp(&o.n);
        }
        self.n.times(&o.d).cmp(&o.n.times(&self.d))
    }

    pub(crate) fn le(&self, o: &Self) -> bool {
        self.cmp(o) != Ordering::Greater
    }

    pub(crate) fn lt(&self, o: &Self) -> bool {
        self.cmp(o) == Ordering::Less
    }

    /// The greatest integer that is not above the value.
    pub(crate) fn floor(&self) -> I {
        let (q, exact) = self.abs().n.quotient(&self.d);
        match (self.sign() < 0, exact) {
            (false, _) => q,
            (true, true) => q.negated(),
            (true, false) => q.plus(&I::of(1)).negated(),
        }
    }

    /// The `e` with `2^e <= |self| < 2^(e + 1)`, and true if `|self|` is `2^e`.
    pub(crate) fn binade(&self) -> (i64, bool) {
        let q = self.abs();
        assert!(q.sign() > 0);
        let e = q.n.bits() - q.d.bits();
        let (n, d) = if e >= 0 { (q.n.clone(), q.d.shl(e as u64)) } else { (q.n.shl(e.unsigned_abs()), q.d.clone()) };
        match n.cmp(&d) {
            Ordering::Less => {
                // 2^(e - 1) < q < 2^e, or q = 2^(e - 1).
                (e - 1, n.shl(1) == d)
            }
            Ordering::Equal => (e, true),
            Ordering::Greater => (e, false),
        }
    }

    /// The specification's ulp, as an exponent of two.
    pub(crate) fn ulp(&self, f: Format) -> i64 {
        let least = emin(f) - i64::from(f.fraction_bits);
        if self.sign() == 0 {
            return least;
        }
        let (e, power) = self.binade();
        let below = if power { e - 1 } else { e };
        below.clamp(emin(f), emax(f)) - i64::from(f.fraction_bits)
    }

    /// Index of the greatest finite value that is not above a non-negative number, and true if they
    /// are equal.
    fn below(&self, f: Format) -> (Index, bool) {
        if self.sign() == 0 {
            return (0, true);
        }
        let e = self.binade().0.max(emin(f));
        if e > emax(f) {
            return (infinity(f) - 1, false);
        }
        let scaled = self.shift(i64::from(f.fraction_bits) - e);
        let (k, exact) = scaled.n.quotient(&scaled.d);
        (((e - emin(f)) << f.fraction_bits) + k.small(), exact)
    }

    /// Index of the greatest value, infinities included, that is not above the number.
    pub(crate) fn down(&self, f: Format) -> Index {
        if self.sign() >= 0 {
            return self.below(f).0;
        }
        let (i, exact) = self.negated().below(f);
        if exact { -i } else { -i - 1 }
    }

    /// Index of the least value, infinities included, that is not below the number.
    pub(crate) fn up(&self, f: Format) -> Index {
        -self.negated().down(f)
    }

    /// Returns true if the magnitude is above the largest finite value.
    pub(crate) fn overflows(&self, f: Format) -> bool {
        Q::value(f, infinity(f) - 1).lt(&self.abs())
    }
}
