//! Scalars of many invocations by slot, in the layout of the device's buffers.

use assay_precision::{Column, Scalar};
use std::ops::Range;

/// One column for each slot, of 32-bit words, or of 64-bit words for 64-bit scalars. The columns
/// follow one another in one allocation, which serves all chunks.
#[derive(Clone, Debug)]
pub struct Columns {
    storage: Vec<u64>,
    /// For each slot, the offset of its column in 32-bit words, and true for 64-bit scalars.
    slots: Vec<(usize, bool)>,
    capacity: usize,
    rows: usize,
}

impl Columns {
    /// Divisor of all capacities: the size of a workgroup, so that no invocation accesses memory
    /// beyond its column.
    pub const ALIGN: usize = 64;

    /// Creates columns for these slots with a capacity of at least `rows` invocations, and without
    /// rows.
    pub fn new(slots: impl IntoIterator<Item = Scalar>, rows: usize) -> Columns {
        let capacity = rows.next_multiple_of(Self::ALIGN);
        let mut next = 0;
        let slots: Vec<(usize, bool)> = slots
            .into_iter()
            .map(|scalar| {
                let wide = scalar.width() > 32;
                let slot = (next, wide);
                next += if wide { 2 * capacity } else { capacity };
                slot
            })
            .collect();
        Columns { storage: vec![0; next / 2], slots, capacity, rows: 0 }
    }

    /// Returns the number of rows in use.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of rows that fit.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the number of slots.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Returns the offset of a slot's column in [`Columns::words`].
    pub fn offset(&self, slot: usize) -> usize {
        self.slots[slot].0
    }

    /// Sets the number of rows in use.
    ///
    /// # Panics
    /// If `rows` exceeds the capacity.
    pub fn set_rows(&mut self, rows: usize) {
        assert!(rows <= self.capacity, "{rows} rows in columns for {}", self.capacity);
        self.rows = rows;
    }

    /// Returns all columns in the device's layout: column after column, each with
    /// [`Columns::capacity`] rows.
    pub fn words(&self) -> &[u32] {
        bytemuck::cast_slice(&self.storage)
    }

    /// Returns [`Columns::words`] for writing.
    pub fn words_mut(&mut self) -> &mut [u32] {
        bytemuck::cast_slice_mut(&mut self.storage)
    }

    /// Returns the rows in use as bytes, column after column, each up to the next multiple of
    /// [`Columns::ALIGN`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 * self.slots() * self.rows.next_multiple_of(Self::ALIGN));
        for part in self.ranges(self.rows) {
            bytes.extend_from_slice(bytemuck::cast_slice(&self.words()[part]));
        }
        bytes
    }

    /// Sets the number of rows in use and their contents to those of columns with the same slots, given as
    /// [`Columns::to_bytes`] returns them. Returns false and changes nothing if their sizes differ.
    pub fn set_bytes(&mut self, rows: usize, bytes: &[u8]) -> bool {
        if rows > self.capacity {
            return false;
        }
        let parts: Vec<_> = self.ranges(rows).collect();
        if bytes.len() != parts.iter().map(|part| 4 * part.len()).sum::<usize>() {
            return false;
        }
        let mut rest = bytes;
        for part in parts {
            let own: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words_mut()[part]);
            let (column, others) = rest.split_at(own.len());
            own.copy_from_slice(column);
            rest = others;
        }
        self.rows = rows;
        true
    }

    /// Returns the places of these many rows of every slot in [`Columns::words`].
    fn ranges(&self, rows: usize) -> impl Iterator<Item = Range<usize>> {
        let rows = rows.next_multiple_of(Self::ALIGN);
        self.slots.iter().map(move |&(offset, wide)| offset..offset + if wide { 2 * rows } else { rows })
    }

    /// Returns the rows in use of one slot.
    pub fn column(&self, slot: usize) -> Column<'_> {
        self.part(slot, 0, self.rows)
    }

    fn part(&self, slot: usize, start: usize, end: usize) -> Column<'_> {
        let (offset, wide) = self.slots[slot];
        if wide {
            Column::Wide(&self.storage[offset / 2..][..self.capacity][start..end])
        } else {
            Column::Words(&self.words()[offset..][..self.capacity][start..end])
        }
    }

    /// Returns the rows from `start` to `end` of every slot.
    ///
    /// # Panics
    /// If `end` exceeds the capacity.
    pub fn columns(&self, start: usize, end: usize) -> Vec<Column<'_>> {
        (0..self.slots()).map(|slot| self.part(slot, start, end)).collect()
    }

    /// Writes one row.
    pub fn set_row(&mut self, row: usize, bits: &[u64]) {
        for (slot, &bits) in bits.iter().enumerate() {
            self.set(slot, row, bits);
        }
    }

    /// Writes one scalar.
    pub fn set(&mut self, slot: usize, row: usize, bits: u64) {
        let (offset, wide) = self.slots[slot];
        if wide {
            self.storage[offset / 2 + row] = bits;
        } else {
            self.words_mut()[offset + row] = bits as u32;
        }
    }

    /// Repeats the first row after the last one, up to the next multiple of [`Columns::ALIGN`].
    pub(crate) fn pad(&mut self) {
        for slot in 0..if self.rows == 0 { 0 } else { self.slots.len() } {
            let first = self.column(slot).get(0);
            for row in self.rows..self.rows.next_multiple_of(Self::ALIGN) {
                self.set(slot, row, first);
            }
        }
    }

    /// Reads one row into a slice with one element for each slot.
    pub fn row(&self, row: usize, bits: &mut [u64]) {
        for (slot, bits) in bits.iter_mut().enumerate() {
            *bits = self.column(slot).get(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_float::{F16, F64};

    #[test]
    fn columns_keep_rows_apart_whatever_their_width() {
        let slots = [Scalar::Float(F16), Scalar::Float(F64), Scalar::Bool];
        let mut columns = Columns::new(slots, 5);
        assert_eq!((columns.capacity(), columns.words().len()), (64, 256));
        columns.set_rows(5);
        for row in 0..5 {
            columns.set_row(row, &[row as u64, 0x8000_0000_0000_0000 | row as u64, 1]);
        }
        let mut bits = [0; 3];
        columns.row(4, &mut bits);
        assert_eq!(bits, [4, 0x8000_0000_0000_0004, 1]);
        assert_eq!(columns.words()[columns.offset(1) + 8..][..2], [4, 0x8000_0000]);
        assert_eq!(columns.column(2).len(), 5);
    }

    #[test]
    fn rows_survive_as_bytes_and_other_sizes_are_refused() {
        let slots = [Scalar::Float(F16), Scalar::Float(F64)];
        let mut columns = Columns::new(slots, 300);
        columns.set_rows(70);
        for row in 0..70 {
            columns.set_row(row, &[row as u64, (row as u64) << 40]);
        }
        let bytes = columns.to_bytes();
        assert_eq!(bytes.len(), 128 * 12);
        let mut copy = Columns::new(slots, 200);
        assert!(copy.set_bytes(70, &bytes));
        let mut bits = [0; 2];
        for row in 0..70 {
            copy.row(row, &mut bits);
            assert_eq!(bits, [row as u64, (row as u64) << 40]);
        }
        for (rows, bytes) in [(70, &bytes[1..]), (129, &bytes[..]), (usize::MAX / 128, &bytes[..])] {
            assert!(!copy.set_bytes(rows, bytes) && copy.rows() == 70);
        }
    }
}
