//! Formats as data, and the total order of their bit patterns.

use crate::Dyadic;

/// Position of a bit pattern in its format's total order: `-inf .. -0, +0 .. +inf`.
///
/// `+0` has rank 0 and `-0` rank -1. A pattern with a clear sign bit has its magnitude bits as
/// rank, one with a set sign bit has `-1 - magnitude`. NaNs have no rank. Ranks of neighbouring
/// values differ by one, so that the distance of two values is a subtraction. The order is that of
/// IEEE 754-2019 `totalOrder` (section 5.10) without its NaNs.
pub type Rank = i64;

/// Encodings of a format that are not finite numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Specials {
    /// IEEE 754: the all-ones exponent encodes infinities (fraction 0) and NaNs.
    Ieee,
    /// OCP E4M3: no infinities; only the all-ones magnitude is NaN, the rest of that binade is finite.
    NanOnly,
}

/// Binary floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// Name in case files and messages: `f32`.
    pub name: &'static str,
    /// Total width in bits.
    pub width: u32,
    /// Width of the exponent field in bits.
    pub exponent_bits: u32,
    /// Width of the fraction field in bits, without the implied leading one.
    pub fraction_bits: u32,
    /// Encodings of infinities and NaNs.
    pub specials: Specials,
}

/// IEEE 754 binary16.
pub const F16: Format = ieee("f16", 5, 10);
/// bfloat16: the upper half of binary32.
pub const BF16: Format = ieee("bf16", 8, 7);
/// IEEE 754 binary32.
pub const F32: Format = ieee("f32", 8, 23);
/// IEEE 754 binary64.
pub const F64: Format = ieee("f64", 11, 52);
/// OCP 8-bit E4M3 (`Float8E4M3EXT`): no infinities, one NaN magnitude, largest finite value 448.
pub const F8_E4M3: Format = Format { specials: Specials::NanOnly, ..ieee("f8e4m3", 4, 3) };
/// OCP 8-bit E5M2 (`Float8E5M2EXT`).
pub const F8_E5M2: Format = ieee("f8e5m2", 5, 2);

const fn ieee(name: &'static str, exponent_bits: u32, fraction_bits: u32) -> Format {
    Format { name, width: 1 + exponent_bits + fraction_bits, exponent_bits, fraction_bits, specials: Specials::Ieee }
}

impl Format {
    /// All formats, narrowest first.
    pub const ALL: [Format; 6] = [F8_E4M3, F8_E5M2, F16, BF16, F32, F64];

    /// Format of that name, ignoring case.
    pub fn from_name(name: &str) -> Option<Format> {
        Self::ALL.into_iter().find(|f| f.name.eq_ignore_ascii_case(name))
    }

    /// Exponent bias: `2^(exponent_bits - 1) - 1`.
    pub const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// Exponent of the smallest positive value, the unit of the denormals: `2^quantum()`.
    #[inline]
    pub const fn quantum(self) -> i32 {
        self.min_normal_exponent() - self.fraction_bits as i32
    }

    /// Exponent of the smallest normal value, `2^min_normal_exponent()`.
    #[inline]
    pub const fn min_normal_exponent(self) -> i32 {
        1 - self.bias()
    }

    /// Exponent of the binade of the largest finite value.
    #[inline]
    pub fn max_exponent(self) -> i32 {
        (self.max_finite() >> self.fraction_bits) as i32 - self.bias()
    }

    /// Sign bit.
    #[inline]
    pub const fn sign_mask(self) -> u64 {
        1 << (self.width - 1)
    }

    /// All bits of a pattern.
    #[inline]
    pub const fn mask(self) -> u64 {
        self.magnitude_mask() | self.sign_mask()
    }

    /// All bits except the sign.
    #[inline]
    pub const fn magnitude_mask(self) -> u64 {
        self.sign_mask() - 1
    }

    /// Rank, and bits, of the smallest positive normal value.
    #[inline]
    pub const fn min_normal(self) -> Rank {
        1 << self.fraction_bits
    }

    /// Rank, and bits, of 1.0.
    pub const fn rank_of_one(self) -> Rank {
        (self.bias() as i64) << self.fraction_bits
    }

    /// Rank, and bits, of the largest finite value.
    #[inline]
    pub const fn max_finite(self) -> Rank {
        let exponent_ones = ((1i64 << self.exponent_bits) - 1) << self.fraction_bits;
        match self.specials {
            Specials::Ieee => exponent_ones - 1,
            Specials::NanOnly => self.magnitude_mask() as i64 - 1,
        }
    }

    /// Rank, and bits, of `+inf`. In a format without infinities it is the rank after the largest
    /// finite value, which no number has.
    #[inline]
    pub const fn infinity(self) -> Rank {
        self.max_finite() + 1
    }

    /// Rank of `-inf`: the mirror image of [`Format::infinity`].
    #[inline]
    pub const fn neg_infinity(self) -> Rank {
        -1 - self.infinity()
    }

    /// Returns true for SPIR-V's IEEE 754 encodings: floating-point types without an explicit
    /// encoding. Execution modes on floats apply to these only.
    pub fn is_ieee_754(self) -> bool {
        [F16, F32, F64].contains(&self)
    }

    /// Returns true for the encodings of SPV_EXT_float8.
    pub fn is_float8(self) -> bool {
        [F8_E4M3, F8_E5M2].contains(&self)
    }

    /// Returns true if the format has infinities.
    pub fn has_infinity(self) -> bool {
        self.specials == Specials::Ieee
    }

    /// A quiet NaN of this format.
    pub const fn nan(self) -> u64 {
        match self.specials {
            Specials::Ieee => self.infinity() as u64 | 1 << (self.fraction_bits - 1),
            Specials::NanOnly => self.magnitude_mask(),
        }
    }

    /// Returns true for a NaN that IEEE 754 calls signalling: the first bit of its fraction is
    /// clear. Formats with one NaN have none.
    pub const fn is_signalling(self, bits: u64) -> bool {
        self.is_nan(bits) && matches!(self.specials, Specials::Ieee) && bits >> (self.fraction_bits - 1) & 1 == 0
    }

    /// Returns true for a NaN.
    #[inline]
    pub const fn is_nan(self, bits: u64) -> bool {
        let magnitude = (bits & self.magnitude_mask()) as i64;
        match self.specials {
            Specials::Ieee => magnitude > self.infinity(),
            Specials::NanOnly => magnitude > self.max_finite(),
        }
    }

    /// Returns true for an infinity.
    #[inline]
    pub fn is_infinite(self, bits: u64) -> bool {
        self.has_infinity() && (bits & self.magnitude_mask()) as i64 == self.infinity()
    }

    /// Returns true for a finite number.
    #[inline]
    pub const fn is_finite(self, bits: u64) -> bool {
        (bits & self.magnitude_mask()) as i64 <= self.max_finite()
    }

    /// Returns true for a zero of either sign.
    #[inline]
    pub const fn is_zero(self, bits: u64) -> bool {
        bits & self.magnitude_mask() == 0
    }

    /// Returns true for a non-zero value below the smallest normal in magnitude.
    #[inline]
    pub const fn is_denormal(self, bits: u64) -> bool {
        let magnitude = (bits & self.magnitude_mask()) as i64;
        0 < magnitude && magnitude < self.min_normal()
    }

    /// Returns true if the sign bit is set.
    #[inline]
    pub const fn is_negative(self, bits: u64) -> bool {
        bits & self.sign_mask() != 0
    }

    /// Rank of a pattern that is not a NaN.
    #[inline]
    pub const fn rank(self, bits: u64) -> Rank {
        debug_assert!(!self.is_nan(bits));
        let magnitude = (bits & self.magnitude_mask()) as i64;
        if self.is_negative(bits) { -1 - magnitude } else { magnitude }
    }

    /// Pattern with that rank, the inverse of [`Format::rank`].
    #[inline]
    pub const fn bits(self, rank: Rank) -> u64 {
        debug_assert!(self.neg_infinity() <= rank && rank <= self.infinity());
        if rank < 0 { (-1 - rank) as u64 | self.sign_mask() } else { rank as u64 }
    }

    /// Exact value of a finite pattern; `None` for infinities and NaNs. Both zeros have the value
    /// 0.
    #[inline]
    pub fn value(self, bits: u64) -> Option<Dyadic> {
        if !self.is_finite(bits) {
            return None;
        }
        let magnitude = bits & self.magnitude_mask();
        let (exponent, fraction) = (magnitude >> self.fraction_bits, magnitude & ((1 << self.fraction_bits) - 1));
        let (mantissa, exponent) = match exponent {
            0 => (fraction, self.quantum()),
            e => (fraction | 1 << self.fraction_bits, self.quantum() + e as i32 - 1),
        };
        Some(Dyadic::new(self.is_negative(bits), mantissa, exponent))
    }

    /// Exact value of the pattern with a finite rank.
    ///
    /// # Panics
    /// Panics for the rank of an infinity.
    #[inline]
    pub fn value_of_rank(self, rank: Rank) -> Dyadic {
        self.value(self.bits(rank)).expect("a finite rank")
    }

    /// Exponent `e` with `ulp(x) = 2^e` for every real `x` with `2^binade < |x| <= 2^(binade + 1)`
    /// (Vulkan, "ULP"). At a power of two this is the spacing *below* it, in the denormal range the
    /// smallest denormal, and beyond the largest finite value the distance of the two largest ones.
    #[inline]
    pub fn ulp_exponent(self, binade: i32) -> i32 {
        binade.clamp(self.min_normal_exponent(), self.max_exponent()) - self.fraction_bits as i32
    }

    /// `f64` nearest to the pattern's value, for display and margins only.
    pub fn to_f64(self, bits: u64) -> f64 {
        match self.value(bits) {
            Some(value) => {
                let magnitude = value.abs().to_f64();
                if self.is_negative(bits) { -magnitude } else { magnitude }
            }
            None if self.is_nan(bits) => f64::NAN,
            None if self.is_negative(bits) => f64::NEG_INFINITY,
            None => f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f32_agrees_with_the_host_on_every_class() {
        for bits in (0..=u32::MAX).step_by(65_521).chain([0, 1, 0x007f_ffff, 0x0080_0000, 0x7f7f_ffff, 0x7f80_0000]) {
            let (host, bits) = (f32::from_bits(bits), u64::from(bits));
            assert_eq!(host.is_nan(), F32.is_nan(bits));
            assert_eq!(host.is_infinite(), F32.is_infinite(bits));
            assert_eq!(host.is_subnormal(), F32.is_denormal(bits));
            if !host.is_nan() {
                assert_eq!(F32.bits(F32.rank(bits)), bits);
                assert_eq!(F32.to_f64(bits).to_bits(), f64::from(host).to_bits());
            }
        }
    }

    #[test]
    fn e4m3_has_no_infinity_and_ends_at_448() {
        assert_eq!(F8_E4M3.to_f64(0x7e), 448.0);
        assert!(F8_E4M3.is_nan(0x7f) && F8_E4M3.is_nan(0xff) && !F8_E4M3.has_infinity());
        assert_eq!(F8_E5M2.to_f64(0x7b), 57_344.0);
        assert!(F8_E5M2.is_infinite(0x7c));
    }

    #[test]
    fn ulp_at_a_power_of_two_is_the_spacing_below_it() {
        // 1.0 lies in the binade 2^-1 < x <= 2^0.
        assert_eq!(F32.ulp_exponent(-1), -24);
        assert_eq!(F32.ulp_exponent(0), -23);
        assert_eq!(F32.ulp_exponent(-200), -149);
        assert_eq!(F32.ulp_exponent(500), 104);
    }

    #[test]
    fn ranks_order_the_values() {
        for f in [F8_E4M3, F8_E5M2, F16, BF16] {
            let values: Vec<f64> = (f.neg_infinity() + 1..=f.max_finite()).map(|r| f.to_f64(f.bits(r))).collect();
            assert!(values.is_sorted());
            assert_eq!(values.len() as i64, 2 * f.infinity());
        }
    }
}
