//! Failures of atomics: values that no modification order explains, and operands that are not
//! permitted.

use crate::check::Check;
use crate::compare::{Comparison, failure_class, hex, ranges};
use crate::memory_layout::{MemoryContents, path_text};
use assay_events::{Mismatch, Status, class_names};
use assay_exec::Descriptor;
use assay_oracle::{Disorder, Expected, Slot, Standing, WrongOperand};
use assay_precision::Scalar;

/// Largest number of atomics listed in a message.
const MAX_LISTED: usize = 8;

impl Check<'_> {
    /// Returns a failing comparison for atomics that no order explains.
    pub(crate) fn impossible_order(&self, disorder: &Disorder, round: u32) -> Comparison {
        let Disorder { at, slot, offset, width, first, ref steps, ref stores } = *disorder;
        let listed = steps.iter().map(|step| format!("found {} and left {}", step.found, step.left));
        let listed = listed.chain(stores.iter().map(|output| format!("stored {output}")));
        let (count, place) = (steps.len() + stores.len(), self.shader.location(at));
        let more = if count > MAX_LISTED { ", .." } else { "" };
        let listed = listed.take(MAX_LISTED).collect::<Vec<_>>().join(", ");
        let got = format!(
            "no order of {count} atomics gives these values, so an update was lost or was not atomic: {listed}{more}; \
             one of them: {place}"
        );
        let scalar = Scalar::Int { width, signed: false };
        let before = hex(scalar, first);
        let class = class_names::IMPOSSIBLE_ORDER.into();
        Comparison::of_wrong(Mismatch { round, before, got, class, ..self.atomic_mismatch(slot, offset, scalar) })
    }

    /// Returns a failing comparison for an operand of an atomic that is not permitted.
    pub(crate) fn wrong_operand(&self, given: &WrongOperand, round: u32) -> Comparison {
        let WrongOperand { at, invocation, slot, offset, width, found, bits, ref expected, standing } = *given;
        let scalar = match expected {
            Expected::Float { format, .. } => Scalar::Float(*format),
            _ => Scalar::Int { width, signed: false },
        };
        let of = self.atomic_mismatch(slot, offset, scalar);
        let element = format!("{} (operand of the atomic at {})", of.element, self.shader.location(at));
        let status = if standing == Standing::Lenient { Status::QualityWarning } else { Status::Fail };
        let (before, got, permitted) = (hex(scalar, found), hex(scalar, bits), ranges(scalar, expected));
        let (invocation, class) = (Some(invocation), failure_class(expected, bits));
        Comparison::of_wrong(Mismatch { status, round, element, before, got, permitted, class, invocation, ..of })
    }

    /// Returns a mismatch at a location that atomics access, to be completed.
    fn atomic_mismatch(&self, slot: Option<Slot>, offset: u64, scalar: Scalar) -> Mismatch {
        let of = self.setup.descriptors.iter().find(|descriptor| Some(descriptor.slot) == slot);
        Mismatch {
            status: Status::Fail,
            round: 0,
            buffer: of.map_or_else(|| "workgroup memory".to_owned(), Descriptor::label),
            element: of.and_then(|of| element_at(of, offset)).unwrap_or_default(),
            offset,
            scalar: scalar.to_string(),
            invocation: None,
            before: String::new(),
            got: String::new(),
            permitted: Vec::new(),
            class: String::new(),
            by: Mismatch::SPECIFICATION.into(),
        }
    }
}

/// Returns the path of the element at an offset.
pub(crate) fn element_at(descriptor: &Descriptor, offset: u64) -> Option<String> {
    let mut found = None;
    MemoryContents::of(descriptor)?.walk_scalars(descriptor.bytes, &mut |element, path| {
        if found.is_none() && element.offset == offset {
            found = Some(path_text(path));
        }
    });
    found
}
