//! Comparison of a device's output with the permitted sets, element by element.

use crate::dispatch_setup::DispatchSetup;
use crate::invocation_choice::product;
use crate::memory_layout::{Element, MemoryContents, path_text, read_bits, runtime_stride};
use crate::written_values::{WrittenValues, record_size};
use assay_events::{BindingWrites, ClassCount, Mismatch, Status, Writes, class_names};
use assay_exec::Descriptor;
use assay_oracle::{Dispatch, Expected, Memory, Outcome, Resource, Slot, Standing};
use assay_precision::{FailureClass, Scalar};
use std::collections::BTreeMap;

/// Largest number of mismatches kept; further ones are only counted by class.
const MAX_KEPT: usize = 64;

/// Largest number of examples kept for each class.
const MAX_EXAMPLES: usize = 8;

/// Cost of a byte that is generated, copied and compared, in the unit of
/// [`Outcome::work`](assay_oracle::Outcome::work).
pub(crate) const BYTE_COST: u64 = 8;

/// Result of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Elements that were compared.
    pub checked: u64,
    /// Elements that only workgroups outside the subset may write, which are not compared.
    pub outside_subset: u64,
    /// Largest number of elements that workgroups outside the subset may write.
    pub(crate) writable_outside: u64,
    /// Elements that no reading of the specification permits.
    pub failing: u64,
    /// Elements that only a lenient reading permits.
    pub warning: u64,
    /// Undetermined elements, by index into [`Outcome::causes`]; `None` where nothing is required.
    pub undetermined: BTreeMap<Option<u32>, u64>,
    /// First mismatches: those against the specification, then those against the case file, then
    /// those that a lenient reading permits.
    pub mismatches: Vec<Mismatch>,
    /// All mismatches by class, with examples, in the order of status and class.
    pub classes: Vec<ClassCount>,
    /// Written elements by binding.
    pub(crate) writes: Vec<BindingCount>,
    /// Written elements for which the case file has an expectation.
    pub(crate) expected: u64,
}

/// Written elements of a binding.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BindingCount {
    writes: BindingWrites,
    /// Elements that fail or warn.
    wrong: u64,
    values: WrittenValues,
}

impl Comparison {
    /// Returns a comparison with a single mismatch.
    pub(crate) fn of_wrong(mismatch: Mismatch) -> Comparison {
        let failing = u64::from(mismatch.status == Status::Fail);
        let mut one = Comparison { checked: 1, failing, warning: 1 - failing, ..Comparison::default() };
        let (status, class) = (mismatch.status, mismatch.class.clone());
        count_mismatch(&mut one.mismatches, &mut one.classes, (status, &class), || mismatch);
        one
    }

    /// Returns the number of undetermined elements.
    pub(crate) fn undetermined_count(&self) -> u64 {
        self.undetermined.values().sum()
    }

    /// Returns the written elements of all bindings.
    pub(crate) fn writes(&self) -> Writes {
        let distinct = self.writes.iter().map(|binding| binding.values.distinct()).sum();
        let bindings = self.writes.iter().map(|binding| binding.writes.clone()).collect();
        Writes { distinct: Some(distinct), ..Writes::of(bindings) }
    }

    /// Turns everything that fails or warns into undetermined elements. Returns their number.
    pub(crate) fn set_undetermined(&mut self) -> u64 {
        let elements = self.failing + self.warning;
        self.checked -= elements;
        (self.failing, self.warning) = (0, 0);
        self.mismatches.clear();
        self.classes.clear();
        for BindingCount { writes, wrong, .. } in &mut self.writes {
            writes.falsifiable = writes.falsifiable.saturating_sub(std::mem::take(wrong));
        }
        elements
    }

    /// Returns why a comparison says nothing about the device, as a phrase after `round 0`; `None`
    /// if a written element could have come out wrong, or one did.
    pub(crate) fn hollow(&self) -> Option<&'static str> {
        let Writes { written, falsifiable, .. } = self.writes();
        match () {
            () if falsifiable + self.expected + self.failing + self.warning > 0 => None,
            () if written == 0 => Some("wrote nothing"),
            () => Some("wrote only undetermined elements"),
        }
    }

    /// Adds the comparison of another round.
    pub fn add(&mut self, other: Comparison) {
        self.checked += other.checked;
        self.expected += other.expected;
        for theirs in other.writes {
            let ours = self.writes.iter().position(|ours| ours.writes.binding == theirs.writes.binding);
            let Some(at) = ours else {
                self.writes.push(theirs);
                continue;
            };
            let ours = &mut self.writes[at];
            ours.writes.add(&theirs.writes);
            ours.wrong += theirs.wrong;
            ours.values.add(theirs.values);
        }
        self.outside_subset += other.outside_subset;
        self.writable_outside += other.writable_outside;
        self.failing += other.failing;
        self.warning += other.warning;
        for mismatch in other.mismatches {
            if let Some(at) = insert_position(&self.mismatches, (mismatch.status, &mismatch.class)) {
                insert(&mut self.mismatches, at, mismatch);
            }
        }
        for theirs in other.classes {
            let ours = class_entry(&mut self.classes, (theirs.status, &theirs.class));
            ours.count += theirs.count;
            ours.examples.extend(theirs.examples);
            ours.examples.truncate(MAX_EXAMPLES);
        }
    }
}

/// Counts a mismatch, and keeps it if there is room. Mismatches against the specification come
/// first, then those against the case file, then warnings; earlier kinds displace later ones.
pub(crate) fn count_mismatch(
    kept: &mut Vec<Mismatch>,
    classes: &mut Vec<ClassCount>,
    (status, class): (Status, &str),
    mismatch: impl FnOnce() -> Mismatch,
) {
    let of = class_entry(classes, (status, class));
    of.count += 1;
    let is_example = of.examples.len() < MAX_EXAMPLES;
    let room = insert_position(kept, (status, class));
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

/// Returns the index at which a mismatch is kept; `None` if there is no room for it.
fn insert_position(kept: &[Mismatch], (status, class): (Status, &str)) -> Option<usize> {
    let after = |status: Status, class: &str| (status != Status::Fail, class == class_names::EXPECTATION);
    let at = kept.partition_point(|kept| after(kept.status, &kept.class) <= after(status, class));
    (at < MAX_KEPT).then_some(at)
}

fn insert(kept: &mut Vec<Mismatch>, at: usize, mismatch: Mismatch) {
    kept.insert(at, mismatch);
    kept.truncate(MAX_KEPT);
}

/// Returns the entry of a class, or adds it: failures before warnings, then by name.
fn class_entry<'a>(classes: &'a mut Vec<ClassCount>, (status, class): (Status, &str)) -> &'a mut ClassCount {
    let key = |status: Status| status != Status::Fail;
    let at = classes.partition_point(|of| (key(of.status), of.class.as_str()) < (key(status), class));
    if classes.get(at).is_none_or(|of| (of.status, of.class.as_str()) != (status, class)) {
        let empty = ClassCount { status, class: class.to_owned(), count: 0, examples: Vec::new(), regions: Vec::new() };
        classes.insert(at, empty);
    }
    &mut classes[at]
}

/// Permitted set of an element: that of its cell, or exactly the bits in memory.
pub(crate) struct Permitted<'a> {
    pub(crate) expected: Expected,
    pub(crate) lenient: Option<&'a Expected>,
}

impl<'a> Permitted<'a> {
    /// Returns the permitted set of `width` bits at an offset; `None` if a cell covers other bits
    /// than these.
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

    /// Returns the power of a comparison of `width` bits with the set. That of the usual reading
    /// counts: a Pass requires it, and what only the lenient reading permits is a QualityWarning.
    fn power(&self, width: u32) -> Power {
        match () {
            () if !self.can_be_wrong(width) => Power::None,
            () if self.expected.is_wide() => Power::Wide,
            () => Power::Narrow,
        }
    }

    /// Returns whether some `width` bits are not permitted.
    pub(crate) fn can_be_wrong(&self, width: u32) -> bool {
        self.expected.can_be_wrong(self.lenient, width)
    }
}

/// Checks that a target returned the output of every binding. A missing output could not be
/// compared, and would seem to be permitted.
///
/// # Errors
/// The missing output.
pub(crate) fn check_complete(
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
                "{} has {}, but the device returned {} and the oracle {}",
                descriptor.label(),
                bytes(given),
                bytes(left),
                bytes(expected)
            ));
        }
    }
    Ok(())
}

/// Compares the complete output ([`check_complete`]) of a round: storage buffers, storage images,
/// storage texel buffers. With `padding`, also the bytes of buffers between elements.
pub(crate) fn compare(
    outcome: &Outcome,
    dispatch: &Dispatch,
    setup: &DispatchSetup,
    got: &BTreeMap<Slot, Vec<u8>>,
    (round, padding): (u32, bool),
) -> Comparison {
    let mut result = Comparison::default();
    // Changes of other resources cannot be observed.
    for descriptor in setup.descriptors.iter().filter(|d| d.is_read_back()) {
        let (Some(memory), Some(got)) = (outcome.memory.get(&descriptor.slot), got.get(&descriptor.slot)) else {
            continue;
        };
        let Some(contents) = MemoryContents::of(descriptor) else { continue };
        let before = data_of(dispatch, descriptor.slot).unwrap_or_default();
        let record = record_size(descriptor.block.as_deref().and_then(runtime_stride));
        let buffer = BindingComparison { descriptor, record, memory, before, got, round };
        let (checked, beyond) = (result.checked, result.outside_subset);
        let wrong = result.failing + result.warning;
        let undetermined = (!descriptor.may_be_written).then(|| result.undetermined.clone());
        let mut padding_bytes = vec![padding && descriptor.block.is_some(); got.len()];
        let binding = descriptor.label();
        let mut count =
            BindingCount { writes: BindingWrites { binding, ..BindingWrites::default() }, ..BindingCount::default() };
        contents.walk_scalars(got.len() as u64, &mut |element, path| {
            let start = element.offset as usize;
            padding_bytes[start..start + element.bytes() as usize].fill(false);
            buffer.compare_and_count(element, &|| path_text(path), &mut result, &mut count);
        });
        let (outside, writes) = (result.outside_subset - beyond, &mut count.writes);
        let all = product(setup.size());
        let interpreted = dispatch.only.as_ref().map_or(all, |only| only.invocations(product(setup.local)));
        let most = setup.most_written_to(descriptor, all).unwrap_or(u64::MAX);
        let most_in_subset = setup.most_written_to(descriptor, interpreted).unwrap_or(u64::MAX);
        writes.elements = writes.elements.min(most_in_subset.max(writes.written));
        let writable_outside = outside.min(most.saturating_sub(writes.elements));
        count.wrong = result.failing + result.warning - wrong;
        // Only results of the shader count.
        if descriptor.may_be_written {
            result.writes.push(count);
            result.writable_outside += writable_outside;
        }
        for (at, _) in padding_bytes.iter().enumerate().filter(|(_, padding_bytes)| **padding_bytes) {
            let byte = Element { offset: at as u64, scalar: Scalar::Int { width: 8, signed: false } };
            buffer.element(byte, &|| "(no element)".to_owned(), &mut result);
        }
        if let Some(undetermined) = undetermined {
            // An unchanged element is not a result, even if the oracle has lost it with all memory.
            result.undetermined = undetermined;
            result.checked = checked + result.failing + result.warning - wrong;
            result.outside_subset = beyond;
        }
    }
    result
}

/// Comparison of one binding.
struct BindingComparison<'a> {
    descriptor: &'a Descriptor,
    /// Size of a record in bytes ([`record_size`]).
    record: u64,
    memory: &'a Memory,
    before: &'a [u8],
    got: &'a [u8],
    round: u32,
}

impl BindingComparison<'_> {
    /// Compares an element, and counts it among the written ones.
    fn compare_and_count(
        &self,
        element: Element,
        name: &dyn Fn() -> String,
        result: &mut Comparison,
        count: &mut BindingCount,
    ) {
        let (offset, bytes) = (element.offset, element.bytes());
        let power = self.element(element, name, result);
        let written = self.descriptor.may_be_written && self.memory.is_written(offset, bytes);
        let falsifiable = written && power != Power::None;
        if let (true, Some(after)) = (falsifiable, element.read(self.got)) {
            count.values.count(offset % self.record, element.read(self.before), after);
        }
        let writes = &mut count.writes;
        writes.elements += u64::from(self.memory.is_known(offset, bytes));
        writes.written += u64::from(self.memory.is_known(offset, bytes) && written);
        writes.falsifiable += u64::from(falsifiable);
        writes.wide += u64::from(falsifiable && power == Power::Wide);
    }

    /// Compares an element. Returns the greatest power of its written parts.
    fn element(&self, element: Element, name: &dyn Fn() -> String, result: &mut Comparison) -> Power {
        if !self.memory.is_known(element.offset, element.bytes()) {
            result.outside_subset += 1;
            return Power::None;
        }
        let mut power = Power::None;
        // A value that was written with another type than the block's is compared piece by piece.
        for piece in pieces(self.memory, element) {
            let Some(permitted) = Permitted::of(self.memory, piece.offset, piece.scalar.width()) else {
                *result.undetermined.entry(None).or_default() += 1;
                continue;
            };
            let Some(bits) = piece.read(self.got) else { continue };
            if self.memory.is_written(piece.offset, piece.bytes()) {
                power = power.max(permitted.power(piece.scalar.width()));
            }
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
            let class =
                if bits == old { class_names::UNWRITTEN.into() } else { failure_class(&permitted.expected, bits) };
            count_mismatch(&mut result.mismatches, &mut result.classes, (status, &class), || Mismatch {
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
        power
    }
}

/// Power of a comparison to find a wrong value, from the least to the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Power {
    /// Nothing is wrong: the value is undetermined, or any is permitted.
    None,
    /// The set that a Pass requires spans more than a factor of two.
    Wide,
    Narrow,
}

/// Returns the bytes of a binding before the dispatch.
pub(crate) fn data_of(dispatch: &Dispatch, slot: Slot) -> Option<&[u8]> {
    dispatch.bindings.get(&slot).and_then(Resource::bytes)
}

/// Returns the element, or the pieces into which the memory's cells divide it.
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
            // Rest of a wider value, which was counted with an earlier element.
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

/// Returns the failure class of a result that is not permitted.
pub(crate) fn failure_class(expected: &Expected, got: u64) -> String {
    match expected {
        Expected::Float { format, set } => format!("{:?}", FailureClass::of(*format, set, got)),
        Expected::Exact(_) | Expected::OneOf(_) | Expected::Undetermined(_) => format!("{:?}", FailureClass::Wild),
    }
}

/// Returns bits in hexadecimal, with all digits of the type.
pub(crate) fn hex(scalar: Scalar, bits: u64) -> String {
    format!("0x{bits:0digits$x}", digits = (scalar.width() / 4).max(1) as usize)
}

/// Returns a set as ranges of bit patterns in ascending order of values.
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
    fn failures_are_kept_before_warnings() {
        let mut sum = Comparison::default();
        for round in 0..2 {
            let mut one = Comparison::default();
            for offset in 0..2 * MAX_KEPT as u64 {
                let status = if offset % 100 == 99 { Status::Fail } else { Status::QualityWarning };
                count_mismatch(&mut one.mismatches, &mut one.classes, (status, "Wild"), || {
                    mismatch(status, round, offset)
                });
            }
            sum.add(one);
        }
        let kept: Vec<_> = sum.mismatches.iter().map(|m| (m.status, m.round, m.offset)).collect();
        assert_eq!((kept.len(), kept[0], kept[1]), (MAX_KEPT, (Status::Fail, 0, 99), (Status::Fail, 1, 99)));
        assert_eq!((kept[2], kept[MAX_KEPT - 1].2), ((Status::QualityWarning, 0, 0), MAX_KEPT as u64 - 3));
    }

    #[test]
    fn mismatches_with_the_specification_are_kept_before_those_with_the_case() {
        let mut sum = Comparison::default();
        for offset in 0..MAX_KEPT as u64 + 3 {
            let class = if offset < MAX_KEPT as u64 { class_names::EXPECTATION } else { "Wild" };
            let of_case = |wrong: Mismatch| Mismatch { class: class.into(), ..wrong };
            count_mismatch(&mut sum.mismatches, &mut sum.classes, (Status::Fail, class), || {
                of_case(mismatch(Status::Fail, 0, offset))
            });
        }
        let kept: Vec<_> = sum.mismatches.iter().map(|m| m.offset).collect();
        assert_eq!((kept.len(), &kept[..4]), (MAX_KEPT, &[64, 65, 66, 0][..]));
    }

    /// Mismatches beyond those that are kept count too.
    #[test]
    fn classes_count_all_mismatches_and_keep_examples() {
        let mut sum = Comparison::default();
        for round in 0..2 {
            let mut one = Comparison::default();
            for offset in 0..3 * MAX_KEPT as u64 {
                let (status, class) = match offset {
                    100 => (Status::QualityWarning, "FewUlp"),
                    101..106 => (Status::Fail, "Nan"),
                    _ => (Status::Fail, "Wild"),
                };
                count_mismatch(&mut one.mismatches, &mut one.classes, (status, class), || {
                    mismatch(status, round, offset)
                });
            }
            sum.add(one);
        }
        let found: Vec<_> =
            sum.classes.iter().map(|c| (c.status, c.class.as_str(), c.count, c.examples.len())).collect();
        let wild = (Status::Fail, "Wild", 2 * (3 * MAX_KEPT as u64 - 6), MAX_EXAMPLES);
        assert_eq!(found, [(Status::Fail, "Nan", 10, MAX_EXAMPLES), wild, (Status::QualityWarning, "FewUlp", 2, 2)]);
        assert!(sum.classes[0].examples[0].operands[0].contains("at byte 101"), "{:?}", sum.classes[0].examples[0]);
        assert_eq!(sum.mismatches.len(), MAX_KEPT);
    }
}
