//! Memory objects: bytes, and the abstract values of scalars that are not exact.

use crate::abstract_value::AbstractValue;
use crate::expr_bound::ExprBound;
use std::collections::HashMap;
use std::sync::Arc;

/// The invocation number under which the expression bound of a sum of floats is kept. Only atomics
/// that continue the sum use it.
pub(crate) const SUMMED: u32 = u32::MAX;

/// An object: a buffer, the push constants, or the memory of a workgroup.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Object {
    pub(crate) bytes: Vec<u8>,
    cells: HashMap<u32, (u8, AbstractValue)>,
    /// One bit for every four bytes that a cell touches; empty while there are no cells.
    touched: Vec<u64>,
    /// Expression bounds of floats that an invocation of this workgroup wrote, by offset: size in
    /// bytes, invocation, bound.
    bounds: HashMap<u32, (u8, u32, ExprBound)>,
    /// One bit for every unwritten byte; empty if all bytes are written.
    unwritten: Vec<u64>,
    /// The cause if the whole content is unknown.
    pub(crate) lost: Option<u32>,
}

/// The bytes; the cells with offset and size in bytes; the cause if the whole content is unknown.
pub(crate) type Parts = (Vec<u8>, Vec<(u32, u8, AbstractValue)>, Option<u32>);

/// The abstract value found by a read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ReadValue {
    Value(AbstractValue),
    /// Unwritten memory, at least in part.
    Unwritten,
    /// Parts of several values, whose combination is not tracked.
    Parts,
}

impl Object {
    pub(crate) fn new(bytes: Vec<u8>) -> Object {
        Object { bytes, ..Object::default() }
    }

    /// An unwritten object.
    pub(crate) fn unwritten(size: usize) -> Object {
        Object { bytes: vec![0; size], unwritten: vec![u64::MAX; size.div_ceil(64)], ..Object::default() }
    }

    /// Returns true if the content is exact bytes without expression bounds.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.touched.is_empty() && self.unwritten.is_empty() && self.bounds.is_empty() && self.lost.is_none()
    }

    /// Returns true if a scalar in bounds certainly has these bits.
    pub(crate) fn holds(&self, offset: usize, size: usize, bits: u64) -> bool {
        self.read(offset, size) == ReadValue::Value(AbstractValue::Bits) && self.bits(offset, size) == bits
    }

    /// The bits of a scalar of `size` bytes, which must be in bounds.
    #[inline]
    pub(crate) fn bits(&self, offset: usize, size: usize) -> u64 {
        let bytes = &self.bytes[offset..offset + size];
        match size {
            4 => u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            _ => bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)),
        }
    }

    /// Writes the bits of a scalar where there are no cells.
    #[inline]
    pub(crate) fn put(&mut self, offset: usize, size: usize, bits: u64) {
        match size {
            4 => self.bytes[offset..offset + 4].copy_from_slice(&(bits as u32).to_le_bytes()),
            _ => self.bytes[offset..offset + size].copy_from_slice(&bits.to_le_bytes()[..size]),
        }
    }

    fn is_touched(&self, offset: usize, size: usize) -> bool {
        let bit = |word: usize| self.touched.get(word / 64).is_some_and(|bits| bits >> (word % 64) & 1 == 1);
        (offset / 4..=(offset + size - 1) / 4).any(bit)
    }

    fn overlapping(&self, offset: usize, size: usize) -> Vec<u32> {
        let from = offset.saturating_sub(7);
        let at = (from..offset + size).filter(|at| {
            let end = self.cells.get(&(*at as u32)).map_or(0, |(cell, _)| at + usize::from(*cell));
            end > offset
        });
        at.map(|at| at as u32).collect()
    }

    /// The expression bound of a float that this invocation wrote last.
    pub(crate) fn bound(&self, offset: usize, size: usize, invocation: u32) -> Option<&ExprBound> {
        let (bytes, writer, bound) = self.bounds.get(&(offset as u32))?;
        (usize::from(*bytes) == size && *writer == invocation).then_some(bound)
    }

    /// Keeps the expression bound of a float that an invocation has just written.
    pub(crate) fn keep_bound(&mut self, offset: usize, size: usize, invocation: u32, bound: ExprBound) {
        self.bounds.insert(offset as u32, (size as u8, invocation, bound));
    }

    /// Forgets expression bounds at the end of a workgroup. Those of sums remain, because other
    /// workgroups may continue them.
    pub(crate) fn forget_forms(&mut self) {
        self.bounds.retain(|_, (_, writer, _)| *writer == SUMMED);
    }

    /// The abstract value of a scalar of `size` bytes.
    pub(crate) fn read(&self, offset: usize, size: usize) -> ReadValue {
        if let Some(cause) = self.lost {
            return ReadValue::Value(AbstractValue::Unknown(cause));
        }
        if !self.unwritten.is_empty() {
            let written = |byte: usize| self.unwritten[byte / 64] >> (byte % 64) & 1 == 0;
            if !(offset..offset + size).all(written) {
                return ReadValue::Unwritten;
            }
        }
        if self.touched.is_empty() || !self.is_touched(offset, size) {
            return ReadValue::Value(AbstractValue::Bits);
        }
        match self.overlapping(offset, size)[..] {
            [] => ReadValue::Value(AbstractValue::Bits),
            [one] if one as usize == offset && usize::from(self.cells[&one].0) == size => {
                ReadValue::Value(self.cells[&one].1.clone())
            }
            _ => ReadValue::Parts,
        }
    }

    /// Writes a scalar of `size` bytes. `parts` is the cause for the remains of values that it
    /// overwrites in part.
    pub(crate) fn write(&mut self, offset: usize, size: usize, bits: u64, value: AbstractValue, parts: u32) {
        self.put(offset, size, bits);
        if !self.bounds.is_empty() {
            for at in offset.saturating_sub(7)..offset + size {
                let end = |(bytes, ..): &(u8, u32, ExprBound)| at + usize::from(*bytes);
                if self.bounds.get(&(at as u32)).is_some_and(|bound| end(bound) > offset) {
                    self.bounds.remove(&(at as u32));
                }
            }
        }
        let value = match value {
            AbstractValue::OneOf(few) if !few.is_uncorrelated() => {
                AbstractValue::OneOf(Arc::new(few.without_correlation()))
            }
            value => value,
        };
        if !self.unwritten.is_empty() {
            for byte in offset..offset + size {
                self.unwritten[byte / 64] &= !(1 << (byte % 64));
            }
        }
        if self.touched.is_empty() && value == AbstractValue::Bits {
            return;
        }
        if self.touched.is_empty() {
            self.touched = vec![0; self.bytes.len().div_ceil(256)];
        }
        if self.is_touched(offset, size) {
            for at in self.overlapping(offset, size) {
                let Some((cut, _)) = self.cells.remove(&at) else { continue };
                let outside = |byte: &usize| !(offset..offset + size).contains(byte);
                for byte in (at as usize..at as usize + usize::from(cut)).filter(outside) {
                    self.cells.insert(byte as u32, (1, AbstractValue::Unknown(parts)));
                }
            }
        }
        if value != AbstractValue::Bits {
            self.cells.insert(offset as u32, (size as u8, value));
            for word in offset / 4..=(offset + size - 1) / 4 {
                self.touched[word / 64] |= 1 << (word % 64);
            }
        }
    }

    /// Marks bytes as written, with their present content.
    pub(crate) fn mark_written(&mut self, offset: u64, size: u64) {
        for byte in offset..(offset + size).min(self.bytes.len() as u64) {
            self.unwritten[byte as usize / 64] &= !(1 << (byte % 64));
        }
    }

    /// Copies the ranges that another run wrote, which started with the same bytes. `number` maps
    /// its causes to those of this run.
    pub(crate) fn take_over(&mut self, other: Object, ranges: &[std::ops::Range<usize>], number: impl Fn(u32) -> u32) {
        for range in ranges {
            // The last granule may reach beyond the end.
            let range = range.start..range.end.min(self.bytes.len());
            self.bytes[range.clone()].copy_from_slice(&other.bytes[range]);
        }
        if self.touched.is_empty() && !other.cells.is_empty() {
            self.touched = vec![0; self.bytes.len().div_ceil(256)];
        }
        // The other run started without cells, so all of its cells were written.
        other.cells.into_iter().for_each(|(offset, (size, value))| {
            let value =
                if let AbstractValue::Unknown(cause) = value { AbstractValue::Unknown(number(cause)) } else { value };
            for word in offset as usize / 4..=(offset as usize + usize::from(size) - 1) / 4 {
                self.touched[word / 64] |= 1 << (word % 64);
            }
            self.cells.insert(offset, (size, value));
        });
    }

    /// Renumbers the causes of unknown values.
    pub(crate) fn renumber(&mut self, number: impl Fn(u32) -> u32) {
        self.cells.values_mut().for_each(|(_, value)| {
            if let AbstractValue::Unknown(cause) = value {
                *cause = number(*cause);
            }
        });
    }

    /// The object in parts, with its cells sorted by offset.
    pub(crate) fn into_parts(self) -> Parts {
        let mut cells: Vec<_> = self.cells.into_iter().map(|(at, (size, value))| (at, size, value)).collect();
        cells.sort_unstable_by_key(|cell| cell.0);
        (self.bytes, cells, self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::correlated_set::CorrelatedSet;

    #[test]
    fn a_cut_value_leaves_unknown_bytes() {
        let mut object = Object::new(vec![0; 16]);
        let few = CorrelatedSet::uncorrelated(&[1, 2]);
        // A reader may not depend on the choice.
        object.write(4, 4, 1, AbstractValue::OneOf(Arc::new(few.numbered(5))), 9);
        assert_eq!(object.read(4, 4), ReadValue::Value(AbstractValue::OneOf(Arc::new(few))));
        assert_eq!(object.read(4, 2), ReadValue::Parts);
        assert_eq!(object.read(8, 4), ReadValue::Value(AbstractValue::Bits));
        object.write(4, 2, 0xffff, AbstractValue::Bits, 9);
        assert_eq!(object.read(4, 2), ReadValue::Value(AbstractValue::Bits));
        assert_eq!(object.read(6, 1), ReadValue::Value(AbstractValue::Unknown(9)));
        assert_eq!(object.read(4, 4), ReadValue::Parts);
        object.write(4, 4, 7, AbstractValue::Bits, 9);
        assert_eq!((object.bits(4, 4), object.read(4, 4)), (7, ReadValue::Value(AbstractValue::Bits)));
    }

    #[test]
    fn an_expression_bound_is_visible_to_its_writer_until_overwritten() {
        let mut object = Object::new(vec![0; 16]);
        let product = ExprBound::leaf(2.0, 2.0).mul(ExprBound::leaf(3.0, 3.0));
        let write = |object: &mut Object, at: usize| object.write(at, 4, 0, AbstractValue::Bits, 0);
        write(&mut object, 4);
        object.keep_bound(4, 4, 7, product);
        assert!(!object.is_plain());
        assert_eq!(object.bound(4, 4, 7), Some(&product));
        assert_eq!((object.bound(4, 4, 8), object.bound(4, 2, 7), object.bound(0, 4, 7)), (None, None, None));
        write(&mut object, 8);
        assert_eq!(object.bound(4, 4, 7), Some(&product));
        write(&mut object, 6);
        assert_eq!(object.bound(4, 4, 7), None);
        object.keep_bound(4, 4, 7, product);
        object.forget_forms();
        assert!(object.is_plain());
    }

    #[test]
    fn unwritten_bytes_are_noticed() {
        let mut object = Object::unwritten(12);
        assert_eq!(object.read(0, 4), ReadValue::Unwritten);
        object.write(0, 2, 1, AbstractValue::Bits, 0);
        assert_eq!(object.read(0, 2), ReadValue::Value(AbstractValue::Bits));
        assert_eq!(object.read(0, 4), ReadValue::Unwritten);
        object.mark_written(2, 2);
        assert_eq!(object.read(0, 4), ReadValue::Value(AbstractValue::Bits));
    }
}
