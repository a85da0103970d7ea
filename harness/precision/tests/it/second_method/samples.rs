//! Operands for comparisons.

use assay_float::Format;
use assay_precision::Scalar;

/// Small generator (xorshift64*), equal on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 8) % n
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Bits of a type: one of the known values if it is an integer or has 8 bits.
    pub(crate) fn operand(&mut self, scalar: Scalar, known: &[u64]) -> u64 {
        match scalar {
            Scalar::Float(f) if f.width > 8 => self.float(f, known),
            _ => self.pick(known),
        }
    }

    /// Bits of a format: any bits, values near one, or special values.
    pub(crate) fn float(&mut self, f: Format, specials: &[u64]) -> u64 {
        let mask = u64::MAX >> (64 - f.width);
        let sign = (self.next() >> 20 & 1) << (f.width - 1);
        match self.below(8) {
            0 | 1 => self.next() & mask,
            2 => self.pick(specials),
            // Near a special.
            3 => self.pick(specials).wrapping_add(self.below(5)).wrapping_sub(2) & mask,
            // Few bits: halfway cases and exact results.
            4 => {
                let one = ((1u64 << (f.exponent_bits - 1)) - 1) << f.fraction_bits;
                let e = self.below(16) << f.fraction_bits;
                sign | (one - (8 << f.fraction_bits) + e + ((self.next() >> 60) << (f.fraction_bits - 4)))
            }
            // Within some binades of one.
            _ => {
                let one = ((1u64 << (f.exponent_bits - 1)) - 1) << f.fraction_bits;
                let e = self.below(12) << f.fraction_bits;
                sign | (one - (6 << f.fraction_bits) + e + (self.next() & ((1 << f.fraction_bits) - 1)))
            }
        }
    }
}

/// Zeros, ends of the denormals and normals, infinity, NaNs, ones, powers of two and their neighbours; both signs.
pub(crate) fn specials(f: Format) -> Vec<u64> {
    let m = f.fraction_bits;
    let one = ((1u64 << (f.exponent_bits - 1)) - 1) << m;
    let inf = ((1u64 << f.exponent_bits) - 1) << m;
    let half = one - (1 << m);
    let positive = [
        0,
        1,
        2,
        (1 << m) - 1,
        1 << m,
        (1 << m) + 1,
        half - 1,
        half,
        half + 1,
        one - 1,
        one,
        one + 1,
        one + (1 << m),
        one + (1 << (m - 1)),
        one + (3 << (m - 1)),
        one + (1 << m) + (1 << (m - 1)),
        inf - 1,
        inf,
        inf + 1,
        inf | 1 << (m - 1),
    ];
    positive.iter().flat_map(|&b| [b, b | 1 << (f.width - 1)]).collect()
}

/// All values of 8 bits, the booleans, and special values of other types.
pub(crate) fn known_values(scalar: Scalar) -> Vec<u64> {
    match scalar {
        Scalar::Bool => vec![0, 1],
        _ if scalar.width() == 8 => (0..=0xff).collect(),
        Scalar::Float(f) => specials(f),
        Scalar::Int { width, .. } => integers(width),
    }
}

/// Integers: small ones, powers of two and their neighbours, the ends.
pub(crate) fn integers(width: u32) -> Vec<u64> {
    let mask = u64::MAX >> (64 - width);
    let powers = (0..width).flat_map(|k| [(1u64 << k) - 1, 1 << k, (1 << k) + 1]);
    let both = powers.flat_map(|v| [v, v.wrapping_neg(), v.wrapping_mul(0x5_5555), v.wrapping_mul(0x0010_0801)]);
    both.map(|v| v & mask).collect()
}
