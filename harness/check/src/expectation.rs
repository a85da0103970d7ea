//! What a case expects of elements, beside what the specification permits.

use crate::elements::{Element, path_text};
use crate::setup::{Descriptor, Setup, scalar_from_text};
use crate::verdict::{Comparison, Permitted, data_of, hex, keep, ranges};
use crate::{BindingName, CheckError, Expectation};
use assay_case::position;
use assay_float::RankRange;
use assay_oracle::{Dispatch, Expected as Set, Outcome, Slot};
use assay_precision::Scalar;
use assay_runner::{CheckResult, Mismatch, Status, class};
use std::collections::{BTreeMap, HashMap};

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

/// The elements of a buffer that expectations name.
#[derive(Default)]
struct Named<'a> {
    elements: HashMap<&'a str, Option<Element>>,
    /// The path of the buffer's first element, for messages.
    first: String,
}

impl Expected {
    /// Finds the elements that expectations name, in one walk over each buffer, and reads what is expected of them.
    ///
    /// # Errors
    /// There is no such element, the value is none of its type, or a range is empty: the first in the order of the file.
    pub(crate) fn all(given: &[Expectation], setup: &Setup) -> Result<Vec<Expected>, CheckError> {
        let wrong = |number: usize, why: String| {
            let Expectation { binding, element, .. } = &given[number];
            CheckError::entry("expect", number.to_string(), format!("expectation of {binding} {element}: {why}"))
        };
        let descriptor = |(number, given): (usize, &Expectation)| {
            let name: BindingName = given.binding.parse()?;
            let found = setup.descriptors.iter().find(|d| name.names(d.slot, d.name.as_deref()));
            let found = found.ok_or_else(|| wrong(number, "the shader has no such binding".into()))?;
            let contents = found.contents().filter(|_| found.is_read_back());
            let contents = contents.ok_or_else(|| wrong(number, "it is nothing that the shader may write".into()))?;
            Ok::<_, CheckError>((found, contents))
        };
        let descriptors: Vec<_> = given.iter().enumerate().map(descriptor).collect();
        let mut named: BTreeMap<Slot, Named<'_>> = BTreeMap::new();
        for (given, found) in given.iter().zip(&descriptors) {
            let Ok((found, _)) = found else { continue };
            named.entry(found.slot).or_default().elements.insert(&given.element, None);
        }
        for (found, contents) in descriptors.iter().flatten() {
            let Some(named) = named.get_mut(&found.slot).filter(|named| named.first.is_empty()) else { continue };
            let mut first = None;
            contents.walk(found.bytes, &mut |element, at| {
                let at = path_text(at);
                if let Some(wanted @ None) = named.elements.get_mut(at.as_str()) {
                    *wanted = Some(element);
                }
                first.get_or_insert(at);
            });
            named.first = first.unwrap_or_default();
        }
        let expected = |(number, found): (usize, Result<(&Descriptor, _), CheckError>)| {
            let Expectation { element: path, value, .. } = &given[number];
            let (found, _) = found?;
            let named = named.get(&found.slot);
            let element = named.and_then(|named| named.elements.get(path.as_str()).copied().flatten());
            let like = named.map_or("", |named| &named.first);
            let element =
                element.ok_or_else(|| wrong(number, format!("it has no such element; its first is `{like}`")))?;
            let value = Value::read(value, element.scalar).map_err(|why| wrong(number, why))?;
            Ok(Expected { slot: found.slot, label: found.label(), path: path.clone(), element, value })
        };
        descriptors.into_iter().enumerate().map(expected).collect()
    }

    /// Holds what a target left against it.
    pub(crate) fn hold(&self, round: Round<'_>, got: &BTreeMap<Slot, Vec<u8>>, result: &mut Comparison) {
        let Expected { slot, element, value, .. } = self;
        let Some(bits) = got.get(slot).and_then(|memory| element.read(memory)) else { return };
        result.checked += 1;
        let memory = round.outcome.memory.get(slot);
        result.expected += u64::from(memory.is_some_and(|memory| memory.is_written(element.offset, element.bytes())));
        if value.has(bits, element.scalar) {
            return;
        }
        result.failing += 1;
        keep(&mut result.mismatches, &mut result.classes, (Status::Fail, class::EXPECTATION), || {
            self.mismatch(round, Status::Fail, (hex(element.scalar, bits), class::EXPECTATION))
        });
    }

    /// Holds what the specification permits against it, where no target takes part.
    pub(crate) fn hold_permitted(&self, round: Round<'_>, result: &mut CheckResult) -> Known {
        let Expected { slot, element, value, .. } = self;
        let memory = round.outcome.memory.get(slot);
        let permitted = memory.and_then(|memory| Permitted::of(memory, element.offset, element.scalar.width()));
        let Some(permitted) = permitted else { return Known::Undecided };
        let scalar = element.scalar;
        let lenient = permitted.lenient.map(|lenient| value.is_among(lenient, scalar));
        let status = match (value.is_among(&permitted.expected, scalar), lenient) {
            (Some(true), _) => {
                result.elements_checked += 1;
                let is_written = memory.is_some_and(|memory| memory.is_written(element.offset, element.bytes()));
                return if is_written { Known::Permitted } else { Known::Unwritten };
            }
            (None, _) | (_, Some(None)) => return Known::Undecided,
            (Some(false), Some(Some(true))) => Status::QualityWarning,
            (Some(false), Some(Some(false)) | None) => Status::Fail,
        };
        match status {
            Status::Fail => result.elements_failing += 1,
            _ => result.elements_warning += 1,
        }
        result.elements_checked += 1;
        let ranges = ranges(scalar, &permitted.expected);
        let first = ranges.first().map_or_else(String::new, |[lo, _]| lo.clone());
        keep(&mut result.mismatches, &mut result.classes, (status, class::NEVER_EXPECTED), || {
            self.mismatch(round, status, (first, class::NEVER_EXPECTED))
        });
        Known::Never
    }

    fn mismatch(&self, round: Round<'_>, status: Status, (got, class): (String, &str)) -> Mismatch {
        let Expected { slot, element, value, .. } = self;
        let before = data_of(round.dispatch, *slot).and_then(|data| element.read(data));
        Mismatch {
            status,
            round: round.number,
            buffer: self.label.clone(),
            element: self.path.clone(),
            offset: element.offset,
            scalar: element.scalar.to_string(),
            invocation: None,
            before: hex(element.scalar, before.unwrap_or(0)),
            got,
            permitted: vec![value.ends(element.scalar)],
            class: class.into(),
            by: "case".into(),
        }
    }
}

/// A round that expectations are held against.
#[derive(Clone, Copy)]
pub(crate) struct Round<'a> {
    pub(crate) number: u32,
    pub(crate) dispatch: &'a Dispatch,
    pub(crate) outcome: &'a Outcome,
}

/// Relation of what the specification permits for an element to what the case expects of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// A value that the case expects is permitted.
    Permitted,
    /// None is.
    Never,
    /// The oracle cannot tell.
    Undecided,
    /// A value that the case expects is there before the dispatch, and nothing writes the element.
    Unwritten,
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

    /// Returns whether one of these values is among those that are permitted; `None` where that is not known.
    fn is_among(self, permitted: &Set, scalar: Scalar) -> Option<bool> {
        let any = |patterns: &[u64]| Some(patterns.iter().any(|bits| self.has(*bits, scalar)));
        match permitted {
            Set::Exact(bits) => any(std::slice::from_ref(bits)),
            Set::OneOf(patterns) => any(patterns),
            open if open.is_open() => None,
            Set::Float { format, set } => match self {
                Value::Bits(bits) => Some(set.contains(*format, bits)),
                _ if scalar != Scalar::Float(*format) => None,
                Value::Nan => Some(set.has_nan()),
                Value::Between(ends) => {
                    let [lo, hi] = ends.map(|bits| format.rank(bits));
                    Some(set.meets(RankRange::new(lo, hi)))
                }
            },
            Set::Undetermined(_) => None,
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

    #[test]
    fn values_are_found_among_permitted_ones() {
        let scalar = Scalar::Float(F32);
        let rank = |value: f32| F32.rank(value.to_bits().into());
        let set = |nan: bool| {
            let mut set = assay_float::Set::range(rank(1.0), rank(2.0));
            if nan {
                set.insert_nan();
            }
            Set::Float { format: F32, set }
        };
        let among = |text: &str, permitted: &Set| Value::read(text, scalar).unwrap().is_among(permitted, scalar);
        for (text, permitted, expected) in [
            ("1.5", set(false), Some(true)),
            ("2.5", set(false), Some(false)),
            ("0.5..1", set(false), Some(true)),
            ("0.5..0.75", set(false), Some(false)),
            ("nan", set(false), Some(false)),
            ("nan", set(true), Some(true)),
            ("1.5", Set::Exact(0x3fc0_0000), Some(true)),
            ("1.25..1.75", Set::OneOf(vec![0, 0x3fc0_0000]), Some(true)),
            ("3", Set::OneOf(vec![0, 0x3fc0_0000]), Some(false)),
            ("3", Set::Undetermined(0), None),
            ("3", Set::Float { format: F32, set: assay_float::Set::anything() }, None),
        ] {
            assert_eq!(among(text, &permitted), expected, "{text} {permitted:?}");
        }
        // An integer of the buffer that was written as a float.
        let word = Scalar::Int { width: 32, signed: false };
        let of_word = |text: &str| Value::read(text, word).unwrap().is_among(&set(false), word);
        assert_eq!((of_word("0x3fc00000"), of_word("1..2")), (Some(true), None));
    }
}
