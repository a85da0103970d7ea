//! Filter of rows that a search has run already.

use super::Row;

/// Bloom filter (Bloom, "Space/time trade-offs in hash coding with allowable errors", 1970) with two
/// bits for each row: about one new row in a hundred is taken for a known one after 2^24 rows.
#[derive(Clone, Debug)]
pub(super) struct SeenRows {
    words: Vec<u64>,
}

/// Binary logarithm of the number of bits: 32 MiB.
const BITS: u32 = 28;

impl SeenRows {
    pub(super) fn new() -> SeenRows {
        SeenRows { words: vec![0; 1 << (BITS - 6)] }
    }

    /// Adds a row. Returns true if it is new.
    pub(super) fn insert(&mut self, row: &Row) -> bool {
        let hash = row.iter().fold(0x9e37_79b9_7f4a_7c15u64, |hash, &bits| {
            let mixed = (hash ^ bits).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (mixed ^ mixed >> 31).wrapping_mul(0x94d0_49bb_1331_11eb)
        });
        let mut is_new = false;
        for bit in [hash >> (64 - BITS), hash & ((1 << BITS) - 1)] {
            let (word, mask) = (&mut self.words[(bit >> 6) as usize], 1 << (bit & 63));
            is_new |= *word & mask == 0;
            *word |= mask;
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::smallvec;

    #[test]
    fn rows_are_new_once() {
        let mut seen = SeenRows::new();
        let rows = || (0..100_000u64).map(|at| -> Row { smallvec![at, at + 1] });
        assert!(rows().filter(|row| seen.insert(row)).count() > 99_990);
        assert!(!rows().any(|row| seen.insert(&row)));
        assert!(seen.insert(&smallvec![6, 5]), "the order counts");
    }
}
