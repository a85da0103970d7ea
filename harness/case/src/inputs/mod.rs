//! Choice of the inputs of a case.

mod budget;
mod hunt;
mod input_range;
mod memory_values;
mod random_rows;
mod rng;
mod special_values;

pub use budget::{Budget, UnknownBudget};
pub use hunt::Hunt;
pub use input_range::{InputRange, RangeError, position};
pub use memory_values::{MemoryValues, Mixture};

use crate::Columns;
use crate::case::{Case, OperandSource};
use assay_precision::{Call, Scalar};
use input_range::at_position;
use num_bigint::BigUint;
use rng::{Rng, key};
use special_values::SpecialValues;

/// Inputs of a case: rows of operand bits, in chunks that can be computed independently of each
/// other.
///
/// If their number fits the budget, these are all inputs. Otherwise, they are in this order:
/// combinations of the special values of every operand (a sample if there are too many); each
/// operand's longer list of special values and their neighbours; and random rows. Random rows are
/// uniform over bit patterns, over magnitudes or over an interval, or close to special values, and
/// some have related operands.
#[derive(Clone, Debug)]
pub struct Inputs {
    call: Call,
    slots: Vec<Scalar>,
    /// For each slot, the index into `specials`.
    specials_of: Vec<usize>,
    specials: Vec<SpecialValues>,
    /// The special values of the first slot, restricted to the range.
    first: Vec<u64>,
    range: Option<(i128, i128)>,
    origins: RowOrigins,
    key: u64,
    chunk_rows: usize,
    possible: String,
    /// Set if some operands have undefined behaviour.
    has_undefined_rows: bool,
}

/// Origin of the rows, in their order.
#[derive(Clone, Copy, Debug)]
enum RowOrigins {
    /// All possible rows.
    All(u64),
    /// A sample.
    Sample {
        /// Number of rows with special values in all operands; `complete` is set if these are all
        /// combinations.
        cross: u64,
        complete: bool,
        /// Number of rows with a value of a longer list.
        lists: u64,
        /// Number of rows in all.
        total: u64,
    },
}

/// Words of operands and results in a chunk: few enough to stay in the caches of the second level
/// and beyond, and enough to keep a device busy. A chunk has a power of two of rows, so that those
/// of a sweep begin at a multiple of the groups that are checked together.
const CHUNK_WORDS: usize = 1 << 21;

/// Returns the number of possible inputs of a case in decimal; see [`Inputs::possible`].
///
/// # Errors
/// The range does not fit the type of the first operand.
pub fn possible_inputs(case: &Case, range: Option<&InputRange>) -> Result<String, RangeError> {
    let slots: Vec<Scalar> = case.call.operand_slots().collect();
    let range = range.map(|range| range.positions(slots[0])).transpose()?;
    Ok(possible(&slots, range).to_string())
}

fn possible(slots: &[Scalar], range: Option<(i128, i128)>) -> BigUint {
    let count = |slot: Scalar| BigUint::from(1u8) << bits_of(slot);
    let first = range.map_or_else(|| count(slots[0]), |(lo, hi)| BigUint::from((hi - lo + 1) as u128));
    slots[1..].iter().fold(first, |product, &slot| product * count(slot))
}

impl Inputs {
    /// Chooses the inputs of a case.
    ///
    /// # Errors
    /// The range does not fit the type of the first operand.
    pub fn new(case: &Case, budget: Budget, seed: u64, range: Option<&InputRange>) -> Result<Inputs, RangeError> {
        let call = &case.call;
        let slots: Vec<Scalar> = call.operand_slots().collect();
        let range = range.map(|range| range.positions(slots[0])).transpose()?;
        let mut kinds: Vec<Scalar> = Vec::new();
        let mut specials_of = Vec::new();
        for &slot in &slots {
            let known = kinds.iter().position(|&kind| kind == slot);
            specials_of.push(known.unwrap_or(kinds.len()));
            if known.is_none() {
                kinds.push(slot);
            }
        }
        let specials: Vec<SpecialValues> =
            kinds.into_iter().map(|scalar| SpecialValues::for_call(call, scalar)).collect();
        let mut first = specials[0].core.clone();
        if let Some((lo, hi)) = range {
            first.retain(|&bits| position(bits, slots[0]).is_some_and(|at| (lo..=hi).contains(&at)));
            first.extend([lo, hi].map(|end| at_position(end, slots[0])));
        }
        let possible = possible(&slots, range);
        let width: usize =
            slots.iter().chain(&call.result_slots().collect::<Vec<_>>()).map(|s| s.width().div_ceil(32) as usize).sum();
        // If operands of a type can have undefined behaviour, a special value has: NaN, for
        // conversions to integers.
        let mut row = vec![0; slots.len()];
        let has_undefined_rows = specials[0].core.iter().any(|&bits| {
            row.fill(bits);
            !call.is_defined(&row)
        });
        let mut inputs = Inputs {
            call: call.clone(),
            specials_of,
            specials,
            first,
            range,
            origins: RowOrigins::All(0),
            // The key ignores the environment and the source, so that cases which differ only in
            // these have the same inputs.
            key: key(&format!("{} {}", call.op, types(call)), seed),
            chunk_rows: 1 << (CHUNK_WORDS / width).clamp(1 << 10, 1 << 20).ilog2(),
            possible: possible.to_string(),
            has_undefined_rows,
            slots,
        };
        inputs.origins = inputs.divide(case.source, budget, u64::try_from(possible).unwrap_or(u64::MAX));
        inputs.chunk_rows = match case.source {
            OperandSource::Buffer => inputs.chunk_rows.min((inputs.len() as usize).next_multiple_of(Columns::ALIGN)),
            // Each chunk has its own module, which many operands make long.
            OperandSource::Constant | OperandSource::SpecConstant => (256 / inputs.slots.len()).clamp(8, 64),
        };
        Ok(inputs)
    }

    fn divide(&self, source: OperandSource, budget: Budget, possible: u64) -> RowOrigins {
        let constant = source != OperandSource::Buffer;
        if possible <= if constant { budget.constants() } else { budget.complete() } {
            return RowOrigins::All(possible);
        }
        let sizes = self.slots.iter().enumerate().map(|(slot, _)| self.core(slot).len() as u64);
        let full = sizes.fold(1u64, u64::saturating_mul);
        let lists: u64 =
            if self.range.is_some() { 0 } else { self.specials.iter().map(|values| values.all.len() as u64).sum() };
        if constant {
            // There are too few rows for all combinations: they contain random special values, then
            // values of the lists, then random values.
            let total = budget.constants();
            return RowOrigins::Sample {
                cross: (total / 2).min(full),
                complete: false,
                lists: (total / 4).min(lists),
                total,
            };
        }
        let results = self.call.result_slots().count();
        let (sample, most) = (budget.sample(results), budget.cross(results));
        let complete = full <= most;
        let cross = if complete { full } else { most / 4 };
        let lists = lists.min(sample / 4);
        RowOrigins::Sample { cross, complete, lists, total: sample.max(cross + lists + sample / 4) }
    }

    /// Returns the number of rows, including those that are left out because their behaviour is
    /// undefined.
    pub fn len(&self) -> u64 {
        match self.origins {
            RowOrigins::All(total) | RowOrigins::Sample { total, .. } => total,
        }
    }

    /// Returns true if there are no rows, which does not happen.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of possible rows in decimal: every bit pattern of every operand (of the
    /// first one, within the range).
    pub fn possible(&self) -> &str {
        &self.possible
    }

    /// Returns a description of the part of the possible inputs.
    pub fn coverage(&self) -> String {
        let RowOrigins::Sample { cross, complete, lists, total } = self.origins else { return "every input".into() };
        let specials = match (self.slots.len(), complete) {
            (1, _) => "specials".to_owned(),
            (_, true) => format!("{cross} of every special with every special"),
            (_, false) => format!("{cross} of specials at random"),
        };
        format!("{specials}, {lists} of longer lists, {} at random", total - cross - lists)
    }

    /// Returns the largest number of rows in a chunk.
    pub fn chunk_rows(&self) -> usize {
        self.chunk_rows
    }

    /// Returns the number of chunks.
    pub fn chunks(&self) -> u64 {
        self.len().div_ceil(self.chunk_rows as u64)
    }

    /// Returns the number of rows of a chunk, including those with undefined behaviour.
    pub fn rows_of(&self, chunk: u64) -> u64 {
        let start = chunk * self.chunk_rows as u64;
        self.len().saturating_sub(start).min(self.chunk_rows as u64)
    }

    /// Returns columns with room for the operands of a chunk.
    pub fn operand_columns(&self) -> Columns {
        Columns::new(self.slots.iter().copied(), self.chunk_rows)
    }

    /// Returns columns with room for the results of a chunk.
    pub fn result_columns(&self) -> Columns {
        Columns::new(self.call.result_slots(), self.chunk_rows)
    }

    /// Writes the rows of a chunk without those whose behaviour is undefined. Padding rows up to
    /// the next multiple of [`Columns::ALIGN`] repeat the first, because a workgroup may exceed the
    /// last row.
    pub fn fill(&self, chunk: u64, columns: &mut Columns) {
        let start = chunk * self.chunk_rows as u64;
        let end = start + self.rows_of(chunk);
        if matches!(self.origins, RowOrigins::All(_))
            && self.range.is_none()
            && !self.has_undefined_rows
            && self.slots.iter().all(|slot| slot.width() <= 32)
        {
            self.fill_enumerated(start, end, columns);
            return;
        }
        let (specials, mut row) = (self.specials_of_slots(), [0; MAX_SLOTS]);
        let specials = &specials[..self.slots.len()];
        let row = &mut row[..self.slots.len()];
        let mut rows = 0;
        for index in start..end {
            self.row(index, specials, row);
            if self.has_undefined_rows && !self.call.is_defined(row) {
                continue;
            }
            columns.set_row(rows, row);
            rows += 1;
        }
        columns.set_rows(rows);
        columns.pad();
    }

    /// Writes the rows from `start` to `end` of all, for operands of at most 32 bits without a range:
    /// runs in which the first operand counts and the others are constant.
    fn fill_enumerated(&self, start: u64, end: u64, columns: &mut Columns) {
        let mut row = [0; MAX_SLOTS];
        let row = &mut row[..self.slots.len()];
        let mut at = start;
        while at < end {
            self.enumerated(at, row);
            let run = ((1 << bits_of(self.slots[0])) - row[0]).min(end - at);
            let rows = (at - start) as usize..(at - start + run) as usize;
            for (slot, &bits) in row.iter().enumerate() {
                let offset = columns.offset(slot);
                let words = &mut columns.words_mut()[offset..][rows.clone()];
                match slot {
                    0 => words.iter_mut().zip(bits..).for_each(|(word, bits)| *word = bits as u32),
                    _ => words.fill(bits as u32),
                }
            }
            at += run;
        }
        columns.set_rows((end - start) as usize);
        columns.pad();
    }

    /// Returns the special values of each slot, and arbitrary ones for slots that do not exist.
    fn specials_of_slots(&self) -> [&SpecialValues; MAX_SLOTS] {
        std::array::from_fn(|slot| &self.specials[self.specials_of.get(slot).copied().unwrap_or(0)])
    }

    fn core(&self, slot: usize) -> &[u64] {
        if slot == 0 { &self.first } else { &self.specials[self.specials_of[slot]].core }
    }

    fn row(&self, index: u64, specials: &[&SpecialValues], row: &mut [u64]) {
        let mut rng = Rng::new(self.key, index);
        match self.origins {
            RowOrigins::All(_) => self.enumerated(index, row),
            RowOrigins::Sample { cross, complete: true, .. } if index < cross => {
                let mut rest = index;
                for (slot, bits) in row.iter_mut().enumerate() {
                    let core = self.core(slot);
                    *bits = core[(rest % core.len() as u64) as usize];
                    rest /= core.len() as u64;
                }
            }
            RowOrigins::Sample { cross, .. } if index < cross => {
                for (slot, bits) in row.iter_mut().enumerate() {
                    *bits = rng.pick(self.core(slot));
                }
            }
            RowOrigins::Sample { cross, lists, .. } if index - cross < lists => {
                self.listed(index - cross, lists, &mut rng, row);
            }
            RowOrigins::Sample { .. } => {
                random_rows::row(&self.call, &self.slots, specials, &mut rng, row);
                if let Some((lo, hi)) = self.range
                    && !position(row[0], self.slots[0]).is_some_and(|at| (lo..=hi).contains(&at))
                {
                    let at = lo + i128::from(rng.below((hi - lo) as u64)) + i128::from(rng.below(2));
                    row[0] = at_position(at, self.slots[0]);
                }
            }
        }
    }

    /// Writes the row with this index among all; the first operand varies fastest.
    fn enumerated(&self, index: u64, row: &mut [u64]) {
        let mut rest = index;
        for (slot, bits) in row.iter_mut().enumerate() {
            match self.range {
                Some((lo, hi)) if slot == 0 => {
                    let count = (hi - lo + 1) as u64;
                    *bits = at_position(lo + i128::from(rest % count), self.slots[0]);
                    rest /= count;
                }
                _ => {
                    let width = bits_of(self.slots[slot]);
                    *bits = rest & (u64::MAX >> (64 - width));
                    rest = rest.checked_shr(width).unwrap_or(0);
                }
            }
        }
    }

    /// Writes a value of a longer list to one slot, and special values to the others. If `rows` is
    /// too small for the whole lists, their values are taken at equal distances.
    fn listed(&self, index: u64, rows: u64, rng: &mut Rng, row: &mut [u64]) {
        let total: u64 = self.specials.iter().map(|values| values.all.len() as u64).sum();
        let mut at = (u128::from(index) * u128::from(total) / u128::from(rows)) as usize;
        let mut values = 0;
        while at >= self.specials[values].all.len() {
            at -= self.specials[values].all.len();
            values += 1;
        }
        for (slot, bits) in row.iter_mut().enumerate() {
            *bits = rng.pick(self.core(slot));
        }
        let taking = self.specials_of.iter().filter(|&&of| of == values).count() as u64;
        let chosen = rng.below(taking) as usize;
        if let Some((slot, _)) = self.specials_of.iter().enumerate().filter(|&(_, &of)| of == values).nth(chosen) {
            row[slot] = self.specials[values].all[at];
        }
    }
}

/// Number of bits of a scalar's values.
fn bits_of(slot: Scalar) -> u32 {
    if slot == Scalar::Bool { 1 } else { slot.width() }
}

/// Returns the types of a call as text that never changes.
fn types(call: &Call) -> String {
    let types = call.results.iter().chain(&call.operands).map(ToString::to_string);
    types.collect::<Vec<_>>().join(", ")
}

/// The largest number of operand slots of a call: two matrices of four by four.
const MAX_SLOTS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use assay_float::F32;

    fn case(name: &str) -> Case {
        crate::load().unwrap().into_iter().find(|case| case.name == name).unwrap()
    }

    fn rows(inputs: &Inputs) -> Vec<Vec<u64>> {
        let mut columns = inputs.operand_columns();
        let mut rows = Vec::new();
        for chunk in 0..inputs.chunks() {
            inputs.fill(chunk, &mut columns);
            for row in 0..columns.rows() {
                let mut bits = vec![0; columns.slots()];
                columns.row(row, &mut bits);
                rows.push(bits);
            }
        }
        rows
    }

    #[test]
    fn few_inputs_are_all_run_and_chunks_do_not_depend_on_one_another() {
        let inputs = Inputs::new(&case("precision.f16.exp2.scalar.default"), Budget::Sampled, 0, None).unwrap();
        assert_eq!((inputs.len(), inputs.possible(), inputs.coverage().as_str()), (65_536, "65536", "every input"));
        let mut seen: Vec<u64> = rows(&inputs).into_iter().map(|row| row[0]).collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..65_536));

        let inputs = Inputs::new(&case("precision.f32.exp2.scalar.default"), Budget::Exhaustive, 0, None).unwrap();
        let mut columns = inputs.operand_columns();
        inputs.fill(inputs.chunks() - 1, &mut columns);
        assert_eq!(columns.column(0).get(columns.rows() - 1), 0xffff_ffff);
    }

    #[test]
    fn all_pairs_are_enumerated_with_the_first_operand_fastest() {
        let inputs = Inputs::new(&case("precision.f16.fadd.scalar.default"), Budget::Exhaustive, 0, None).unwrap();
        assert_eq!((inputs.len(), inputs.coverage().as_str()), (1 << 32, "every input"));
        let (mut columns, mut row) = (inputs.operand_columns(), [0; 2]);
        for chunk in [0, 1, inputs.chunks() / 2, inputs.chunks() - 1] {
            inputs.fill(chunk, &mut columns);
            assert_eq!(columns.rows() as u64, inputs.rows_of(chunk));
            for at in (0..columns.rows()).step_by(4093).chain([columns.rows() - 1]) {
                columns.row(at, &mut row);
                assert_eq!(row[0] | row[1] << 16, chunk * inputs.chunk_rows() as u64 + at as u64);
            }
        }
    }

    #[test]
    fn a_sample_has_every_special_with_every_special() {
        let inputs = Inputs::new(&case("precision.f32.fadd.scalar.default"), Budget::Quick, 0, None).unwrap();
        let rows = rows(&inputs);
        assert_eq!(rows.len() as u64, inputs.len());
        assert_eq!(inputs.possible(), (1u128 << 64).to_string());
        let core = &inputs.specials[0].core;
        assert!(core.len() >= 40 && core.iter().any(|&bits| F32.is_denormal(bits)) && core.contains(&0x8000_0000));
        for &a in core {
            for &b in core {
                assert!(rows.contains(&vec![a, b]));
            }
        }
        // Equal in every run, different for another seed.
        let again = Inputs::new(&case("precision.f32.fadd.scalar.default"), Budget::Quick, 0, None).unwrap();
        let other = Inputs::new(&case("precision.f32.fadd.scalar.default"), Budget::Quick, 1, None).unwrap();
        assert!(rows == self::rows(&again) && rows != self::rows(&other));
    }

    #[test]
    fn a_range_holds_the_first_operand() {
        let range: InputRange = "1..2".parse().unwrap();
        let one_to_two = |bits: u64| (0x3f80_0000..=0x4000_0000).contains(&bits);
        for name in [
            "precision.f32.exp2.scalar.default",
            "precision.f32.fma.vec3.default",
            "precision.f32.pow.scalar.default.constant",
        ] {
            let inputs = Inputs::new(&case(name), Budget::Quick, 0, Some(&range)).unwrap();
            assert!(rows(&inputs).iter().all(|row| one_to_two(row[0])), "{name}");
        }
        let inputs = Inputs::new(&case("precision.f32.exp2.scalar.default"), Budget::Sampled, 0, Some(&range)).unwrap();
        assert_eq!((inputs.len(), inputs.possible()), (0x80_0001, "8388609"));
    }

    #[test]
    fn operands_with_undefined_results_are_never_sent() {
        let cases = crate::load().unwrap();
        let kinds = ["convertftos.scalar.default.from_f32", "convertftou.vec2.default.from_f16"];
        for case in cases.iter().filter(|case| kinds.iter().any(|kind| case.name.ends_with(kind))) {
            let inputs = Inputs::new(case, Budget::Quick, 0, None).unwrap();
            let rows = rows(&inputs);
            assert!(
                inputs.has_undefined_rows && !rows.is_empty() && rows.iter().all(|row| case.call.is_defined(row)),
                "{}",
                case.name
            );
        }
    }

    #[test]
    fn every_case_has_inputs() {
        let mut kinds = std::collections::HashSet::new();
        for case in crate::load().unwrap() {
            if !kinds
                .insert(format!("{} {:?} {:?} {}", case.call.op, case.call.operands, case.call.results, case.source))
            {
                continue;
            }
            let inputs = Inputs::new(&case, Budget::Quick, 3, None).unwrap();
            let mut columns = inputs.operand_columns();
            inputs.fill(0, &mut columns);
            assert!(columns.rows() > 0 && inputs.chunk_rows() <= columns.capacity(), "{}", case.name);
            for (slot, scalar) in case.call.operand_slots().enumerate() {
                let width = if scalar == Scalar::Bool { 1 } else { scalar.width() };
                let fits = |bits: u64| bits.checked_shr(width).unwrap_or(0) == 0;
                assert!((0..columns.rows()).all(|row| fits(columns.column(slot).get(row))), "{}", case.name);
            }
        }
    }
}
