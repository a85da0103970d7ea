//! What a case expects of elements, beside what the specification permits.

use crate::elements::{Element, path_text};
use crate::setup::{Setup, scalar_from_text};
use crate::verdict::{Comparison, data_of, hex, keep};
use crate::{BindingName, CheckError, Expectation};
use assay_case::position;
use assay_oracle::{Dispatch, Slot};
use assay_precision::Scalar;
use assay_runner::{Mismatch, Status, class};
use std::collections::BTreeMap;

/// An element that there is, and what is expected of it.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    slot: Slot,
    /// What its buffer is called.
    label: String,
    /// Its path in there.
    path: String,
    element: Element,
    value: Value,
}

/// Values of an element's type.
#[derive(Clone, Copy, Debug)]
enum Value {
    /// These bits.
    Bits(u64),
    /// Any NaN.
    Nan,
    /// What is between these, in the order of the type.
    Between([u64; 2]),
}

impl Expected {
    /// Finds the element, and reads what is expected of it; the number is that of the expectation in its file.
    ///
    /// # Errors
    /// There is no such element, the value is none of its type, or a range is empty.
    pub(crate) fn new((number, given): (usize, &Expectation), setup: &Setup) -> Result<Expected, CheckError> {
        let Expectation { binding, element: path, value } = given;
        let wrong = |why: String| {
            CheckError::entry("expect", number.to_string(), format!("expectation of {binding} {path}: {why}"))
        };
        let name: BindingName = binding.parse()?;
        let descriptor = setup.descriptors.iter().find(|d| name.names(d.slot, d.name.as_deref()));
        let descriptor = descriptor.ok_or_else(|| wrong("the shader has no such binding".into()))?;
        let contents = descriptor.contents().filter(|_| descriptor.is_read_back());
        let contents = contents.ok_or_else(|| wrong("it is nothing that the shader may write".into()))?;
        let (mut found, mut first) = (None, None);
        contents.walk(descriptor.bytes, &mut |element, at| {
            if found.is_none() {
                let at = path_text(at);
                found = (at == *path).then_some(element);
                first.get_or_insert(at);
            }
        });
        let like = first.unwrap_or_default();
        let element = found.ok_or_else(|| wrong(format!("it has no such element; its first is `{like}`")))?;
        let value = Value::read(value, element.scalar).map_err(wrong)?;
        Ok(Expected { slot: descriptor.slot, label: descriptor.label(), path: path.clone(), element, value })
    }

    /// Holds what was left against it.
    pub(crate) fn hold(&self, dispatch: &Dispatch, got: &BTreeMap<Slot, Vec<u8>>, round: u32, result: &mut Comparison) {
        let Expected { slot, element, value, .. } = self;
        let Some(bits) = got.get(slot).and_then(|memory| element.read(memory)) else { return };
        result.checked += 1;
        if value.has(bits, element.scalar) {
            return;
        }
        result.failing += 1;
        keep(&mut result.mismatches, &mut result.classes, (Status::Fail, class::EXPECTATION), || Mismatch {
            status: Status::Fail,
            round,
            buffer: self.label.clone(),
            element: self.path.clone(),
            offset: element.offset,
            scalar: element.scalar.to_string(),
            invocation: None,
            before: hex(element.scalar, data_of(dispatch, *slot).and_then(|data| element.read(data)).unwrap_or(0)),
            got: hex(element.scalar, bits),
            permitted: vec![value.ends(element.scalar)],
            class: class::EXPECTATION.into(),
            by: "case".into(),
        });
    }
}

impl Value {
    fn read(text: &str, scalar: Scalar) -> Result<Value, String> {
        let number = |text: &str| {
            scalar_from_text(scalar, text.trim()).ok_or_else(|| format!("`{text}` is no number of type {scalar}"))
        };
        if let Some((lo, hi)) = text.split_once("..") {
            let ends = [number(lo)?, number(hi)?];
            return match ends.map(|bits| position(bits, scalar)) {
                [Some(lo), Some(hi)] if lo <= hi => Ok(Value::Between(ends)),
                _ => Err(format!("no {scalar} is in `{text}`")),
            };
        }
        let bits = number(text)?;
        // A NaN by its name may be any.
        let named = position(bits, scalar).is_none() && !text.trim().starts_with("0x");
        Ok(if named { Value::Nan } else { Value::Bits(bits) })
    }

    fn has(self, bits: u64, scalar: Scalar) -> bool {
        let place = |bits: u64| position(bits, scalar);
        match self {
            Value::Bits(wanted) => bits == wanted,
            Value::Nan => place(bits).is_none(),
            Value::Between([lo, hi]) => place(bits).is_some() && (place(lo)..=place(hi)).contains(&place(bits)),
        }
    }

    /// As [`Mismatch::permitted`] has it.
    fn ends(self, scalar: Scalar) -> [String; 2] {
        match self {
            Value::Bits(bits) => [bits; 2].map(|bits| hex(scalar, bits)),
            Value::Nan => ["nan", "nan"].map(str::to_owned),
            Value::Between(ends) => ends.map(|bits| hex(scalar, bits)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_float::F32;

    #[test]
    fn bits_are_held_and_names_of_nans_are_any() {
        let has = |text: &str, bits: u64| Value::read(text, Scalar::Float(F32)).unwrap().has(bits, Scalar::Float(F32));
        assert!(has("0x7fc00000", 0x7fc0_0000) && !has("0x7fc00000", 0x7fc0_0001));
        assert!(has("nan", 0x7fc0_0001) && !has("nan", 0x7f80_0000));
        assert!(has("-0", 0x8000_0000) && !has("-0", 0));
        assert!(has("0..1", 0x3f80_0000) && !has("0..1", 0x3f80_0001) && !has("0..1", 0x7fc0_0000));
    }

    #[test]
    fn a_range_has_numbers_in_it() {
        for text in ["3.1..2.9", "0..nan", "nan..nan"] {
            assert!(Value::read(text, Scalar::Float(F32)).unwrap_err().contains(text), "{text}");
        }
        assert!(Value::read("3..2", Scalar::Int { width: 32, signed: false }).is_err());
    }
}
