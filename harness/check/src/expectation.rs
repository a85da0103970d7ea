//! Values that a case file expects of elements, in addition to the specification's rules.

use crate::compare::{Comparison, Permitted, count_mismatch, data_of, hex, ranges};
use crate::dispatch_setup::DispatchSetup;
use crate::memory_layout::{Element, MemoryContents, path_text};
use crate::scalar_text::scalar_from_text;
use crate::{BindingName, CheckError, Expectation};
use assay_case::position;
use assay_events::{CheckResult, Mismatch, Status, class_names};
use assay_exec::Descriptor;
use assay_float::RankRange;
use assay_oracle::{Dispatch, Expected, Outcome, Slot};
use assay_precision::Scalar;
use std::collections::{BTreeMap, HashMap};

/// An expectation with its element in the shader's interface.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedExpectation {
    slot: Slot,
    /// Label of the binding.
    label: String,
    /// Path of the element.
    path: String,
    element: Element,
    value: ExpectedValue,
}

/// Expected values of a scalar.
#[derive(Clone, Copy, Debug)]
enum ExpectedValue {
    /// Exactly these bits.
    Bits(u64),
    /// Any NaN.
    Nan,
    /// An inclusive range in the order of the type.
    Between([u64; 2]),
}

/// Elements of a binding that expectations name.
#[derive(Default)]
struct NamedElements<'a> {
    elements: HashMap<&'a str, Option<Element>>,
    /// Path of the binding's first element, for messages.
    first: String,
}

impl ResolvedExpectation {
    /// Resolves expectations: finds their elements in one walk over each binding, and parses the
    /// values.
    ///
    /// # Errors
    /// An element does not exist, a value does not have its type, or a range is empty. The first
    /// error in the order of the file is returned.
    pub(crate) fn all(given: &[Expectation], setup: &DispatchSetup) -> Result<Vec<ResolvedExpectation>, CheckError> {
        let wrong = |number: usize, why: String| {
            let Expectation { binding, element, .. } = &given[number];
            CheckError::entry("expect", number.to_string(), format!("expectation of {binding} {element}: {why}"))
        };
        let descriptor = |(number, given): (usize, &Expectation)| {
            let name: BindingName = given.binding.parse()?;
            let found = setup.descriptors.iter().find(|d| name.names(d.slot, d.name.as_deref()));
            let found = found.ok_or_else(|| wrong(number, "the shader has no such binding".into()))?;
            let contents = MemoryContents::of(found).filter(|_| found.is_read_back());
            let contents = contents.ok_or_else(|| wrong(number, "the shader cannot write it".into()))?;
            Ok::<_, CheckError>((found, contents))
        };
        let descriptors: Vec<_> = given.iter().enumerate().map(descriptor).collect();
        let mut named: BTreeMap<Slot, NamedElements<'_>> = BTreeMap::new();
        for (given, found) in given.iter().zip(&descriptors) {
            let Ok((found, _)) = found else { continue };
            named.entry(found.slot).or_default().elements.insert(&given.element, None);
        }
        for (found, contents) in descriptors.iter().flatten() {
            let Some(named) = named.get_mut(&found.slot).filter(|named| named.first.is_empty()) else { continue };
            let mut first = None;
            contents.walk_scalars(found.bytes, &mut |element, at| {
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
            let element = element
                .ok_or_else(|| wrong(number, format!("the binding has no such element; its first is `{like}`")))?;
            let value = ExpectedValue::read(value, element.scalar).map_err(|why| wrong(number, why))?;
            Ok(ResolvedExpectation { slot: found.slot, label: found.label(), path: path.clone(), element, value })
        };
        descriptors.into_iter().enumerate().map(expected).collect()
    }

    /// Checks the output of a target.
    pub(crate) fn check(&self, round: InterpretedRound<'_>, got: &BTreeMap<Slot, Vec<u8>>, result: &mut Comparison) {
        let ResolvedExpectation { slot, element, value, .. } = self;
        let Some(bits) = got.get(slot).and_then(|memory| element.read(memory)) else { return };
        result.checked += 1;
        let memory = round.outcome.memory.get(slot);
        result.expected += u64::from(memory.is_some_and(|memory| memory.is_written(element.offset, element.bytes())));
        if value.contains(bits, element.scalar) {
            return;
        }
        result.failing += 1;
        count_mismatch(&mut result.mismatches, &mut result.classes, (Status::Fail, class_names::EXPECTATION), || {
            self.mismatch(round, Status::Fail, (hex(element.scalar, bits), class_names::EXPECTATION))
        });
    }

    /// Checks the permitted set, where no target takes part.
    pub(crate) fn check_permitted(&self, round: InterpretedRound<'_>, result: &mut CheckResult) -> ExpectationStatus {
        let ResolvedExpectation { slot, element, value, .. } = self;
        let memory = round.outcome.memory.get(slot);
        let permitted = memory.and_then(|memory| Permitted::of(memory, element.offset, element.scalar.width()));
        let Some(permitted) = permitted else { return ExpectationStatus::Undecided };
        let scalar = element.scalar;
        let lenient = permitted.lenient.map(|lenient| value.is_among(lenient, scalar));
        let status = match (value.is_among(&permitted.expected, scalar), lenient) {
            (Some(true), _) => {
                result.elements_checked += 1;
                let is_written = memory.is_some_and(|memory| memory.is_written(element.offset, element.bytes()));
                return if is_written { ExpectationStatus::Permitted } else { ExpectationStatus::Unwritten };
            }
            (None, _) | (_, Some(None)) => return ExpectationStatus::Undecided,
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
        count_mismatch(&mut result.mismatches, &mut result.classes, (status, class_names::NEVER_EXPECTED), || {
            self.mismatch(round, status, (first, class_names::NEVER_EXPECTED))
        });
        ExpectationStatus::Never
    }

    fn mismatch(&self, round: InterpretedRound<'_>, status: Status, (got, class): (String, &str)) -> Mismatch {
        let ResolvedExpectation { slot, element, value, .. } = self;
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

/// An interpreted round.
#[derive(Clone, Copy)]
pub(crate) struct InterpretedRound<'a> {
    pub(crate) number: u32,
    pub(crate) dispatch: &'a Dispatch,
    pub(crate) outcome: &'a Outcome,
}

/// Relation between the permitted set of an element and the expected values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectationStatus {
    /// At least one expected value is permitted.
    Permitted,
    /// No expected value is permitted.
    Never,
    /// The oracle does not know.
    Undecided,
    /// A value that the case expects is there before the dispatch, and nothing writes the element.
    Unwritten,
}

impl ExpectedValue {
    fn read(text: &str, scalar: Scalar) -> Result<ExpectedValue, String> {
        let number = |text: &str| {
            scalar_from_text(scalar, text.trim()).ok_or_else(|| format!("`{text}` is not a number of type {scalar}"))
        };
        if let Some((lo, hi)) = text.split_once("..") {
            let ends = [number(lo)?, number(hi)?];
            return match ends.map(|bits| position(bits, scalar)) {
                [Some(lo), Some(hi)] if lo <= hi => Ok(ExpectedValue::Between(ends)),
                _ => Err(format!("the range `{text}` contains no {scalar}")),
            };
        }
        let bits = number(text)?;
        // `nan` stands for any NaN.
        let named = position(bits, scalar).is_none() && !text.trim().starts_with("0x");
        Ok(if named { ExpectedValue::Nan } else { ExpectedValue::Bits(bits) })
    }

    fn contains(self, bits: u64, scalar: Scalar) -> bool {
        let place = |bits: u64| position(bits, scalar);
        match self {
            ExpectedValue::Bits(wanted) => bits == wanted,
            ExpectedValue::Nan => place(bits).is_none(),
            ExpectedValue::Between([lo, hi]) => place(bits).is_some() && (place(lo)..=place(hi)).contains(&place(bits)),
        }
    }

    /// Returns whether one of the expected values is permitted; `None` if that is not known.
    fn is_among(self, permitted: &Expected, scalar: Scalar) -> Option<bool> {
        let any = |patterns: &[u64]| Some(patterns.iter().any(|bits| self.contains(*bits, scalar)));
        match permitted {
            Expected::Exact(bits) => any(std::slice::from_ref(bits)),
            Expected::OneOf(patterns) => any(patterns),
            open if open.is_open() => None,
            Expected::Float { format, set } => match self {
                ExpectedValue::Bits(bits) => Some(set.contains(*format, bits)),
                _ if scalar != Scalar::Float(*format) => None,
                ExpectedValue::Nan => Some(set.has_nan()),
                ExpectedValue::Between(ends) => {
                    let [lo, hi] = ends.map(|bits| format.rank(bits));
                    Some(set.meets(RankRange::new(lo, hi)))
                }
            },
            Expected::Undetermined(_) => None,
        }
    }

    /// Returns the ends of the range as in [`Mismatch::permitted`].
    fn ends(self, scalar: Scalar) -> [String; 2] {
        match self {
            ExpectedValue::Bits(bits) => [bits; 2].map(|bits| hex(scalar, bits)),
            ExpectedValue::Nan => ["nan", "nan"].map(str::to_owned),
            ExpectedValue::Between(ends) => ends.map(|bits| hex(scalar, bits)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_float::F32;

    #[test]
    fn expected_bits_are_exact_and_nan_stands_for_any_nan() {
        let has = |text: &str, bits: u64| {
            ExpectedValue::read(text, Scalar::Float(F32)).unwrap().contains(bits, Scalar::Float(F32))
        };
        assert!(has("0x7fc00000", 0x7fc0_0000) && !has("0x7fc00000", 0x7fc0_0001));
        assert!(has("nan", 0x7fc0_0001) && !has("nan", 0x7f80_0000));
        assert!(has("-0", 0x8000_0000) && !has("-0", 0));
        assert!(has("0..1", 0x3f80_0000) && !has("0..1", 0x3f80_0001) && !has("0..1", 0x7fc0_0000));
    }

    #[test]
    fn empty_ranges_and_ranges_with_nan_are_refused() {
        for text in ["3.1..2.9", "0..nan", "nan..nan"] {
            assert!(ExpectedValue::read(text, Scalar::Float(F32)).unwrap_err().contains(text), "{text}");
        }
        assert!(ExpectedValue::read("3..2", Scalar::Int { width: 32, signed: false }).is_err());
    }

    #[test]
    fn expected_values_are_found_in_permitted_sets() {
        let scalar = Scalar::Float(F32);
        let rank = |value: f32| F32.rank(value.to_bits().into());
        let set = |nan: bool| {
            let mut set = assay_float::Set::range(rank(1.0), rank(2.0));
            if nan {
                set.insert_nan();
            }
            Expected::Float { format: F32, set }
        };
        let among =
            |text: &str, permitted: &Expected| ExpectedValue::read(text, scalar).unwrap().is_among(permitted, scalar);
        for (text, permitted, expected) in [
            ("1.5", set(false), Some(true)),
            ("2.5", set(false), Some(false)),
            ("0.5..1", set(false), Some(true)),
            ("0.5..0.75", set(false), Some(false)),
            ("nan", set(false), Some(false)),
            ("nan", set(true), Some(true)),
            ("1.5", Expected::Exact(0x3fc0_0000), Some(true)),
            ("1.25..1.75", Expected::OneOf(vec![0, 0x3fc0_0000]), Some(true)),
            ("3", Expected::OneOf(vec![0, 0x3fc0_0000]), Some(false)),
            ("3", Expected::Undetermined(0), None),
            ("3", Expected::Float { format: F32, set: assay_float::Set::anything() }, None),
        ] {
            assert_eq!(among(text, &permitted), expected, "{text} {permitted:?}");
        }
        // An integer of the buffer that the shader writes as a float.
        let word = Scalar::Int { width: 32, signed: false };
        let of_word = |text: &str| ExpectedValue::read(text, word).unwrap().is_among(&set(false), word);
        assert_eq!((of_word("0x3fc00000"), of_word("1..2")), (Some(true), None));
    }
}
