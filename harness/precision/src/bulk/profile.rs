//! Profile of the margins of a case: the greatest margin along the values of the first operand, and
//! the distribution of margins.

use crate::{Column, Scalar};

/// Margins of all checked results by the value of the first operand.
///
/// Margins are those of the filter where it decides: at least the certified ones and hardly
/// greater. Along an ordered sweep of a function with an inherited bound they may be up to twice
/// the certified ones where those are below 1/16, and the greatest margin of a bucket may be too
/// small by a 64th.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    worst: [f32; Profile::BUCKETS],
    errors: [u64; Profile::BINS],
}

impl Default for Profile {
    fn default() -> Profile {
        Profile { worst: [NONE; Profile::BUCKETS], errors: [0; Profile::BINS] }
    }
}

/// Mark of an empty bucket, less than every margin.
const NONE: f32 = -1.0;

impl Profile {
    /// Greatest number of buckets along the first operand.
    const BUCKETS: usize = 512;

    /// Returns the number of buckets along a first operand of this type. Each covers equally many
    /// bit patterns, in the order of the values: negative NaNs first, then -inf, .. -0, +0, .. +inf,
    /// NaN; integers from the least to the greatest.
    ///
    /// A float has a bucket for each sign and binade, but at least 128 and at most 512 buckets:
    /// 512 for `f32` and `bf16`, for `f64` 512 of eight binades, for `f16` two in each binade. Other
    /// types have 128.
    pub fn buckets(scalar: Scalar) -> usize {
        let binades = scalar.format().map_or(0, |format| 2 << format.exponent_bits);
        binades.clamp(128, Profile::BUCKETS)
    }

    /// Number of bins of the distribution: no error; then margins up to 2^-10, 2^-9, .. 2^7; then
    /// all greater ones.
    pub const BINS: usize = 20;

    /// Greatest margin in each bucket of a first operand of this type; `None` for an empty bucket.
    pub fn worst(&self, scalar: Scalar) -> impl Iterator<Item = Option<f32>> {
        self.worst[..Profile::buckets(scalar)].iter().map(|&margin| (margin >= 0.0).then_some(margin))
    }

    /// Number of results in each bin. In an ordered sweep, where neighbours have similar errors,
    /// one result in 128 is counted.
    pub fn errors(&self) -> &[u64; Profile::BINS] {
        &self.errors
    }

    /// Returns true if no result had an error.
    pub fn is_empty(&self) -> bool {
        self.errors[1..].iter().all(|&count| count == 0)
    }

    /// Profile for another part of the same case, with the greatest margins so far and without
    /// counts.
    pub(crate) fn next(&self) -> Profile {
        Profile { worst: self.worst, ..Profile::default() }
    }

    /// Greatest margin so far among operands close to this one; negative if there is none.
    pub(crate) fn greatest(&self, scalar: Scalar, operand: u64) -> f64 {
        self.worst[bucket(scalar, operand)].into()
    }

    /// Adds the profile of another part of the same case.
    pub fn merge(&mut self, other: &Profile) {
        for (worst, &margin) in self.worst.iter_mut().zip(&other.worst) {
            *worst = worst.max(margin);
        }
        for (errors, count) in self.errors.iter_mut().zip(other.errors) {
            *errors += count;
        }
    }

    /// Adds one result.
    pub(crate) fn add(&mut self, scalar: Scalar, operand: u64, margin: f64) {
        if margin.is_nan() || margin < 0.0 {
            return;
        }
        let bucket = &mut self.worst[bucket(scalar, operand)];
        *bucket = bucket.max(margin as f32);
        self.errors[bin(margin)] += 1;
    }

    /// Adds a group of results that all pass or are not checked. `margin` gives the margin of a
    /// lane, negative if it has none; `worst` is the greatest.
    pub(crate) fn add_group(
        &mut self,
        scalar: Scalar,
        group: OperandGroup<'_>,
        margin: impl Fn(usize) -> f64,
        worst: f64,
    ) {
        let OperandGroup { operands, start, count } = group;
        if count == 0 || worst.is_nan() || worst < 0.0 {
            return;
        }
        if let Some(representative_lane) = group.representative_lane(scalar) {
            self.add_ordered_group(scalar, operands.get(start), margin(representative_lane), worst);
            return;
        }
        for lane in 0..count {
            self.add(scalar, operands.get(start + lane), margin(lane));
        }
    }

    /// Adds a group of an ordered sweep for which [`OperandGroup::representative_lane`] gave a
    /// lane: its first operand, the margin of that lane, and the greatest margin. A margin is
    /// negative if there is none.
    pub(crate) fn add_ordered_group(&mut self, scalar: Scalar, first: u64, reported: f64, worst: f64) {
        if worst < 0.0 {
            return;
        }
        let bucket = &mut self.worst[bucket(scalar, first)];
        *bucket = bucket.max(worst as f32);
        if reported >= 0.0 {
            self.errors[bin(reported)] += 1;
        }
    }
}

/// Consecutive invocations with their first operands.
#[derive(Clone, Copy)]
pub(crate) struct OperandGroup<'a> {
    pub(crate) operands: Column<'a>,
    pub(crate) start: usize,
    pub(crate) count: usize,
}

impl OperandGroup<'_> {
    /// Lane that represents the group in the distribution of errors. `None` unless the group is
    /// part of an ordered sweep and lies in one bucket.
    ///
    /// The lane differs from group to group, because the low bits of operands have patterns of
    /// their own.
    pub(crate) fn representative_lane(&self, scalar: Scalar) -> Option<usize> {
        let OperandGroup { operands, start, count } = *self;
        let (first, end) = (operands.get(start), operands.get(start + count - 1));
        let sweep = count > 1 && end.wrapping_sub(first) == count as u64 - 1;
        (sweep && bucket(scalar, first) == bucket(scalar, end)).then(|| (first as usize / count) % count)
    }
}

/// Bucket of a value.
fn bucket(scalar: Scalar, bits: u64) -> usize {
    let width = scalar.width();
    let sign = 1u64 << (width - 1);
    let ordered = match scalar {
        Scalar::Float(_) if bits & sign != 0 => !bits & (u64::MAX >> (64 - width)),
        Scalar::Float(_) => bits | sign,
        Scalar::Int { signed: true, .. } => bits ^ sign,
        Scalar::Int { signed: false, .. } | Scalar::Bool => bits,
    };
    let buckets = Profile::buckets(scalar);
    ((ordered >> (width - buckets.trailing_zeros())) as usize).min(buckets - 1)
}

/// Bin of a margin.
fn bin(margin: f64) -> usize {
    if margin == 0.0 {
        return 0;
    }
    // Exponent of the least power of two that is not below the margin.
    let bits = margin.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i64 - 1023;
    let up = exponent + i64::from(bits & ((1 << 52) - 1) != 0);
    (up + 11).clamp(1, Profile::BINS as i64 - 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(name: &str) -> Scalar {
        Scalar::from_name(name).unwrap()
    }

    #[test]
    fn buckets_follow_the_order_of_values() {
        let f32 = scalar("f32");
        let values = [f32::NEG_INFINITY, -1e30, -1.0, -1e-30, -0.0, 0.0, 1e-30, 1.0, 1e30, f32::INFINITY];
        let buckets: Vec<usize> = values.iter().map(|v| bucket(f32, v.to_bits().into())).collect();
        assert!(buckets.is_sorted(), "{buckets:?}");
        assert_eq!((buckets[4], buckets[5]), (255, 256));
        assert_eq!([bucket(f32, 0xffff_ffff), bucket(f32, 0x7fff_ffff)], [0, 511]);
        // Each binade of f32 has a bucket.
        assert_eq!([1.0f32, 1.999, 2.0].map(|v| bucket(f32, v.to_bits().into())), [383, 383, 384]);
        assert_eq!([bucket(scalar("i8"), 0x80), bucket(scalar("i8"), 0), bucket(scalar("u8"), 0xff)], [0, 64, 127]);
        assert_eq!(
            [bucket(scalar("f64"), 0), bucket(scalar("u64"), u64::MAX), bucket(scalar("f16"), 0)],
            [256, 127, 64]
        );
        assert!(bucket(scalar("bool"), 1) < 128);
        let counts = ["f16", "bf16", "f32", "f64", "f8e4m3", "i32"].map(|name| Profile::buckets(scalar(name)));
        assert_eq!(counts, [128, 512, 512, 512, 128, 128]);
    }

    #[test]
    fn bins_are_powers_of_two() {
        let bins = [0.0, 1e-9, 0.25, 0.5, 0.500_001, 1.0, 1.000_001, 128.0, 129.0, f64::INFINITY].map(bin);
        assert_eq!(bins, [0, 1, 9, 10, 11, 11, 12, 18, 19, 19]);
    }

    #[test]
    fn a_spike_of_one_result_is_seen_and_parts_add_up() {
        let f32 = scalar("f32");
        let (mut whole, mut other) = (Profile::default(), Profile::default());
        assert!(whole.is_empty());
        let operands: Vec<u32> = (0x3f80_0000..0x3f80_0080).collect();
        let mut margins = vec![0.5; 128];
        margins[77] = 3.0;
        let lanes = |operands, count| OperandGroup { operands, start: 0, count };
        whole.add_group(f32, lanes(Column::Words(&operands), 128), |lane| margins[lane], 3.0);
        assert_eq!(whole.errors().iter().sum::<u64>(), 1, "a sweep is sampled");
        let at = bucket(f32, 0x3f80_0000);
        assert_eq!(whole.worst(f32).nth(at), Some(Some(3.0)));
        // Out of order, each operand has its own bucket and all count.
        let operands: Vec<u32> = [1.0f32, -1.0, 0.0].iter().map(|v| v.to_bits()).collect();
        other.add_group(f32, lanes(Column::Words(&operands), 3), |lane| [0.5, 7.0, -1.0][lane], 7.0);
        whole.merge(&other);
        assert_eq!(whole.worst(f32).nth(bucket(f32, u64::from((-1f32).to_bits()))), Some(Some(7.0)));
        assert_eq!(whole.worst(f32).flatten().count(), 2, "a lane without a margin leaves no trace");
        assert_eq!(whole.errors().iter().sum::<u64>(), 3);
        assert!(!whole.is_empty());
        whole.add(f32, 0, f64::NAN);
        assert_eq!(whole.errors().iter().sum::<u64>(), 3);
    }
}
