//! Memory: bytes, and what else may stand there.

use crate::form::Form;
use crate::value::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// Who writes a sum of floats that atomics add to: nobody's chain goes on with it but that of the sum.
pub(crate) const SUMMED: u32 = u32::MAX;

/// One object: a buffer, the push constants, or a workgroup's memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    pub(crate) bytes: Vec<u8>,
    cells: HashMap<u32, (u8, Value)>,
    /// One bit for every four bytes that a cell touches; empty while there are no cells.
    touched: Vec<u64>,
    /// How floats came about that an invocation of this workgroup wrote, by their offset: bytes, invocation, form.
    forms: HashMap<u32, (u8, u32, Form)>,
    /// One bit for every byte that nothing has written; empty if there is none.
    unwritten: Vec<u64>,
    /// Why nothing at all is known of it.
    pub(crate) lost: Option<u32>,
}

/// Bytes; cells with their offset and bytes; why nothing is known.
pub(crate) type Parts = (Vec<u8>, Vec<(u32, u8, Value)>, Option<u32>);

/// What a read finds beside bits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    Value(Value),
    /// Nothing has written it, at least not all of it.
    Unwritten,
    /// Parts of values: what they are together is not followed.
    Parts,
}

impl Object {
    pub(crate) fn new(bytes: Vec<u8>) -> Object {
        Object { bytes, ..Object::default() }
    }

    /// Memory that nothing has written.
    pub(crate) fn unwritten(size: usize) -> Object {
        Object { bytes: vec![0; size], unwritten: vec![u64::MAX; size.div_ceil(64)], ..Object::default() }
    }

    /// Whether it is bytes and nothing else.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.touched.is_empty() && self.unwritten.is_empty() && self.forms.is_empty() && self.lost.is_none()
    }

    /// The bits of a scalar of `size` bytes, which lie inside.
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

    /// How a float came about that this invocation was the last to write.
    pub(crate) fn form(&self, offset: usize, size: usize, invocation: u32) -> Option<&Form> {
        let (bytes, writer, form) = self.forms.get(&(offset as u32))?;
        (usize::from(*bytes) == size && *writer == invocation).then_some(form)
    }

    /// Keeps how the float that an invocation has just written came about.
    pub(crate) fn keep_form(&mut self, offset: usize, size: usize, invocation: u32, form: Form) {
        self.forms.insert(offset as u32, (size as u8, invocation, form));
    }

    /// A workgroup has ended: nobody is left who could rearrange what its invocations wrote, but for those of others who add to a sum.
    pub(crate) fn forget_forms(&mut self) {
        self.forms.retain(|_, (_, writer, _)| *writer == SUMMED);
    }

    /// What a scalar of `size` bytes may be beside its bits.
    pub(crate) fn read(&self, offset: usize, size: usize) -> Found {
        if let Some(cause) = self.lost {
            return Found::Value(Value::Any(cause));
        }
        if !self.unwritten.is_empty() {
            let written = |byte: usize| self.unwritten[byte / 64] >> (byte % 64) & 1 == 0;
            if !(offset..offset + size).all(written) {
                return Found::Unwritten;
            }
        }
        if self.touched.is_empty() || !self.is_touched(offset, size) {
            return Found::Value(Value::Bits);
        }
        match self.overlapping(offset, size)[..] {
            [] => Found::Value(Value::Bits),
            [one] if one as usize == offset && usize::from(self.cells[&one].0) == size => {
                Found::Value(self.cells[&one].1.clone())
            }
            _ => Found::Parts,
        }
    }

    /// Writes a scalar of `size` bytes. `parts` is the cause for what remains of values that it cuts.
    pub(crate) fn write(&mut self, offset: usize, size: usize, bits: u64, value: Value, parts: u32) {
        self.put(offset, size, bits);
        if !self.forms.is_empty() {
            for at in offset.saturating_sub(7)..offset + size {
                let end = |(bytes, ..): &(u8, u32, Form)| at + usize::from(*bytes);
                if self.forms.get(&(at as u32)).is_some_and(|form| end(form) > offset) {
                    self.forms.remove(&(at as u32));
                }
            }
        }
        let value = match value {
            Value::Few(few) if !few.is_loose() => Value::Few(Arc::new(few.loosened())),
            value => value,
        };
        if !self.unwritten.is_empty() {
            for byte in offset..offset + size {
                self.unwritten[byte / 64] &= !(1 << (byte % 64));
            }
        }
        if self.touched.is_empty() && value == Value::Bits {
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
                    self.cells.insert(byte as u32, (1, Value::Any(parts)));
                }
            }
        }
        if value != Value::Bits {
            self.cells.insert(offset as u32, (size as u8, value));
            for word in offset / 4..=(offset + size - 1) / 4 {
                self.touched[word / 64] |= 1 << (word % 64);
            }
        }
    }

    /// Marks bytes as written, with what they hold.
    pub(crate) fn mark_written(&mut self, offset: u64, size: u64) {
        for byte in offset..(offset + size).min(self.bytes.len() as u64) {
            self.unwritten[byte as usize / 64] &= !(1 << (byte % 64));
        }
    }

    /// Takes over what another run that began with the same bytes wrote into these ranges. `number` gives its causes their numbers
    /// here.
    pub(crate) fn take_over(&mut self, other: Object, ranges: &[std::ops::Range<usize>], number: impl Fn(u32) -> u32) {
        for range in ranges {
            // The last granule may reach beyond the end.
            let range = range.start..range.end.min(self.bytes.len());
            self.bytes[range.clone()].copy_from_slice(&other.bytes[range]);
        }
        if self.touched.is_empty() && !other.cells.is_empty() {
            self.touched = vec![0; self.bytes.len().div_ceil(256)];
        }
        // All of its cells were written, as it began with none.
        other.cells.into_iter().for_each(|(offset, (size, value))| {
            let value = if let Value::Any(cause) = value { Value::Any(number(cause)) } else { value };
            for word in offset as usize / 4..=(offset as usize + usize::from(size) - 1) / 4 {
                self.touched[word / 64] |= 1 << (word % 64);
            }
            self.cells.insert(offset, (size, value));
        });
    }

    /// Gives the causes of what is unknown in it other numbers.
    pub(crate) fn renumber(&mut self, number: impl Fn(u32) -> u32) {
        self.cells.values_mut().for_each(|(_, value)| {
            if let Value::Any(cause) = value {
                *cause = number(*cause);
            }
        });
    }

    /// The cells, by offset: offset, bytes and value.
    pub(crate) fn into_parts(self) -> Parts {
        let mut cells: Vec<_> = self.cells.into_iter().map(|(at, (size, value))| (at, size, value)).collect();
        cells.sort_unstable_by_key(|cell| cell.0);
        (self.bytes, cells, self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::few::Few;

    #[test]
    fn a_cut_value_leaves_unknown_bytes() {
        let mut object = Object::new(vec![0; 16]);
        let few = Few::loose(&[1, 2]);
        // Whoever reads it need not know of the decision.
        object.write(4, 4, 1, Value::Few(Arc::new(few.numbered(5))), 9);
        assert_eq!(object.read(4, 4), Found::Value(Value::Few(Arc::new(few))));
        assert_eq!(object.read(4, 2), Found::Parts);
        assert_eq!(object.read(8, 4), Found::Value(Value::Bits));
        object.write(4, 2, 0xffff, Value::Bits, 9);
        assert_eq!(object.read(4, 2), Found::Value(Value::Bits));
        assert_eq!(object.read(6, 1), Found::Value(Value::Any(9)));
        assert_eq!(object.read(4, 4), Found::Parts);
        object.write(4, 4, 7, Value::Bits, 9);
        assert_eq!((object.bits(4, 4), object.read(4, 4)), (7, Found::Value(Value::Bits)));
    }

    #[test]
    fn how_a_float_came_about_is_for_its_writer_until_it_is_written_over() {
        let mut object = Object::new(vec![0; 16]);
        let product = Form::leaf(2.0, 2.0).mul(Form::leaf(3.0, 3.0));
        let write = |object: &mut Object, at: usize| object.write(at, 4, 0, Value::Bits, 0);
        write(&mut object, 4);
        object.keep_form(4, 4, 7, product);
        assert!(!object.is_plain());
        assert_eq!(object.form(4, 4, 7), Some(&product));
        assert_eq!((object.form(4, 4, 8), object.form(4, 2, 7), object.form(0, 4, 7)), (None, None, None));
        write(&mut object, 8);
        assert_eq!(object.form(4, 4, 7), Some(&product));
        write(&mut object, 6);
        assert_eq!(object.form(4, 4, 7), None);
        object.keep_form(4, 4, 7, product);
        object.forget_forms();
        assert!(object.is_plain());
    }

    #[test]
    fn unwritten_bytes_are_noticed() {
        let mut object = Object::unwritten(12);
        assert_eq!(object.read(0, 4), Found::Unwritten);
        object.write(0, 2, 1, Value::Bits, 0);
        assert_eq!(object.read(0, 2), Found::Value(Value::Bits));
        assert_eq!(object.read(0, 4), Found::Unwritten);
        object.mark_written(2, 2);
        assert_eq!(object.read(0, 4), Found::Value(Value::Bits));
    }
}
