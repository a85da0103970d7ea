//! Classification of results that are not permitted.

use crate::{derivation::Derivation, result_slot::ResultSlot};
use assay_float::{Format, RankRange, Set};

/// Greatest distance from the set, in representable values, that counts as a few ulp.
const FEW: u64 = 16;

/// Class of a result that is not permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureClass {
    /// Right for denormal operands read as zero, which the environment forbids.
    FlushedIn,
    /// A zero in place of a denormal result that had to be kept.
    FlushedOut,
    /// A denormal result that had to be flushed.
    KeptDenormal,
    /// The neighbour of the exact result that the declared rounding mode does not give.
    RoundingDirection,
    /// The wrong sign of a zero.
    SignOfZero,
    /// A NaN instead of a number, or a number instead of a NaN.
    Nan,
    /// An infinity instead of a finite number, or a finite number instead of an infinity.
    Overflow,
    /// At most 16 representable values outside the permitted set.
    FewUlp,
    /// None of these.
    Wild,
}

impl FailureClass {
    /// Every class.
    pub const ALL: [FailureClass; 9] = [
        FailureClass::FlushedIn,
        FailureClass::FlushedOut,
        FailureClass::KeptDenormal,
        FailureClass::RoundingDirection,
        FailureClass::SignOfZero,
        FailureClass::Nan,
        FailureClass::Overflow,
        FailureClass::FewUlp,
        FailureClass::Wild,
    ];

    /// Returns a description for people.
    pub fn description(self) -> &'static str {
        match self {
            FailureClass::FlushedIn => "denormal operands were read as zero",
            FailureClass::FlushedOut => "a denormal result was flushed to zero",
            FailureClass::KeptDenormal => "a denormal result was not flushed as required",
            FailureClass::RoundingDirection => "rounded in another direction than declared",
            FailureClass::SignOfZero => "a zero with the wrong sign",
            FailureClass::Nan => "a NaN instead of a number, or a number instead of a NaN",
            FailureClass::Overflow => "an infinity instead of a finite number, or vice versa",
            FailureClass::FewUlp => "at most 16 representable values outside the permitted set",
            FailureClass::Wild => "further outside the permitted set",
        }
    }

    /// Class of a float outside the set, as far as the result alone shows it.
    pub fn of(format: Format, set: &Set, got: u64) -> FailureClass {
        if format.is_nan(got) || set.ranges().is_empty() {
            return FailureClass::Nan;
        }
        let edge = format.min_normal();
        let has_denormal = set.meets(RankRange::new(1, edge - 1)) || set.meets(RankRange::new(-edge, -2));
        if format.is_zero(got) {
            if set.meets(RankRange::new(-1, 0)) {
                return FailureClass::SignOfZero;
            }
            if has_denormal {
                return FailureClass::FlushedOut;
            }
        }
        if format.is_denormal(got) && !has_denormal && set.meets(RankRange::new(-1, 0)) {
            return FailureClass::KeptDenormal;
        }
        let only_infinity = |r: &RankRange| r.lo >= format.infinity() || r.hi <= format.neg_infinity();
        if format.is_infinite(got) || set.ranges().iter().all(only_infinity) {
            return FailureClass::Overflow;
        }
        if distance(format, set, got) <= FEW { FailureClass::FewUlp } else { FailureClass::Wild }
    }
}

/// Number of representable values from the set to a result.
fn distance(format: Format, set: &Set, got: u64) -> u64 {
    let rank = format.rank(got);
    set.ranges().iter().map(|r| rank.abs_diff(rank.clamp(r.lo, r.hi))).min().unwrap_or(u64::MAX)
}

/// Class of a result outside the set.
pub(crate) fn classify(slot: &ResultSlot, operands: &[u64], set: &Set, got: u64) -> FailureClass {
    let Some(format) = slot.result.format() else { return FailureClass::Wild };
    match FailureClass::of(format, set, got) {
        class @ (FailureClass::FewUlp | FailureClass::Wild | FailureClass::Overflow) => {
            if is_right_with_flushed_operands(slot, operands, got) {
                FailureClass::FlushedIn
            } else if class == FailureClass::FewUlp
                && distance(format, set, got) == 1
                && is_right_in_any_rounding_mode(slot, operands, got)
            {
                FailureClass::RoundingDirection
            } else {
                class
            }
        }
        class @ (FailureClass::Nan
        | FailureClass::SignOfZero
        | FailureClass::FlushedIn
        | FailureClass::FlushedOut
        | FailureClass::KeptDenormal
        | FailureClass::RoundingDirection) => class,
    }
}

/// Returns true if the result would be permitted if denormal operands could be read as zeros.
fn is_right_with_flushed_operands(slot: &ResultSlot, operands: &[u64], got: u64) -> bool {
    if slot.env.flush_operands {
        return false;
    }
    let mut flushing = slot.clone();
    flushing.env.flush_operands = true;
    let set = flushing.evaluate(operands, None, false, &Derivation::disabled()).set;
    flushing.holds(&set, got)
}

/// Returns true if the result would be permitted without a declared rounding mode.
fn is_right_in_any_rounding_mode(slot: &ResultSlot, operands: &[u64], got: u64) -> bool {
    let mut free = slot.clone();
    free.env.rounding = crate::Rounding::Undeclared;
    let set = free.evaluate(operands, None, false, &Derivation::disabled()).set;
    free.holds(&set, got)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_listed() {
        // A class that is missing here does not compile.
        let place = |class: FailureClass| match class {
            FailureClass::FlushedIn => 0,
            FailureClass::FlushedOut => 1,
            FailureClass::KeptDenormal => 2,
            FailureClass::RoundingDirection => 3,
            FailureClass::SignOfZero => 4,
            FailureClass::Nan => 5,
            FailureClass::Overflow => 6,
            FailureClass::FewUlp => 7,
            FailureClass::Wild => 8,
        };
        assert_eq!(FailureClass::ALL.map(place), std::array::from_fn(|place| place));
    }
}
