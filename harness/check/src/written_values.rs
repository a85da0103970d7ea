//! Values of the written elements of a binding.
//!
//! An element that could have come out wrong says little if it has the value of all others, or
//! keeps its old value: the alpha 1 of an image whose colours are undetermined, or an atomic sum of
//! zeros.

use std::collections::BTreeMap;

/// Largest number of different values that are counted one by one.
const MAX_VALUES: usize = 64;

/// Size of a vector with four components in bytes. The components are counted apart, since each may
/// have a constant of its own.
const VECTOR: u64 = 16;

/// Numbers of the elements that could have come out wrong, by value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WrittenValues {
    /// Elements that differ from their old value, by place in a vector and bits.
    counts: BTreeMap<(u64, u64), u64>,
    /// Elements with further values.
    others: u64,
}

impl WrittenValues {
    /// Counts an element at an offset in bytes, with its bits before and after the dispatch.
    pub(crate) fn count(&mut self, offset: u64, before: Option<u64>, after: u64) {
        if before != Some(after) {
            self.add_value((offset % VECTOR, after), 1);
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
    /// one at their place in a vector.
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
            (0..4).for_each(|part| values.count(16 * vector + 4 * part, Some(u64::from(vector > 20)), part / 3));
        }
        assert_eq!(values.distinct(), 0);
        let mut other_round = WrittenValues::default();
        (0..100).for_each(|value| other_round.count(4 * value, None, value + 2));
        values.add(other_round);
        assert_eq!(values.distinct(), 100);
    }
}
