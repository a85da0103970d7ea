//! Search for the inputs with the greatest errors, where there are too many to run them all.
//!
//! The search is MAP-Elites (Mouret and Clune, "Illuminating search spaces by mapping elites",
//! 2015): an archive keeps the worst row of each cell of the operand space, a cell being the
//! magnitudes of the operands and the distances between them. Each generation consists of mutated
//! rows of the archive and a share of new rows; none is run twice. The starting rows are those of
//! the sampling budgets: special values, and related operands.
//!
//! The margin guides the search. An error that no neighbouring input foreshadows is found by chance
//! only, although the cells make the chance of rare magnitudes greater than uniform sampling does.

mod archive;
mod mutation;
mod seen_rows;

use super::{Inputs, MAX_SLOTS, RowOrigins, random_rows, rng::Rng, special_values::SpecialValues};
use crate::Columns;
use archive::Archive;
use seen_rows::SeenRows;
use smallvec::SmallVec;

/// Operands of an input.
type Row = SmallVec<[u64; 8]>;

/// State of a search. Equal inputs and margins give equal rows on every machine.
#[derive(Clone, Debug)]
pub struct Hunt<'a> {
    inputs: &'a Inputs,
    archive: Archive,
    seen: SeenRows,
}

/// Mutations that are tried until a row is defined and was not run before.
const ATTEMPTS: usize = 4;

/// Part of a generation that consists of new rows: one in this many.
const NEW_ROWS: u64 = 8;

impl<'a> Hunt<'a> {
    /// Rows of a generation after the starting rows.
    const ROWS: usize = 1 << 14;

    /// Starts a search among the inputs of a case. `None` if the inputs are all that are possible,
    /// or are restricted to a range.
    pub fn new(inputs: &'a Inputs) -> Option<Hunt<'a>> {
        let sampled = matches!(inputs.origins, RowOrigins::Sample { .. }) && inputs.range.is_none();
        sampled.then(|| Hunt { inputs, archive: Archive::default(), seen: SeenRows::new() })
    }

    /// Writes the rows of a generation: the first ones are the chunks of the inputs, the others
    /// derive from what the search has learned. Known rows and rows with undefined behaviour are left
    /// out; no row is left once the search is exhausted.
    pub fn fill(&mut self, generation: u64, columns: &mut Columns) {
        if generation < self.inputs.chunks() || self.archive.is_empty() {
            self.inputs.fill(generation % self.inputs.chunks(), columns);
            return;
        }
        self.archive.rank();
        let specials: [&SpecialValues; MAX_SLOTS] = self.inputs.specials_of_slots();
        let specials = &specials[..self.inputs.slots.len()];
        let mut rows = 0;
        for index in 0..Hunt::ROWS.min(columns.capacity()) as u64 {
            let mut rng = Rng::new(self.inputs.key ^ generation.rotate_left(32), index);
            let mut row: Row = SmallVec::from_elem(0, self.inputs.slots.len());
            if index % NEW_ROWS == 0 {
                random_rows::row(&self.inputs.call, &self.inputs.slots, specials, &mut rng, &mut row);
            } else {
                row.copy_from_slice(self.archive.pick(&mut rng));
            }
            let is_usable = (0..ATTEMPTS).any(|attempt| {
                if attempt > 0 || index % NEW_ROWS != 0 {
                    let other = self.archive.pick(&mut rng);
                    mutation::mutate(&self.inputs.slots, specials, other, &mut rng, &mut row);
                }
                let is_defined = !self.inputs.has_undefined_rows || self.inputs.call.is_defined(&row);
                is_defined && self.seen.insert(&row)
            });
            if is_usable {
                columns.set_row(rows, &row);
                rows += 1;
            }
        }
        columns.set_rows(rows);
        columns.pad();
    }

    /// Takes the margin of each row of a generation; negative for rows without a checked result.
    pub fn learn(&mut self, operands: &Columns, margins: &[f32]) {
        let mut row: Row = SmallVec::from_elem(0, self.inputs.slots.len());
        for (index, &margin) in margins.iter().enumerate().filter(|(_, margin)| **margin >= 0.0) {
            operands.row(index, &mut row);
            self.seen.insert(&row);
            self.archive.offer(&self.inputs.slots, &self.inputs.call, &row, margin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Budget, Case};

    fn case(name: &str) -> Case {
        crate::load().unwrap().into_iter().find(|case| case.name == name).unwrap()
    }

    fn rows(columns: &Columns) -> Vec<Row> {
        let mut row: Row = SmallVec::from_elem(0, columns.slots());
        let read = |index| {
            columns.row(index, &mut row);
            row.clone()
        };
        (0..columns.rows()).map(read).collect()
    }

    /// A device whose error grows towards one pair of operands, and is zero elsewhere.
    #[test]
    fn the_search_climbs_to_a_single_pair() {
        let inputs = Inputs::new(&case("precision.f32.fadd.scalar.default"), Budget::Hunt, 0, None).unwrap();
        let mut hunt = Hunt::new(&inputs).expect("too many to run them all");
        let mut columns = inputs.operand_columns();
        let peak = [0x4123_4567u64, 0xc076_5432];
        let error = |row: &Row| {
            let apart = |at: usize| (row[at] ^ peak[at]).leading_zeros() as f32 - 32.0;
            (apart(0) + apart(1)) / 64.0
        };
        let found = (0..200).any(|generation| {
            hunt.fill(generation, &mut columns);
            let margins: Vec<f32> = rows(&columns).iter().map(error).collect();
            hunt.learn(&columns, &margins);
            margins.contains(&1.0)
        });
        assert!(found);
    }

    #[test]
    fn equal_margins_give_equal_rows_and_the_seed_changes_them() {
        let generations = |seed: u64| {
            let inputs = Inputs::new(&case("precision.f16.pow.scalar.default"), Budget::Hunt, seed, None).unwrap();
            let mut hunt = Hunt::new(&inputs).expect("too many to run them all");
            let mut columns = inputs.operand_columns();
            let chunks = inputs.chunks();
            (0..chunks + 3)
                .map(|generation| {
                    hunt.fill(generation, &mut columns);
                    let found = rows(&columns);
                    let margins: Vec<f32> = found.iter().map(|row| (row[0] ^ row[1]) as f32).collect();
                    hunt.learn(&columns, &margins);
                    found
                })
                .collect::<Vec<_>>()
        };
        let (first, again, other) = (generations(1), generations(1), generations(2));
        assert!(first == again && first != other);
        // Descendants are neither the starting rows nor each other.
        let last = first.last().expect("a generation");
        let distinct: std::collections::HashSet<&Row> = last.iter().collect();
        assert!(distinct.len() * 10 > last.len() * 8, "{} of {}", distinct.len(), last.len());
    }

    #[test]
    fn complete_and_restricted_inputs_are_not_searched() {
        let inputs = Inputs::new(&case("precision.f16.exp2.scalar.default"), Budget::Hunt, 0, None).unwrap();
        assert!(Hunt::new(&inputs).is_none(), "{}", inputs.coverage());
        let range = "1..2".parse().unwrap();
        let inputs = Inputs::new(&case("precision.f32.fadd.scalar.default"), Budget::Hunt, 0, Some(&range)).unwrap();
        assert!(Hunt::new(&inputs).is_none());
    }
}
