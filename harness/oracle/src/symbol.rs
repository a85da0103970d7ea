//! What a summand is made of, as far as is needed to tell whether a sum of it and others is a product of sums.

/// The values that a product is made of, each as often as it stands there: a divisor stands there less often by one. Two products with
/// keys that agree modulo squares are each other's multiple by a square, so that their difference is a product: `a * x^2 - a * y^2` is
/// `a * (x + y) * (x - y)`; modulo cubes, sum and difference are. Keys that agree by accident only make more of what is permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Vectors of a space over the integers modulo 2, and modulo 3 (in four bits each).
    squares: u32,
    cubes: u32,
}

impl Key {
    /// A product of nothing.
    pub(crate) const ONE: Key = Key { squares: 0, cubes: 0 };

    /// A value that is known by these bits.
    pub(crate) fn of(bits: u64) -> Key {
        let mixed = (bits ^ bits >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Key { squares: (mixed >> 32) as u32, cubes: modulo_3(mixed as u32 & 0x3333_3333) }
    }

    /// A constant: squares and cubes among its factors make no difference where they are easily seen.
    pub(crate) fn of_constant(value: f64) -> Key {
        let bits = value.abs().to_bits();
        if !value.is_normal() {
            return Key::of(bits);
        }
        let fraction = bits & ((1 << 52) - 1) | 1 << 52;
        let odd = (fraction >> fraction.trailing_zeros()) as f64;
        let exponent = (bits >> 52) as i32 - 1075 + fraction.trailing_zeros().cast_signed();
        let free = if odd.sqrt().fract() == 0.0 { 1.0 } else { odd };
        let plain = free == 1.0 && exponent % 2 == 0;
        let squares = if plain { 0 } else { Key::of((free * f64::from(1 + exponent.rem_euclid(2))).to_bits()).squares };
        let cube = odd == 1.0 && exponent % 3 == 0;
        let cubes = if cube { 0 } else { Key::of(bits).cubes };
        Key { squares, cubes }
    }

    pub(crate) fn with(self, other: Key) -> Key {
        Key { squares: self.squares ^ other.squares, cubes: modulo_3(self.cubes + other.cubes) }
    }

    /// What stands in a divisor.
    pub(crate) fn inverse(self) -> Key {
        Key { cubes: modulo_3(0x3333_3333 - self.cubes), ..self }
    }
}

/// Digits of four bits, at most 5 each, modulo 3.
fn modulo_3(digits: u32) -> u32 {
    let over = ((digits + 0x5555_5555) & 0x8888_8888) >> 3;
    digits - 3 * over
}

/// A summand: its key, and what its sign may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Summand {
    pub(crate) key: Key,
    pub(crate) positive: bool,
    pub(crate) negative: bool,
    /// Whether it is a value that is not computed here.
    pub(crate) plain: bool,
}

impl Summand {
    pub(crate) const ONE: Summand = Summand { key: Key::ONE, positive: true, negative: false, plain: true };

    pub(crate) fn neg(self) -> Summand {
        Summand { positive: self.negative, negative: self.positive, ..self }
    }

    pub(crate) fn times(self, other: Summand) -> Summand {
        Summand {
            key: self.key.with(other.key),
            positive: (self.positive && other.positive) || (self.negative && other.negative),
            negative: (self.positive && other.negative) || (self.negative && other.positive),
            plain: false,
        }
    }

    /// Whether both together may be a product of sums.
    pub(crate) fn factors_with(&self, other: &Summand) -> bool {
        let apart = (self.positive && other.negative) || (self.negative && other.positive);
        // Of like terms, which agree in both, there is only one in the end (or they are sixth powers).
        let (squares, cubes) = (self.key.squares == other.key.squares, self.key.cubes == other.key.cubes);
        !(self.plain && other.plain) && ((squares && apart && !cubes) || (cubes && !squares))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_and_cubes_make_no_difference() {
        let [x, y, a] = [3, 5, 7].map(Key::of);
        let of = |key: Key, negative: bool| Summand { key, positive: !negative, negative, plain: false };
        let (xx, yy) = (x.with(x), y.with(y));
        assert!(of(xx, false).factors_with(&of(yy, true)) && !of(xx, false).factors_with(&of(yy, false)));
        assert!(of(xx.with(a), false).factors_with(&of(a, true)) && !of(xx, false).factors_with(&of(a, true)));
        assert!(of(xx.with(x), false).factors_with(&of(yy.with(y), false)));
        assert!(of(xx.with(y.inverse()), false).factors_with(&of(y.inverse().with(Key::ONE), true)));
        assert_eq!((x.with(x.inverse()).cubes, x.with(x).with(x).cubes), (0, 0));
        assert!(!of(x.with(y), false).factors_with(&of(x.with(a), true)));
        let four = of(Key::of_constant(4.0), true);
        assert!(of(xx, false).factors_with(&four) && !of(xx, false).factors_with(&of(Key::of_constant(3.0), true)));
        let (two, half) = (Key::of_constant(2.0), Key::of_constant(0.5));
        assert!(of(xx.with(two), false).factors_with(&of(half, true)), "2 x^2 - 1 / 2 is (4 x^2 - 1) / 2");
        assert!(!Summand::ONE.factors_with(&Summand::ONE.neg()));
        assert!(!of(x.with(y), false).factors_with(&of(x.with(y), true)), "like terms")
    }
}
