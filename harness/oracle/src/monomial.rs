//! Monomials of a multiplied-out expression, reduced to the information that decides whether a sum
//! of two of them factors into a product of sums.

/// Hash of a monomial: the exponents of its factors modulo 2 and modulo 3. A divisor counts as an
/// exponent of -1.
///
/// Each value is a random vector, and a monomial the sum of the vectors of its factors. Two
/// monomials whose exponents agree modulo 2 differ by the factor of a square, so their difference
/// is a product: `a * x^2 - a * y^2` is `a * (x + y) * (x - y)`. If the exponents agree modulo 3,
/// both the sum and the difference are products. A collision of the hash only enlarges the
/// permitted set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MonomialKey {
    /// Vectors over the integers modulo 2 (32 digits) and modulo 3 (8 digits of four bits).
    squares: u32,
    cubes: u32,
}

impl MonomialKey {
    /// The empty product.
    pub(crate) const ONE: MonomialKey = MonomialKey { squares: 0, cubes: 0 };

    /// The key of a value that is identified by these bits.
    pub(crate) fn of(bits: u64) -> MonomialKey {
        let mixed = (bits ^ bits >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        MonomialKey { squares: (mixed >> 32) as u32, cubes: modulo_3(mixed as u32 & 0x3333_3333) }
    }

    /// The key of a constant. An odd part that is a square, and factors of 4, do not count among
    /// the exponents modulo 2, nor does a power of 8 among those modulo 3. Other squares and cubes
    /// are not recognised.
    pub(crate) fn of_constant(value: f64) -> MonomialKey {
        let bits = value.abs().to_bits();
        if !value.is_normal() {
            return MonomialKey::of(bits);
        }
        let fraction = bits & ((1 << 52) - 1) | 1 << 52;
        let odd = (fraction >> fraction.trailing_zeros()) as f64;
        let exponent = (bits >> 52) as i32 - 1075 + fraction.trailing_zeros().cast_signed();
        let free = if odd.sqrt().fract() == 0.0 { 1.0 } else { odd };
        let is_leaf = free == 1.0 && exponent % 2 == 0;
        let squares =
            if is_leaf { 0 } else { MonomialKey::of((free * f64::from(1 + exponent.rem_euclid(2))).to_bits()).squares };
        let cube = odd == 1.0 && exponent % 3 == 0;
        let cubes = if cube { 0 } else { MonomialKey::of(bits).cubes };
        MonomialKey { squares, cubes }
    }

    pub(crate) fn with(self, other: MonomialKey) -> MonomialKey {
        MonomialKey { squares: self.squares ^ other.squares, cubes: modulo_3(self.cubes + other.cubes) }
    }

    /// The key of the inverse.
    pub(crate) fn inverse(self) -> MonomialKey {
        MonomialKey { cubes: modulo_3(0x3333_3333 - self.cubes), ..self }
    }
}

/// Reduces digits of four bits, each at most 5, modulo 3.
fn modulo_3(digits: u32) -> u32 {
    let over = ((digits + 0x5555_5555) & 0x8888_8888) >> 3;
    digits - 3 * over
}

/// A summand: its monomial and the signs that it may have. One that is exactly zero has no sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignedTerm {
    pub(crate) key: MonomialKey,
    pub(crate) positive: bool,
    pub(crate) negative: bool,
    /// Set for a leaf, which no operation of the chain computed.
    pub(crate) is_leaf: bool,
}

impl SignedTerm {
    pub(crate) const ONE: SignedTerm =
        SignedTerm { key: MonomialKey::ONE, positive: true, negative: false, is_leaf: true };

    pub(crate) fn neg(self) -> SignedTerm {
        SignedTerm { positive: self.negative, negative: self.positive, ..self }
    }

    pub(crate) fn times(self, other: SignedTerm) -> SignedTerm {
        SignedTerm {
            key: self.key.with(other.key),
            positive: (self.positive && other.positive) || (self.negative && other.negative),
            negative: (self.positive && other.negative) || (self.negative && other.positive),
            is_leaf: false,
        }
    }

    /// Returns true if the sum of both may be a product of sums.
    pub(crate) fn factors_with(&self, other: &SignedTerm) -> bool {
        let apart = (self.positive && other.negative) || (self.negative && other.positive);
        // Like terms agree in both and become one summand in the end. Sixth powers agree in both as
        // well and are not recognised.
        let (squares, cubes) = (self.key.squares == other.key.squares, self.key.cubes == other.key.cubes);
        let is_zero = |term: &SignedTerm| !term.positive && !term.negative;
        if is_zero(self) || is_zero(other) || (self.is_leaf && other.is_leaf) {
            return false;
        }
        (squares && apart && !cubes) || (cubes && !squares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_and_cubes_make_no_difference() {
        let [x, y, a] = [3, 5, 7].map(MonomialKey::of);
        let of = |key: MonomialKey, negative: bool| SignedTerm { key, positive: !negative, negative, is_leaf: false };
        let (xx, yy) = (x.with(x), y.with(y));
        assert!(of(xx, false).factors_with(&of(yy, true)) && !of(xx, false).factors_with(&of(yy, false)));
        assert!(of(xx.with(a), false).factors_with(&of(a, true)) && !of(xx, false).factors_with(&of(a, true)));
        assert!(of(xx.with(x), false).factors_with(&of(yy.with(y), false)));
        assert!(of(xx.with(y.inverse()), false).factors_with(&of(y.inverse().with(MonomialKey::ONE), true)));
        assert_eq!((x.with(x.inverse()).cubes, x.with(x).with(x).cubes), (0, 0));
        assert!(!of(x.with(y), false).factors_with(&of(x.with(a), true)));
        let four = of(MonomialKey::of_constant(4.0), true);
        assert!(
            of(xx, false).factors_with(&four) && !of(xx, false).factors_with(&of(MonomialKey::of_constant(3.0), true))
        );
        let (two, half) = (MonomialKey::of_constant(2.0), MonomialKey::of_constant(0.5));
        assert!(of(xx.with(two), false).factors_with(&of(half, true)), "2 x^2 - 1 / 2 is (4 x^2 - 1) / 2");
        assert!(!SignedTerm::ONE.factors_with(&SignedTerm::ONE.neg()));
        assert!(!of(x.with(y), false).factors_with(&of(x.with(y), true)), "like terms");
        let zero = SignedTerm { positive: false, negative: false, ..SignedTerm::ONE };
        let cubed = of(xx.with(x), false);
        assert!(!of(xx, false).factors_with(&zero) && !cubed.factors_with(&zero.times(cubed)), "nothing cancels");
    }
}
