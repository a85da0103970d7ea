//! Values for memory that belongs to no particular instruction.

use super::input_range::{InputRange, RangeError, at_position};
use super::random_rows::{linear, scalar_bits};
use super::rng::{Rng, key};
use super::special_values::{SpecialValues, near};
use assay_float::Format;
use assay_precision::Scalar;
use serde::{Deserialize, Serialize};

/// Distribution of values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mixture {
    /// Ordinary values: floats of moderate magnitude, small non-negative integers.
    Usual,
    /// Difficult values: special values and their neighbours, numbers with few or many significant
    /// bits, arbitrary bit patterns.
    Hard,
    /// Uniform over the numbers of a range; over the representable values of floats if an end is infinite.
    Range(InputRange),
}

/// Values of one scalar type. Each can be computed without the others, and is equal on all
/// machines.
#[derive(Clone, Debug)]
pub struct MemoryValues {
    scalar: Scalar,
    specials: SpecialValues,
    /// Bound below which integers of [`Mixture::Usual`] stay.
    below: u64,
    source: ValueSource,
    key: u64,
}

#[derive(Clone, Copy, Debug)]
enum ValueSource {
    Usual,
    Hard,
    Range(i128, i128),
}

impl MemoryValues {
    /// Creates values of that type. `name` distinguishes streams with the same seed. Integers of
    /// [`Mixture::Usual`] stay below `below` (below 1 if that is 0).
    ///
    /// # Errors
    /// [`RangeError`] if a range does not fit the type.
    pub fn new(
        scalar: Scalar,
        mixture: &Mixture,
        name: &str,
        seed: u64,
        below: u64,
    ) -> Result<MemoryValues, RangeError> {
        let source = match mixture {
            Mixture::Usual => ValueSource::Usual,
            Mixture::Hard => ValueSource::Hard,
            Mixture::Range(range) => {
                let (lo, hi) = range.positions(scalar)?;
                ValueSource::Range(lo, hi)
            }
        };
        Ok(MemoryValues {
            scalar,
            specials: SpecialValues::for_memory(scalar),
            below: below.max(1),
            source,
            key: key(name, seed),
        })
    }

    /// Returns the bits of the value with this index, right-aligned.
    pub fn bits(&self, index: u64) -> u64 {
        let mut rng = Rng::new(self.key, index);
        match (self.source, self.scalar) {
            (_, Scalar::Bool) => rng.next() & 1,
            (ValueSource::Usual, Scalar::Float(format)) => linear(format, &mut rng),
            (ValueSource::Usual, Scalar::Int { width, signed }) => {
                let most = u64::MAX >> (64 - width + u32::from(signed));
                rng.below(self.below.min(most))
            }
            // Every value of the pool occurs once, the most revealing ones first; other values are
            // interspersed.
            (ValueSource::Hard, _) if index.is_multiple_of(2) && index / 2 < self.specials.all.len() as u64 => {
                let (core, rest) = self.specials.all.split_at(self.specials.core.len());
                match (index / 2).checked_sub(core.len() as u64) {
                    None => core[self.shuffled(index / 2, core.len())],
                    Some(index) => rest[self.shuffled(index, rest.len())],
                }
            }
            (ValueSource::Hard, _) => {
                let kind = rng.below(5);
                scalar_bits(self.scalar, &self.specials, kind, &mut rng)
            }
            (ValueSource::Range(lo, hi), Scalar::Float(format)) if is_finite(format, [lo, hi]) => {
                let [least, most] = [lo, hi].map(|end| format.to_f64(format.bits(end as i64)));
                let part = (rng.next() >> 11) as f64 / (1u64 << 53) as f64;
                // No sum beyond the largest number, and rounding may leave the range.
                let bits = near(format, least * (1.0 - part) + most * part);
                at_position(i128::from(format.rank(bits)).clamp(lo, hi), self.scalar)
            }
            (ValueSource::Range(lo, hi), scalar) => {
                let count = (hi - lo) as u128 + 1;
                let at = match u64::try_from(count) {
                    Ok(count) => rng.below(count),
                    Err(_) => rng.next(),
                };
                at_position(lo + i128::from(at), scalar)
            }
        }
    }

    /// Returns the position of `index` in a permutation of `count` positions that depends on the
    /// stream, so that different streams combine different special values.
    fn shuffled(&self, index: u64, count: usize) -> usize {
        let count = count as u64;
        let coprime = |step: &u64| {
            let (mut a, mut b) = (*step, count);
            while b > 0 {
                (a, b) = (b, a % b);
            }
            a == 1
        };
        let step = (self.key % count..).map(|step| step.max(1)).find(coprime).unwrap_or(1);
        ((index * step + self.key / 7) % count) as usize
    }
}

/// Returns whether the numbers at positions of a format are finite.
fn is_finite(format: Format, positions: [i128; 2]) -> bool {
    positions.iter().all(|position| format.to_f64(format.bits(*position as i64)).is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_float::{F16, F32};

    fn bits(scalar: Scalar, mixture: &Mixture, n: u64) -> Vec<u64> {
        let values = MemoryValues::new(scalar, mixture, "buffer", 7, 64).unwrap();
        (0..n).map(|i| values.bits(i)).collect()
    }

    #[test]
    fn hard_values_include_the_special_ones() {
        let tame = bits(Scalar::Float(F32), &Mixture::Usual, 1000);
        assert!(tame.iter().all(|&b| F32.to_f64(b).abs() <= 104.0));
        assert!(bits(Scalar::Int { width: 32, signed: true }, &Mixture::Usual, 1000).iter().all(|&b| b < 64));
        assert!(bits(Scalar::Int { width: 8, signed: true }, &Mixture::Usual, 1000).iter().all(|&b| b < 64));
        let hard = bits(Scalar::Float(F16), &Mixture::Hard, 4000);
        for telling in [0, 0x8000, 1, 0x7c00, 0xfc00, 0x7e00, 0x3c00, 0x3c01, 0x7bff] {
            assert!(hard.contains(&telling), "{telling:#x}");
        }
        assert!(hard.iter().all(|&b| b <= 0xffff));
        // Each special value occurs once, and streams combine them differently, for example
        // infinities with zeros.
        let other = MemoryValues::new(Scalar::Float(F16), &Mixture::Hard, "another", 7, 64).unwrap();
        let pairs: Vec<[u64; 2]> = (0..).step_by(2).take(64).map(|i| [hard[i as usize], other.bits(i)]).collect();
        assert!(pairs.iter().filter(|[a, b]| a == b).count() < 8, "{pairs:x?}");
        let mut seen: Vec<u64> = pairs.iter().map(|[a, _]| *a).collect();
        seen.sort_unstable();
        assert!(seen.windows(2).all(|two| two[0] != two[1]), "none of them twice: {seen:x?}");
        let whole = bits(Scalar::Int { width: 64, signed: true }, &Mixture::Hard, 100);
        assert!(whole.contains(&u64::MAX) && whole.contains(&(1 << 63)));
    }

    #[test]
    fn values_are_in_their_range_and_depend_on_the_name() {
        let range = Mixture::Range("1..2".parse().unwrap());
        assert!(bits(Scalar::Float(F32), &range, 500).iter().all(|&b| (0x3f80_0000..=0x4000_0000).contains(&b)));
        let across = Mixture::Range("-1..3".parse().unwrap());
        for format in [F16, F32] {
            let numbers: Vec<f64> =
                bits(Scalar::Float(format), &across, 1000).iter().map(|b| format.to_f64(*b)).collect();
            assert!(numbers.iter().all(|number| (-1.0..=3.0).contains(number)));
            for (least, most) in [(-1.0, 0.0), (0.0, 1.0), (1.0, 2.0), (2.0, 3.0)] {
                let part = numbers.iter().filter(|number| (least..most).contains(*number)).count();
                assert!((200..300).contains(&part), "{part} numbers from {least} to {most}");
            }
        }
        let unbounded = Mixture::Range("1..inf".parse().unwrap());
        assert!(bits(Scalar::Float(F32), &unbounded, 100).iter().all(|b| (0x3f80_0000..=0x7f80_0000).contains(b)));
        let all = Mixture::Range("-9223372036854775808..9223372036854775807".parse().unwrap());
        assert_eq!(bits(Scalar::Int { width: 64, signed: true }, &all, 5).len(), 5);
        let other = MemoryValues::new(Scalar::Float(F32), &range, "another", 7, 0).unwrap();
        assert_ne!(bits(Scalar::Float(F32), &range, 1)[0], other.bits(0));
        assert!(
            MemoryValues::new(
                Scalar::Int { width: 32, signed: false },
                &Mixture::Range("-1..1".parse().unwrap()),
                "",
                0,
                0
            )
            .is_err()
        );
    }
}
