//! Holding what a device left against what the oracle permits, element by element.

use crate::elements::{Element, path_text, read_bits};
use crate::setup::Descriptor;
use assay_oracle::{Dispatch, Expected, Memory, Outcome, Resource, Slot, Standing};
use assay_precision::{FailureClass, Scalar};
use assay_runner::{BindingWrites, ClassCount, Mismatch, Status, Writes, class};
use std::collections::BTreeMap;

/// Mismatches that are kept; more are counted only, by class.
const KEPT: usize = 64;

/// Examples of a class that are kept.
const EXAMPLES: usize = 8;

/// What a comparison came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Elements held against something.
    pub checked: u64,
    /// Elements that workgroups outside the sample may write, so that nothing was held against them.
    pub beyond: u64,
    /// Elements outside every reading.
    pub failing: u64,
    /// Elements that only a lenient reading permits.
    pub warning: u64,
    /// Elements of which nothing can be said, by index of [`Outcome::causes`]; `None` where nothing is required.
    pub undetermined: BTreeMap<Option<u32>, u64>,
    /// The first that are wrong: those outside every reading, those that the case does not expect, those that a lenient reading permits.
    pub mismatches: Vec<Mismatch>,
    /// All that are wrong, by class, with the first of each; in the same order.
    pub classes: Vec<ClassCount>,
    /// Written elements by binding.
    pub(crate) writes: Vec<BindingCount>,
    /// Written elements that the case expects something of.
    pub(crate) expected: u64,
}

/// Elements of a binding.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BindingCount {
    writes: BindingWrites,
    /// Elements that fail or warn.
    wrong: u64,
}

impl Comparison {
    /// A comparison of one thing, which is wrong.
    pub(crate) fn of_wrong(mismatch: Mismatch) -> Comparison {
        let failing = u64::from(mismatch.status == Status::Fail);
        let mut one = Comparison { checked: 1, failing, warning: 1 - failing, ..Comparison::default() };
        let (status, class) = (mismatch.status, mismatch.class.clone());
        keep(&mut one.mismatches, &mut one.classes, (status, &class), || mismatch);
        one
    }

    /// Elements of which nothing can be said.
    pub(crate) fn open(&self) -> u64 {
        self.undetermined.values().sum()
    }

    /// Returns the written elements of all bindings.
    pub(crate) fn writes(&self) -> Writes {
        Writes::of(self.writes.iter().map(|binding| binding.writes.clone()).collect())
    }

    /// Counts everything that fails or warns as undetermined, and returns how many elements that were.
    pub(crate) fn open_all(&mut self) -> u64 {
        let elements = self.failing + self.warning;
        self.checked -= elements;
        (self.failing, self.warning) = (0, 0);
        self.mismatches.clear();
        self.classes.clear();
        for BindingCount { writes, wrong } in &mut self.writes {
            writes.falsifiable = writes.falsifiable.saturating_sub(std::mem::take(wrong));
        }
        elements
    }

    /// The reason for which a comparison says nothing about the device, as what follows `round 0`; `None` if something that was
    /// written could have come out wrong, or something did.
    pub(crate) fn hollow(&self) -> Option<&'static str> {
        let Writes { written, falsifiable, .. } = self.writes();
        match () {
            () if falsifiable + self.expected + self.failing + self.warning > 0 => None,
            () if written == 0 => Some("wrote nothing"),
            () => Some("wrote only elements of which nothing is determined"),
        }
    }

    /// Takes in another round's.
    pub fn add(&mut self, other: Comparison) {
        self.checked += other.checked;
        self.expected += other.expected;
        for BindingCount { writes: theirs, wrong } in other.writes {
            let ours = self.writes.iter().position(|ours| ours.writes.binding == theirs.binding);
            let Some(at) = ours else {
                self.writes.push(BindingCount { writes: theirs, wrong });
                continue;
            };
            self.writes[at].writes.add(&theirs);
            self.writes[at].wrong += wrong;
        }
        self.beyond += other.beyond;
        self.failing += other.failing;
        self.warning += other.warning;
        for mismatch in other.mismatches {
            if let Some(at) = room(&self.mismatches, (mismatch.status, &mismatch.class)) {
                insert(&mut self.mismatches, at, mismatch);
            }
        }
        for theirs in other.classes {
            let ours = of_class(&mut self.classes, (theirs.status, &theirs.class));
            ours.count += theirs.count;
            ours.examples.extend(theirs.examples);
            ours.examples.truncate(EXAMPLES);
        }
    }
}

/// Counts a mismatch of a status and class, and keeps it if there is room for it: what the specification does not permit comes first, then
/// what the case does not expect, and either drives out what comes after it, at last what only a lenient reading permits.
pub(crate) fn keep(
    kept: &mut Vec<Mismatch>,
    classes: &mut Vec<ClassCount>,
    (status, class): (Status, &str),
    mismatch: impl FnOnce() -> Mismatch,
) {
    let of = of_class(classes, (status, class));
    of.count += 1;
    let is_example = of.examples.len() < EXAMPLES;
    let room = room(kept, (status, class));
    if !is_example && room.is_none() {
        return;
    }
    let mismatch = mismatch();
    if is_example {
        of.examples.push(mismatch.example());
    }
    if let Some(at) = room {
        insert(kept, at, mismatch);
    }
}

/// Where a mismatch of a status and class comes among those that are kept, if it is to be kept.
fn room(kept: &[Mismatch], (status, class): (Status, &str)) -> Option<usize> {
    let after = |status: Status, class: &str| (status != Status::Fail, class == class::EXPECTATION);
    let at = kept.partition_point(|kept| after(kept.status, &kept.class) <= after(status, class));
    (at < KEPT).then_some(at)
}

fn insert(kept: &mut Vec<Mismatch>, at: usize, mismatch: Mismatch) {
    kept.insert(at, mismatch);
    kept.truncate(KEPT);
}

/// The count of a class, which is made if there is none yet: failures before warnings, then by name.
fn of_class<'a>(classes: &'a mut Vec<ClassCount>, (status, class): (Status, &str)) -> &'a mut ClassCount {
    let key = |status: Status| status != Status::Fail;
    let at = classes.partition_point(|of| (key(of.status), of.class.as_str()) < (key(status), class));
    if classes.get(at).is_none_or(|of| (of.status, of.class.as_str()) != (status, class)) {
        classes.insert(at, ClassCount { status, class: class.to_owned(), count: 0, examples: Vec::new() });
    }
    &mut classes[at]
}

/// What is permitted for an element: by its cell, or exactly what memory holds.
pub(crate) struct Permitted<'a> {
    pub(crate) expected: Expected,
    pub(crate) lenient: Option<&'a Expected>,
}

impl<'a> Permitted<'a> {
    /// For `width` bits at an offset; `None` if a cell covers other bits than just these.
    pub(crate) fn of(memory: &'a Memory, offset: u64, width: u32) -> Option<Permitted<'a>> {
        match memory.cell_at(offset).or_else(|| memory.cell_at(offset + u64::from(width / 8) - 1)) {
            Some(cell) if (cell.offset, cell.width) == (offset, width) => {
                Some(Permitted { expected: cell.expected.clone(), lenient: cell.lenient.as_deref() })
            }
            Some(_) => None,
            None => {
                let bits = read_bits(memory.bytes(), offset, width)?;
                Some(Permitted { expected: Expected::Exact(bits), lenient: None })
            }
        }
    }

    pub(crate) fn judge(&self, got: u64) -> Standing {
        self.expected.judge(self.lenient, got)
    }

    /// Returns whether `width` bits could have come out wrong.
    pub(crate) fn can_be_wrong(&self, width: u32) -> bool {
        self.expected.can_be_wrong(self.lenient, width)
    }
}

/// Whether a target left all that it was to leave: what is missing could not be compared, and would look as if it were permitted.
///
/// # Errors
/// What is missing, in words.
pub(crate) fn complete(
    outcome: &Outcome,
    dispatch: &Dispatch,
    descriptors: &[Descriptor],
    got: &BTreeMap<Slot, Vec<u8>>,
) -> Result<(), String> {
    for descriptor in descriptors.iter().filter(|d| d.is_read_back()) {
        let given = data_of(dispatch, descriptor.slot).map(<[u8]>::len);
        let expected = outcome.memory.get(&descriptor.slot).map(|memory| memory.bytes().len());
        let left = got.get(&descriptor.slot).map(Vec::len);
        if given.is_none() || expected != given || left != given {
            let bytes = |n: Option<usize>| n.map_or("nothing".to_owned(), |n| format!("{n} bytes"));
            return Err(format!(
                "{} was given {}, of which the device left {} and the oracle {}",
                descriptor.label(),
                bytes(given),
                bytes(left),
                bytes(expected)
            ));
        }
    }
    Ok(())
}

/// Compares all that a round may write and that is [`complete`]: storage buffers, storage images, storage texel buffers. With
/// `padding` also the bytes of buffers that belong to no element.
pub(crate) fn compare(
    outcome: &Outcome,
    dispatch: &Dispatch,
    descriptors: &[Descriptor],
    got: &BTreeMap<Slot, Vec<u8>>,
    (round, padding): (u32, bool),
) -> Comparison {
    let mut result = Comparison::default();
    // Only these can be written; what the device does to others cannot be seen.
    for descriptor in descriptors.iter().filter(|d| d.is_read_back()) {
        let (Some(memory), Some(got)) = (outcome.memory.get(&descriptor.slot), got.get(&descriptor.slot)) else {
            continue;
        };
        let Some(contents) = descriptor.contents() else { continue };
        let before = data_of(dispatch, descriptor.slot).unwrap_or_default();
        let buffer = Compared { descriptor, memory, before, got, round };
        let (checked, beyond) = (result.checked, result.beyond);
        let wrong = result.failing + result.warning;
        let mut between = vec![padding && descriptor.block.is_some(); got.len()];
        let binding = descriptor.label();
        let mut count =
            BindingCount { writes: BindingWrites { binding, ..BindingWrites::default() }, ..BindingCount::default() };
        contents.walk(got.len() as u64, &mut |element, path| {
            let start = element.offset as usize;
            between[start..start + element.bytes() as usize].fill(false);
            buffer.counted(element, &|| path_text(path), &mut result, &mut count.writes);
        });
        count.wrong = result.failing + result.warning - wrong;
        result.writes.push(count);
        for (at, _) in between.iter().enumerate().filter(|(_, between)| **between) {
            let byte = Element { offset: at as u64, scalar: Scalar::Int { width: 8, signed: false } };
            buffer.element(byte, &|| "(no element)".to_owned(), &mut result);
        }
        if !descriptor.changed {
            // That it is as it was is no result.
            result.checked = checked + result.failing + result.warning - wrong;
            result.beyond = beyond;
        }
    }
    result
}

/// A descriptor's memory, that is compared.
struct Compared<'a> {
    descriptor: &'a Descriptor,
    memory: &'a Memory,
    before: &'a [u8],
    got: &'a [u8],
    round: u32,
}

impl Compared<'_> {
    /// Compares an element, and counts it among what the shader wrote.
    fn counted(
        &self,
        element: Element,
        name: &dyn Fn() -> String,
        result: &mut Comparison,
        writes: &mut BindingWrites,
    ) {
        let (offset, bytes) = (element.offset, element.bytes());
        let can_be_wrong = self.element(element, name, result);
        let written = self.descriptor.changed && self.memory.is_written(offset, bytes);
        writes.elements += u64::from(self.memory.is_known(offset, bytes));
        writes.written += u64::from(self.memory.is_known(offset, bytes) && written);
        writes.falsifiable += u64::from(written && can_be_wrong);
    }

    /// Compares an element, and returns whether what was written of it could have come out wrong.
    fn element(&self, element: Element, name: &dyn Fn() -> String, result: &mut Comparison) -> bool {
        if !self.memory.is_known(element.offset, element.bytes()) {
            result.beyond += 1;
            return false;
        }
        let mut can_be_wrong = false;
        // A value that was written as another type than the block has is held against its own pieces.
        for piece in pieces(self.memory, element) {
            let Some(permitted) = Permitted::of(self.memory, piece.offset, piece.scalar.width()) else {
                *result.undetermined.entry(None).or_default() += 1;
                continue;
            };
            let Some(bits) = piece.read(self.got) else { continue };
            can_be_wrong |=
                permitted.can_be_wrong(piece.scalar.width()) && self.memory.is_written(piece.offset, piece.bytes());
            let status = match permitted.judge(bits) {
                Standing::Within => {
                    result.checked += 1;
                    continue;
                }
                Standing::Open(cause) => {
                    *result.undetermined.entry(cause).or_default() += 1;
                    continue;
                }
                Standing::Lenient => {
                    result.warning += 1;
                    Status::QualityWarning
                }
                Standing::Outside => {
                    result.failing += 1;
                    Status::Fail
                }
            };
            result.checked += 1;
            let old = piece.read(self.before).unwrap_or(0);
            let class = if bits == old { class::UNWRITTEN.into() } else { class(&permitted.expected, bits) };
            keep(&mut result.mismatches, &mut result.classes, (status, &class), || Mismatch {
                status,
                round: self.round,
                buffer: self.descriptor.label(),
                element: name(),
                offset: piece.offset,
                scalar: piece.scalar.to_string(),
                invocation: None,
                before: hex(piece.scalar, old),
                got: hex(piece.scalar, bits),
                permitted: ranges(piece.scalar, &permitted.expected),
                class: class.clone(),
                by: Mismatch::SPECIFICATION.into(),
            });
        }
        can_be_wrong
    }
}

/// The bytes of a binding before the dispatch.
pub(crate) fn data_of(dispatch: &Dispatch, slot: Slot) -> Option<&[u8]> {
    dispatch.bindings.get(&slot).and_then(bytes_of)
}

/// The bytes that a resource holds.
pub(crate) fn bytes_of(resource: &Resource) -> Option<&[u8]> {
    match resource {
        Resource::Buffer(buffer) => Some(&buffer.data),
        Resource::Image(image) | Resource::CombinedImageSampler(image, _) => Some(&image.data),
        // The list of resources may grow.
        _ => None,
    }
}

/// The element, or where cells cut it otherwise its bytes' cells.
fn pieces(memory: &Memory, element: Element) -> Vec<Element> {
    if Permitted::of(memory, element.offset, element.scalar.width()).is_some() {
        return vec![element];
    }
    let mut pieces = Vec::new();
    let mut at = element.offset;
    let end = element.offset + element.bytes();
    while at < end {
        let byte = Element { offset: at, scalar: Scalar::Int { width: 8, signed: false } };
        let piece = match memory.cell_at(at) {
            Some(cell) if cell.offset == at => {
                Element { offset: at, scalar: Scalar::Int { width: cell.width, signed: false } }
            }
            // The rest of a wider value, which the element before it has counted.
            Some(cell) => {
                at = cell.offset + u64::from(cell.width / 8);
                continue;
            }
            None => byte,
        };
        at += piece.bytes();
        pieces.push(piece);
    }
    pieces
}

/// How a result that is not permitted is wrong.
pub(crate) fn class(expected: &Expected, got: u64) -> String {
    match expected {
        Expected::Float { format, set } => format!("{:?}", FailureClass::of(*format, set, got)),
        Expected::Exact(_) | Expected::OneOf(_) | Expected::Undetermined(_) => format!("{:?}", FailureClass::Wild),
    }
}

/// Bits in hexadecimal, all digits of the type.
pub(crate) fn hex(scalar: Scalar, bits: u64) -> String {
    format!("0x{bits:0digits$x}", digits = (scalar.width() / 4).max(1) as usize)
}

/// A set as ranges of bit patterns, lowest value first.
pub(crate) fn ranges(scalar: Scalar, expected: &Expected) -> Vec<[String; 2]> {
    let point = |bits: &u64| [hex(scalar, *bits), hex(scalar, *bits)];
    match expected {
        Expected::Exact(bits) => vec![point(bits)],
        Expected::OneOf(patterns) => patterns.iter().map(point).collect(),
        Expected::Float { format, set } => {
            let mut ranges: Vec<[String; 2]> =
                set.ranges().iter().map(|r| [r.lo, r.hi].map(|rank| hex(scalar, format.bits(rank)))).collect();
            if set.has_nan() {
                ranges.push(["nan".into(), "nan".into()]);
            }
            ranges
        }
        Expected::Undetermined(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mismatch(status: Status, round: u32, offset: u64) -> Mismatch {
        let text = String::new;
        Mismatch {
            status,
            round,
            buffer: text(),
            element: text(),
            offset,
            scalar: text(),
            invocation: None,
            before: text(),
            got: text(),
            permitted: Vec::new(),
            class: text(),
            by: Mismatch::SPECIFICATION.into(),
        }
    }

    #[test]
    fn what_fails_is_kept_before_what_only_warns() {
        let mut sum = Comparison::default();
        for round in 0..2 {
            let mut one = Comparison::default();
            for offset in 0..2 * KEPT as u64 {
                let status = if offset % 100 == 99 { Status::Fail } else { Status::QualityWarning };
                keep(&mut one.mismatches, &mut one.classes, (status, "Wild"), || mismatch(status, round, offset));
            }
            sum.add(one);
        }
        let kept: Vec<_> = sum.mismatches.iter().map(|m| (m.status, m.round, m.offset)).collect();
        assert_eq!((kept.len(), kept[0], kept[1]), (KEPT, (Status::Fail, 0, 99), (Status::Fail, 1, 99)));
        assert_eq!((kept[2], kept[KEPT - 1].2), ((Status::QualityWarning, 0, 0), KEPT as u64 - 3));
    }

    #[test]
    fn what_the_specification_forbids_is_kept_before_what_a_case_does_not_expect() {
        let mut sum = Comparison::default();
        for offset in 0..KEPT as u64 + 3 {
            let class = if offset < KEPT as u64 { class::EXPECTATION } else { "Wild" };
            let of_case = |wrong: Mismatch| Mismatch { class: class.into(), ..wrong };
            keep(&mut sum.mismatches, &mut sum.classes, (Status::Fail, class), || {
                of_case(mismatch(Status::Fail, 0, offset))
            });
        }
        let kept: Vec<_> = sum.mismatches.iter().map(|m| m.offset).collect();
        assert_eq!((kept.len(), &kept[..4]), (KEPT, &[64, 65, 66, 0][..]));
    }

    /// Also of what comes after all that is kept.
    #[test]
    fn classes_are_counted_in_full_and_have_examples() {
        let mut sum = Comparison::default();
        for round in 0..2 {
            let mut one = Comparison::default();
            for offset in 0..3 * KEPT as u64 {
                let (status, class) = match offset {
                    100 => (Status::QualityWarning, "FewUlp"),
                    101..106 => (Status::Fail, "Nan"),
                    _ => (Status::Fail, "Wild"),
                };
                keep(&mut one.mismatches, &mut one.classes, (status, class), || mismatch(status, round, offset));
            }
            sum.add(one);
        }
        let found: Vec<_> =
            sum.classes.iter().map(|c| (c.status, c.class.as_str(), c.count, c.examples.len())).collect();
        let wild = (Status::Fail, "Wild", 2 * (3 * KEPT as u64 - 6), EXAMPLES);
        assert_eq!(found, [(Status::Fail, "Nan", 10, EXAMPLES), wild, (Status::QualityWarning, "FewUlp", 2, 2)]);
        assert!(sum.classes[0].examples[0].operands[0].contains("at byte 101"), "{:?}", sum.classes[0].examples[0]);
        assert_eq!(sum.mismatches.len(), KEPT);
    }
}
