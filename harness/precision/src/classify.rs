//! How a result that is not permitted is wrong.

use crate::{FailureClass, evaluate::Slot, trace::Trace};
use assay_float::{RankRange, Set};

/// How far outside the set a result may lie to count as off by a few ulp.
const FEW: u64 = 16;

/// The class of a result outside the set.
pub(crate) fn classify(slot: &Slot, operands: &[u64], set: &Set, got: u64) -> FailureClass {
    let Some(format) = slot.result.format() else { return FailureClass::Wild };
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
    if is_right_with_flushed_operands(slot, operands, got) {
        return FailureClass::FlushedIn;
    }
    let rank = format.rank(got);
    let distance = set.ranges().iter().map(|r| rank.abs_diff(rank.clamp(r.lo, r.hi))).min().unwrap_or(u64::MAX);
    let only_infinity = |r: &RankRange| r.lo >= format.infinity() || r.hi <= format.neg_infinity();
    if format.is_infinite(got) || set.ranges().iter().all(only_infinity) {
        return FailureClass::Overflow;
    }
    if distance == 1 && is_right_in_any_rounding_mode(slot, operands, got) {
        return FailureClass::RoundingDirection;
    }
    if distance <= FEW { FailureClass::FewUlp } else { FailureClass::Wild }
}

/// Whether the result would be permitted if denormal operands could be read as zeros.
fn is_right_with_flushed_operands(slot: &Slot, operands: &[u64], got: u64) -> bool {
    if slot.env.flush_operands {
        return false;
    }
    let mut flushing = slot.clone();
    flushing.env.flush_operands = true;
    let set = flushing.evaluate(operands, None, false, &Trace::off()).set;
    flushing.holds(&set, got)
}

/// Whether the result would be permitted without a declared rounding mode.
fn is_right_in_any_rounding_mode(slot: &Slot, operands: &[u64], got: u64) -> bool {
    let mut free = slot.clone();
    free.env.rounding = crate::Rounding::Undeclared;
    let set = free.evaluate(operands, None, false, &Trace::off()).set;
    free.holds(&set, got)
}
