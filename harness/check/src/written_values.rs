//! Values of the written elements of a binding.
//!
//! An element that could have come out wrong says little if it has the value of all others, or
//! keeps its old value: the alpha 1 of an image whose colours are undetermined, or an atomic sum of
//! zeros.

use std::collections::BTreeMap;

/// Largest number of different values that are counted one by one.
const MAX_VALUES: usize = 256;

/// Size of a vector with four components in bytes.
const VECTOR: u64 = 16;

/// Largest size of a record in bytes.
const RECORD: u64 = 256;

/// Returns the size of the records of a run-time array with a stride, in bytes. The scalars of a
/// record are counted apart, since each may have a constant of its own: those of a structure, or
/// else of a vector.
pub(crate) fn record_size(stride: Option<u64>) -> u64 {
    stride.filter(|stride| (1..=RECORD).contains(stride) && !VECTOR.is_multiple_of(*stride)).unwrap_or(VECTOR)
}

/// Numbers of the elements that could have come out wrong, by value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WrittenValues {
    /// Elements that differ from their old value, by place in a record and bits.
    counts: BTreeMap<(u64, u64), u64>,
    /// Elements with further values.
    others: u64,
}

impl WrittenValues {
    /// Counts an element at a place in a record, in bytes, with its bits before and after the
    /// dispatch.
    pub(crate) fn count(&mut self, place: u64, before: Option<u64>, after: u64) {
        if before != Some(after) {
            self.add_value((place, after), 1);
        }
    }

    fn add_value(&mut self, value: (u64, u64), elements: u64) {
        if self.counts.len() < MAX_VALUES || self.counts.contains_key(&value) {
            *self.counts.entry(value).or_default() += elements;
        } else {
            self.others += elements;
        }
    }

    /// Adds the elements of another round.
    pub(crate) fn add(&mut self, other: WrittenValues) {
        self.others += other.others;
        for (value, elements) in other.counts {
            self.add_value(value, elements);
        }
    }

    /// Returns the number of elements that differ from their old value and from the most frequent
    /// one at their place in a record.
    pub(crate) fn distinct(&self) -> u64 {
        let mut most: BTreeMap<u64, u64> = BTreeMap::new();
        for ((place, _), elements) in &self.counts {
            let most = most.entry(*place).or_default();
            *most = *elements.max(most);
        }
        self.counts.values().sum::<u64>() - most.values().sum::<u64>() + self.others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_with_one_value_or_their_old_one_are_not_distinct() {
        let mut values = WrittenValues::default();
        // Vectors (0, 0, 0, 1), of which a tenth is unchanged.
        for vector in 0..25 {
            (0..4).for_each(|part| values.count(4 * part, Some(u64::from(vector > 20)), part / 3));
        }
        assert_eq!(values.distinct(), 0);
        let mut other_round = WrittenValues::default();
        (0..100).for_each(|value| other_round.count(4 * (value % 4), None, value + 2));
        values.add(other_round);
        assert_eq!(values.distinct(), 100);
    }

    /// The last components of a position and a velocity are 1 and 0.
    #[test]
    fn each_scalar_of_a_structure_may_have_a_constant_of_its_own() {
        let distinct = |stride: u64| {
            let mut values = WrittenValues::default();
            for record in 0..100 {
                values.count((record * 32 + 12) % record_size(Some(stride)), None, 1);
                values.count((record * 32 + 28) % record_size(Some(stride)), None, 0);
            }
            values.distinct()
        };
        assert_eq!((distinct(32), distinct(16)), (0, 100));
        assert_eq!([4, 12, 16, 80, 4096].map(|stride| record_size(Some(stride))), [16, 12, 16, 80, 16]);
    }
}
