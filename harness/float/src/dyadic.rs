//! Exact binary values.

/// Exact value `±mantissa * 2^exponent`: the value of a bit pattern or of a rule's constant.
///
/// The representation is normalised: the mantissa is odd, or zero with exponent 0 and without sign.
/// Equality is therefore equality of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dyadic {
    negative: bool,
    mantissa: u64,
    exponent: i32,
}

impl Dyadic {
    /// Zero.
    pub const ZERO: Dyadic = Dyadic { negative: false, mantissa: 0, exponent: 0 };
    /// One.
    pub const ONE: Dyadic = Dyadic { negative: false, mantissa: 1, exponent: 0 };

    /// `(-1)^negative * mantissa * 2^exponent`.
    #[inline]
    pub const fn new(negative: bool, mantissa: u64, exponent: i32) -> Dyadic {
        if mantissa == 0 {
            return Self::ZERO;
        }
        let zeros = mantissa.trailing_zeros();
        Dyadic { negative, mantissa: mantissa >> zeros, exponent: exponent + zeros as i32 }
    }

    /// An integer.
    #[inline]
    pub const fn int(value: i64) -> Dyadic {
        Self::new(value < 0, value.unsigned_abs(), 0)
    }

    /// `2^exponent`.
    #[inline]
    pub const fn pow2(exponent: i32) -> Dyadic {
        Dyadic { negative: false, mantissa: 1, exponent }
    }

    /// Exact value of a finite `f64`; `None` for infinities and NaNs.
    #[inline]
    pub fn from_f64(value: f64) -> Option<Dyadic> {
        crate::F64.value(value.to_bits())
    }

    /// Returns true if the value is below zero.
    pub const fn is_negative(self) -> bool {
        self.negative
    }

    /// Returns true if the value is zero.
    pub const fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// Odd mantissa, or zero for zero.
    pub const fn mantissa(self) -> u64 {
        self.mantissa
    }

    /// Exponent for [`Dyadic::mantissa`].
    pub const fn exponent(self) -> i32 {
        self.exponent
    }

    /// Magnitude.
    pub const fn abs(self) -> Dyadic {
        Dyadic { negative: false, ..self }
    }

    /// Value with the opposite sign.
    #[must_use]
    pub const fn neg(self) -> Dyadic {
        Dyadic { negative: !self.negative && self.mantissa != 0, ..self }
    }

    /// Value times `2^exponent`.
    #[must_use]
    pub const fn scale(self, exponent: i32) -> Dyadic {
        if self.mantissa == 0 { self } else { Dyadic { exponent: self.exponent + exponent, ..self } }
    }

    /// Greatest integer that is not above the value.
    #[must_use]
    pub fn floor(self) -> Dyadic {
        let whole = self.trunc();
        // The value is not an integer, so that |whole| has fewer bits than the mantissa and |whole|
        // + 1 fits.
        if self.negative && whole != self { Dyadic::new(true, whole.magnitude_of_integer() + 1, 0) } else { whole }
    }

    /// Value rounded toward zero to an integer.
    #[must_use]
    pub fn trunc(self) -> Dyadic {
        if self.exponent >= 0 {
            return self;
        }
        Dyadic::new(self.negative, self.mantissa.checked_shr(self.exponent.unsigned_abs()).unwrap_or(0), 0)
    }

    /// Value minus its [`Dyadic::trunc`].
    #[must_use]
    pub const fn fraction(self) -> Dyadic {
        if self.exponent >= 0 {
            return Dyadic::ZERO;
        }
        let below_point = self.exponent.unsigned_abs();
        let mask = if below_point >= 64 { u64::MAX } else { (1 << below_point) - 1 };
        Dyadic::new(self.negative, self.mantissa & mask, self.exponent)
    }

    /// Returns true if the value is an integer.
    pub const fn is_integer(self) -> bool {
        self.exponent >= 0
    }

    /// Magnitude of an integer below `2^64`.
    const fn magnitude_of_integer(self) -> u64 {
        self.mantissa << self.exponent
    }

    /// Value as `f64`, if that is exact: at most 53 bits, within the normal range.
    #[inline]
    pub fn to_f64_exact(self) -> Option<f64> {
        let bits = 64 - self.mantissa.leading_zeros() as i32;
        let normal = (-1022..=1023).contains(&(self.exponent + bits - 1));
        (self.is_zero() || (bits <= 53 && normal)).then(|| self.to_f64())
    }

    /// Nearest `f64`, for display. It is rounded twice if the result is a denormal.
    #[inline]
    pub fn to_f64(self) -> f64 {
        let magnitude = self.mantissa as f64;
        // Two factors, because 2^exponent alone may lie outside the range of f64.
        let half = self.exponent / 2;
        let scaled = magnitude * power_of_two(half) * power_of_two(self.exponent - half);
        if self.negative { -scaled } else { scaled }
    }
}

/// `2^exponent`, rounded to zero or infinity outside the range of `f64`.
#[inline]
fn power_of_two(exponent: i32) -> f64 {
    match exponent {
        // Only the exponent field, because this is called in the innermost loops.
        -1022..=1023 => f64::from_bits(((exponent + 1023) as u64) << 52),
        _ => power_beyond_normal_range(exponent),
    }
}

/// The other exponents; a function of its own, because LLVM computes `powi` speculatively.
#[cold]
#[inline(never)]
fn power_beyond_normal_range(exponent: i32) -> f64 {
    2f64.powi(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_and_trunc_agree_with_the_host() {
        for v in [0.0, 0.5, -0.5, 1.5, -1.5, 7.0, -8.0, -0.999, 1e-300, -1e-300, 1e300, -123_456.75] {
            let value = Dyadic::from_f64(v).unwrap();
            assert_eq!(value.floor().to_f64(), v.floor(), "floor {v}");
            assert_eq!(value.trunc().to_f64(), v.trunc(), "trunc {v}");
            assert_eq!(value.is_integer(), v.fract() == 0.0);
            assert_eq!(value.fraction().to_f64(), v.fract(), "fraction {v}");
        }
    }

    #[test]
    fn values_survive_the_way_through_f64() {
        for v in [0.0, 1.0, -2.5, 1e300, -3e-300, f64::MAX, 65504.0] {
            assert_eq!(Dyadic::from_f64(v).and_then(Dyadic::to_f64_exact), Some(v));
        }
        assert_eq!(Dyadic::from_f64(f64::NAN), None);
        assert_eq!(Dyadic::new(true, 1, -1100).to_f64_exact(), None);
        assert_eq!(Dyadic::from_f64(5e-324).unwrap().to_f64(), 5e-324);
    }
}
