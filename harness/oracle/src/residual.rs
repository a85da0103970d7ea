//! Real numbers between values of a format: an `f64` and the sign of the residual.

use crate::ty::Fmt;
use assay_float::Rank;

/// A real number: `value` plus a residual that is smaller than the last place of `value` and has
/// the sign of `residual`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundedReal {
    pub(crate) value: f64,
    pub(crate) residual: f64,
}

impl RoundedReal {
    pub(crate) const fn exact(value: f64) -> RoundedReal {
        RoundedReal { value, residual: 0.0 }
    }

    /// The exact sum of two `f64` values, by the error-free transformation TwoSum (Knuth, *The Art
    /// of Computer Programming*, volume 2, section 4.2.2).
    #[inline]
    pub(crate) fn sum(a: f64, b: f64) -> RoundedReal {
        let value = a + b;
        let part = value - a;
        let residual = (a - (value - part)) + (b - part);
        RoundedReal { value, residual: if value.is_finite() { residual } else { 0.0 } }
    }

    /// The product of two values of formats with at most 32 bits, which `f64` holds exactly.
    #[inline]
    pub(crate) fn product(a: f64, b: f64) -> RoundedReal {
        RoundedReal::exact(a * b)
    }

    /// The greatest rank of the format whose value is not above, and the least whose value is not
    /// below.
    #[inline]
    pub(crate) fn neighbours(self, fmt: Fmt) -> (Rank, Rank) {
        let (near, exact) = match fmt {
            Fmt::F32 => {
                let near = self.value as f32;
                let format = assay_float::F32;
                (format.rank(u64::from(near.to_bits())), f64::from(near))
            }
            Fmt::F64 => (assay_float::F64.rank(self.value.to_bits()), self.value),
            Fmt::F16 | Fmt::BF16 => {
                let rank = small_rank(fmt, self.value);
                let format = fmt.format();
                (rank, format.to_f64(format.bits(rank)))
            }
        };
        let infinite = self.value.is_infinite();
        let above = exact > self.value || (exact == self.value && self.residual < 0.0 && !infinite);
        let below = exact < self.value || (exact == self.value && self.residual > 0.0 && !infinite);
        match (above, below) {
            (true, _) => (near - 1, near),
            (_, true) => (near, near + 1),
            // A sum that overflows `f64` is not infinite itself.
            _ if infinite && self.value > 0.0 => (near - 1, near),
            _ if infinite => (near, near + 1),
            _ => (near, near),
        }
    }
}

/// The rank of the 16-bit value next to a number, toward zero.
fn small_rank(fmt: Fmt, value: f64) -> Rank {
    let format = fmt.format();
    let magnitude = value.abs();
    let least = 2f64.powi(format.quantum());
    let rank = if magnitude >= 2f64.powi(format.max_exponent() + 1) {
        format.max_finite()
    } else if magnitude < 2f64.powi(format.min_normal_exponent()) {
        (magnitude / least) as Rank
    } else {
        let exponent = ((magnitude.to_bits() >> 52) as i32) - 1023;
        let fraction = magnitude / 2f64.powi(exponent - format.fraction_bits as i32);
        let field = i64::from(exponent - format.min_normal_exponent()) << format.fraction_bits;
        (fraction as Rank + field).min(format.max_finite())
    };
    if value.is_sign_negative() { -1 - rank } else { rank }
}

/// The value of a rank. Ranks beyond the finite ones give infinities.
#[inline]
pub(crate) fn value(fmt: Fmt, rank: Rank) -> f64 {
    let format = fmt.format();
    match fmt {
        Fmt::F32 => f64::from(f32::from_bits(assay_float::F32.bits(rank) as u32)),
        Fmt::F64 => f64::from_bits(assay_float::F64.bits(rank)),
        Fmt::F16 | Fmt::BF16 => format.to_f64(format.bits(rank)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_float::{F16, F32};

    #[test]
    fn neighbours_of_halves_agree_with_their_values() {
        for bits in 0..0x7c00u64 {
            let x = F16.to_f64(bits);
            let rank = F16.rank(bits);
            assert_eq!(RoundedReal::exact(x).neighbours(Fmt::F16), (rank, rank));
            assert_eq!(RoundedReal { value: x, residual: 1.0 }.neighbours(Fmt::F16), (rank, rank + 1));
            let next = F16.to_f64(F16.bits(rank + 1));
            if next.is_finite() {
                assert_eq!(RoundedReal::exact((x + next) / 2.0).neighbours(Fmt::F16), (rank, rank + 1));
                assert_eq!(RoundedReal::exact(-(x * 3.0 + next) / 4.0).neighbours(Fmt::F16), (-2 - rank, -1 - rank));
            }
        }
        assert_eq!(RoundedReal::exact(65_520.0).neighbours(Fmt::F16), (F16.max_finite(), F16.infinity()));
    }

    #[test]
    fn sums_that_do_not_fit_are_between_their_neighbours() {
        let one = F32.rank(u64::from(1f32.to_bits()));
        assert_eq!(RoundedReal::sum(1.0, 1e-30).neighbours(Fmt::F32), (one, one + 1));
        assert_eq!(RoundedReal::sum(1.0, -1e-30).neighbours(Fmt::F32), (one - 1, one));
        assert_eq!(
            RoundedReal::sum(f64::from(f32::MAX), 1e20).neighbours(Fmt::F32),
            (F32.max_finite(), F32.infinity())
        );
        assert_eq!(RoundedReal::sum(1.0, 0.5).neighbours(Fmt::F64).0, assay_float::F64.rank(1.5f64.to_bits()));
    }
}
