//! Shared parts of the enclosure tests: inputs, and predicates on two enclosures.

use assay_float::{BigEnclosure, Dyadic, Enclosure, F64Enclosure, Function};
use std::cmp::Ordering;

pub(crate) const FUNCTIONS: [Function; 18] = [
    Function::Sqrt,
    Function::InverseSqrt,
    Function::Exp,
    Function::Exp2,
    Function::Ln,
    Function::Log2,
    Function::Sin,
    Function::Cos,
    Function::Tan,
    Function::Asin,
    Function::Acos,
    Function::Atan,
    Function::Sinh,
    Function::Cosh,
    Function::Tanh,
    Function::Asinh,
    Function::Acosh,
    Function::Atanh,
];

/// Small generator with a fixed seed: equal inputs on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number of widely varying magnitude and length, of either sign.
    pub(crate) fn wide(&mut self, exponents: i32) -> f64 {
        let mantissa = (self.bits() >> 11 | 1 << 52) >> self.below(53) | 1;
        let exponent = self.below(2 * exponents as u64) as i32 - exponents;
        let bits = 64 - mantissa.leading_zeros() as i32;
        let magnitude = Dyadic::new(false, mantissa, exponent - bits).to_f64();
        if self.bits() & 1 == 0 { magnitude } else { -magnitude }
    }

    /// A number in the function's domain, often close to its difficult arguments.
    pub(crate) fn argument(&mut self, function: Function) -> f64 {
        loop {
            let x = match self.below(8) {
                0 => self.wide(1000),
                1 => self.wide(150),
                2 => 1.0 + self.wide(50).clamp(-0.9, 10.0),
                3 => std::f64::consts::FRAC_PI_2 * (self.below(5) as f64 - 2.0) + self.wide(40).clamp(-1.0, 1.0),
                4 => f64::from(self.wide(12) as f32),
                5 => (self.below(400) as f64 - 200.0) / 4.0,
                6 => 1.0 - self.unit(),
                _ => self.wide(4),
            };
            if x.is_finite() && in_domain(function, x) {
                return x;
            }
        }
    }
}

pub(crate) fn in_domain(function: Function, x: f64) -> bool {
    match function {
        Function::Sqrt => x >= 0.0,
        Function::InverseSqrt | Function::Ln | Function::Log2 => x > 0.0,
        Function::Asin | Function::Acos => x.abs() <= 1.0,
        Function::Acosh => x >= 1.0,
        Function::Atanh => x.abs() < 1.0,
        Function::Sin | Function::Cos | Function::Tan => x.abs() <= 4.0,
        _ => true,
    }
}

/// Special arguments.
pub(crate) fn special(function: Function) -> Vec<f64> {
    let mut all = vec![0.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, 2.5e-310, 1e300, 1e-300, 1e-30, 1e-8, 1.1e-8, 9e-9];
    for x in [0.25, 0.5, 0.75, 1.0, 2.0, 3.0, 4.0, 0.292, 0.414, 0.4142135623730951, 2.414213562373095, 1.5, 8.0] {
        all.extend([x, f64::next_up(x), f64::next_down(x)]);
    }
    for k in 1..=8 {
        let x = std::f64::consts::FRAC_PI_4 * f64::from(k);
        all.extend([x, x.next_up(), x.next_down(), f64::from(x as f32)]);
    }
    for x in
        [19.0, 88.7, 300.0, 350.0, 690.0, 691.0, 709.7, 709.8, 745.0, 746.0, 1000.0, 1023.5, 1024.5, 1074.5, 2e9, 1e15]
    {
        all.extend([x, f64::next_up(x)]);
    }
    for k in [1, 10, 25, 26, 27, 40, 52, 53, 54, 60, 100, 200, 500, 1000] {
        let tiny = 2f64.powi(-k);
        all.extend([tiny, 1.0 + tiny, 1.0 - tiny, 2.0 - tiny, 2f64.powi(k), 2f64.powi(k) + 0.5]);
    }
    let mirrored: Vec<f64> = all.iter().map(|x| -x).collect();
    all.extend(mirrored);
    all.retain(|&x| in_domain(function, x));
    all
}

pub(crate) fn dyadic(x: f64) -> Dyadic {
    Dyadic::from_f64(x).expect("finite")
}

pub(crate) fn big(x: f64, precision: u32) -> BigEnclosure {
    BigEnclosure::exact(dyadic(x), precision)
}

pub(crate) fn fast(x: f64) -> F64Enclosure {
    F64Enclosure::exact(dyadic(x), ())
}

/// Ends of a fast enclosure.
pub(crate) fn ends(value: &F64Enclosure) -> (f64, f64) {
    let (low, high) = (value.lower(), value.upper());
    let low_end = if low.is_point() { low.approximate() } else { f64::NEG_INFINITY };
    let high_end = if high.is_point() { high.approximate() } else { f64::INFINITY };
    (low_end, high_end)
}

/// Returns true if no member of the inner enclosure is certainly outside.
pub(crate) fn meets_fast(inner: &BigEnclosure, outer: &F64Enclosure) -> bool {
    let (lo, hi) = ends(outer);
    let above = lo.is_infinite() || inner.compare(&big(lo, 64)) != Ok(Ordering::Less);
    let below = hi.is_infinite() || inner.compare(&big(hi, 64)) != Ok(Ordering::Greater);
    above && below
}

/// Returns true if the inner enclosure's ends lie within the outer's.
pub(crate) fn within(inner: &BigEnclosure, outer: &BigEnclosure) -> bool {
    inner.lower().compare(&outer.lower()) != Ok(Ordering::Less)
        && inner.upper().compare(&outer.upper()) != Ok(Ordering::Greater)
}

/// Width relative to the magnitude, in bits: about -log2 of it.
pub(crate) fn bits_of(value: &BigEnclosure) -> f64 {
    let width = value.upper().sub(&value.lower());
    if width.is_point() && width.approximate() == 0.0 {
        return f64::INFINITY;
    }
    let ratio = value.abs().upper().div(&width);
    ratio.map_or(0.0, |r| f64::from(r.upper().binade().unwrap_or(0)))
}
