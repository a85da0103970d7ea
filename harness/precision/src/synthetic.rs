//! Synthetic devices: results that are right or wrong by construction, from a permitted set.

use crate::Scalar;
use assay_float::{Format, Rank, RankRange, Set};

/// Small deterministic generator (SplitMix64; Steele, Lea & Flood, OOPSLA 2014), equal on every
/// machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Generator with a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Number below `n`, which must not be zero.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// Operand bits for a scalar type: any bit pattern, a special value, or a value within some
    /// binades of one.
    pub fn operand(&mut self, scalar: Scalar) -> u64 {
        let bits = self.bits() >> (64 - scalar.width());
        let Some(f) = scalar.format() else { return if scalar == Scalar::Bool { bits & 1 } else { bits } };
        match self.below(8) {
            0..3 => bits,
            3 => {
                let one = f.rank_of_one() as u64;
                let specials = [0, f.min_normal() as u64, one, f.max_finite() as u64 + 1, f.nan()];
                let near = specials[self.below(5) as usize].wrapping_add(self.below(5)).wrapping_sub(2);
                (near ^ (bits & f.sign_mask())) & f.mask()
            }
            _ => {
                let exponent = f.bias() as u64 - 6 + self.below(12);
                let fraction = bits & ((1 << f.fraction_bits) - 1);
                (bits & f.sign_mask()) | exponent << f.fraction_bits | fraction
            }
        }
    }
}

/// Result of a conforming device: a random member of the set, where each end of a range is as
/// likely as all members between. `None` if the set is empty.
pub fn conforming(set: &Set, scalar: Scalar, random: &mut Random) -> Option<u64> {
    if set.is_anything() {
        return Some(random.bits() >> (64 - scalar.width()));
    }
    let ranges = set.ranges();
    if set.has_nan() && (ranges.is_empty() || random.below(4) == 0) {
        return scalar.format().map(|f| any_nan(f, random));
    }
    let range = *ranges.get(random.below(ranges.len().max(1) as u64) as usize)?;
    let rank = match random.below(3) {
        0 => range.lo,
        1 => range.hi,
        _ => range.lo.wrapping_add(random.below(range.hi.abs_diff(range.lo).saturating_add(1)).cast_signed()),
    };
    Some(bits(rank, scalar))
}

/// Results of a device just outside the rule: the closest value beyond each end of each range, and
/// a NaN if none is permitted. Empty if anything is permitted.
pub fn violating(set: &Set, scalar: Scalar) -> Vec<u64> {
    if set.is_anything() {
        return Vec::new();
    }
    let Some(f) = scalar.format() else {
        // Integers have their bits as ranks.
        let mask = u64::MAX >> (64 - scalar.width());
        let beyond = set.ranges().iter().flat_map(|r| [r.lo.wrapping_sub(1), r.hi.wrapping_add(1)]);
        let beyond = beyond.map(|rank| rank.cast_unsigned() & mask).filter(|&b| !set.contains_rank(b.cast_signed()));
        return beyond.filter(|&b| scalar != Scalar::Bool || b < 2).collect();
    };
    let within = |rank: &Rank| f.neg_infinity() <= *rank && *rank <= f.infinity();
    let outside = |r: &RankRange| [r.lo - 1, r.hi + 1];
    // In a format without infinities, the rank after the largest finite value is that of a NaN.
    let beyond = set.ranges().iter().flat_map(outside).filter(within).map(|rank| f.bits(rank));
    let nan = (!set.has_nan()).then_some(f.nan());
    beyond.filter(|&bits| !set.contains(f, bits)).chain(nan).collect()
}

fn bits(rank: Rank, scalar: Scalar) -> u64 {
    match scalar.format() {
        Some(f) => f.bits(rank),
        None => rank.cast_unsigned(),
    }
}

/// Any of a format's NaNs: quiet or signalling, of either sign.
fn any_nan(f: Format, random: &mut Random) -> u64 {
    let bits = random.bits() & f.mask();
    let nan = bits | f.nan() & !(1 << (f.fraction_bits - 1));
    if f.is_nan(nan) { nan } else { f.nan() | bits & f.sign_mask() }
}
