//! Filter for ordered sweeps: groups of operands of one `f32` each, decided in one loop from the
//! bits of operands and results to the counts.

use super::{CERTAIN, Filter, GroupCounts, MarginRule, SpecialResults, named_operand, visit_discrete};
use crate::{
    Scalar,
    bulk::simd::{
        arithmetic::{LANES, vectorised},
        inner_bound,
        unary::{self, UnaryOutcome, UnaryVisitor},
    },
    result_slot::ResultRule,
};
use assay_float::F32;

/// Outcome of a group that the filter has decided.
pub(crate) struct GroupVerdict {
    pub(crate) counts: GroupCounts,
    /// Margin of the lane that the caller asked for; negative if that lane has none.
    pub(crate) reported_margin: f64,
}

impl Filter {
    /// Returns true if the result component is an `f32` function of one `f32`.
    pub(super) fn is_single_function(&self) -> bool {
        const SINGLE: Scalar = Scalar::Float(F32);
        self.operands[..] == [(0, SINGLE)] && self.result == SINGLE
    }

    /// Applies the function of one `f32` of this filter. `None` if the rule has no quick evaluation
    /// for one operand at a time.
    pub(super) fn visit_single<A: UnaryVisitor>(&self, visitor: A) -> Option<A::Output> {
        let evaluator = self.evaluator();
        match &self.rule {
            _ if inner_bound::has_inner_bound(self.op, &evaluator) => {
                inner_bound::visit_inner_bound(self.op, &evaluator, visitor)
            }
            ResultRule::Real(real) => unary::visit_stated_bound(*real, &evaluator, visitor),
            ResultRule::Discrete(op) => visit_discrete(*op, visitor),
            ResultRule::Formula(_) | ResultRule::Unpack { .. } | ResultRule::UnpackHalf | ResultRule::Measured => None,
        }
    }

    /// Decides a group by the margins of [`Filter::judge_by_inner_bound`], or of
    /// [`Filter::judge_by_rule`] where there are none of those. `None` unless each lane passes or
    /// is unchecked, or if the function is not one of one `f32`: such a group goes through the
    /// general filter.
    pub(crate) fn judge_ordered(
        &self,
        operands: &[u32; LANES],
        results: &[u32; LANES],
        reported_lane: usize,
    ) -> Option<GroupVerdict> {
        if !self.is_single_function() {
            return None;
        }
        let values = operands.iter().map(|&bits| f64::from(f32::from_bits(bits)));
        if inner_bound::requires_nothing(self.op, values, &self.evaluator()) {
            return Some(GroupVerdict { counts: GroupCounts::unchecked(LANES as u64), reported_margin: -1.0 });
        }
        self.visit_single(OrderedGroup {
            operands,
            results,
            reported_lane,
            measure: self.measure,
            special: self.special,
            assumes_finite: self.assumes_finite(),
            named: named_operand(self.op).unwrap_or(f64::NAN),
            // The alternative in which denormal operands are read as zero is not evaluated here.
            least: if inner_bound::allows_denormals(self.op) { 0.0 } else { f32::MIN_POSITIVE.into() },
        })?
    }
}

struct OrderedGroup<'a> {
    operands: &'a [u32; LANES],
    results: &'a [u32; LANES],
    reported_lane: usize,
    measure: MarginRule,
    special: SpecialResults,
    assumes_finite: bool,
    /// Operand for which the instruction set names a result; a NaN if there is none.
    named: f64,
    /// Non-zero operands below this magnitude are left undecided.
    least: f64,
}

impl UnaryVisitor for OrderedGroup<'_> {
    type Output = Option<GroupVerdict>;

    #[inline(always)]
    fn visit(self, function: impl Fn(f64) -> UnaryOutcome) -> Option<GroupVerdict> {
        let OrderedGroup { operands, results, reported_lane, measure, special, assumes_finite, named, least } = self;
        // Local copies, which the compiler knows not to alias.
        let (operands, results) = (*operands, *results);
        let (passed, unchecked, worst, reported_margin) = vectorised(
            #[inline(always)]
            move || {
                let (mut passed, mut unchecked, mut worst, mut reported_margin) = (0u64, 0u64, -1i64, 0u64);
                for i in 0..LANES {
                    let x = f64::from(f32::from_bits(operands[i]));
                    let got = f64::from(f32::from_bits(results[i]));
                    let found = function(x);
                    let margin = measure.margin(found.value, found.error, found.bound, got);
                    let infinite = x.is_nan() | x.is_infinite();
                    let open = (found.any > 0.0) | infinite;
                    let refused = (x == named) | ((x != 0.0) & (x.abs() < least));
                    let passes = (margin <= CERTAIN) & !special.is(got) & !open & !refused;
                    // As in `FilterOutcome::group_counts`: integer reductions vectorise, and
                    // margins are ordered as their bit patterns are.
                    let bits = if passes { margin.to_bits() } else { (-1f64).to_bits() };
                    passed += u64::from(passes);
                    unchecked += u64::from(open & assumes_finite & !refused);
                    worst = if bits.cast_signed() > worst { bits.cast_signed() } else { worst };
                    reported_margin |= if i == reported_lane { bits } else { 0 };
                }
                (passed, unchecked, worst, reported_margin)
            },
        );
        let worst = if worst < 0 { -1.0 } else { f64::from_bits(worst.cast_unsigned()) };
        let counts = GroupCounts { passed, unchecked, worst };
        (passed + unchecked == LANES as u64)
            .then(|| GroupVerdict { counts, reported_margin: f64::from_bits(reported_margin) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Column, Modes, Op, Shape};

    /// For every instruction of one `f32` in every mode that has an effect, around every binade:
    /// the loop decides groups as the general filter does, with the same margins.
    #[test]
    fn a_sweep_settles_as_any_other_group() {
        let modes = ["", "RoundingModeRTE", "DenormFlushToZero", "DenormPreserve", "SignedZeroInfNanPreserve"];
        let mut decided = [0u64; 2];
        for (op, mode) in Op::ALL.iter().flat_map(|&op| modes.map(|mode| (op, mode))) {
            let modes = if mode.is_empty() { Modes::default() } else { Modes::default().with(mode).expect("a mode") };
            let Ok(call) = Call::new(op, Scalar::Float(F32), Shape::Scalar, None, modes) else { continue };
            let reference = call.reference();
            let Some(filter) = reference.slots.first().and_then(Filter::new) else { continue };
            if filter.operands.len() != 1 {
                continue;
            }
            let exponents = (0..256u32).step_by(7).chain([1, 125, 126, 127, 128, 129, 254, 255]);
            for (exponent, sign) in exponents.flat_map(|e| [(e, 0), (e, 1u32 << 31)]) {
                // Groups across the first value of the binade and inside it.
                for start in [(exponent << 23).saturating_sub(60), exponent << 23 | 0x2a_5e00] {
                    let operands: [u32; LANES] = std::array::from_fn(|i| sign | (start + i as u32));
                    for results in devices(op, &operands) {
                        let group = filter.group(&[Column::Words(&operands)], Column::Words(&results), 0, LANES);
                        let outcome = filter.judge_by_inner_bound(&group).filter(|s| s.group_counts(LANES).is_some());
                        let outcome = outcome.or_else(|| filter.judge_by_rule(&group));
                        let expected = outcome.as_ref().and_then(|s| Some((s, s.group_counts(LANES)?)));
                        let Some(verdict) = filter.judge_ordered(&operands, &results, 77) else {
                            decided[1] += u64::from(expected.is_some());
                            continue;
                        };
                        decided[0] += 1;
                        let (outcome, expected) = expected.expect("decided in one loop, and not otherwise");
                        let place = format!("{op} {mode} from {:#010x} giving {:#010x}", operands[0], results[0]);
                        assert_eq!(
                            (verdict.counts.passed, verdict.counts.unchecked),
                            (expected.passed, expected.unchecked),
                            "{place}"
                        );
                        let reported_margin = if outcome.is_unchecked(77) { -1.0 } else { outcome.margins[77] };
                        // In the alternative reading of denormal operands the result may be closer.
                        let same = |a: f64, b: f64| a == b || (group.denormals && a >= b);
                        assert!(same(verdict.counts.worst, expected.worst), "{place}");
                        assert!(
                            same(verdict.reported_margin, reported_margin) || reported_margin.is_nan(),
                            "{place}: {} {reported_margin}",
                            verdict.reported_margin
                        );
                    }
                }
            }
        }
        // The loop decides nearly every group that the general filter decides: a loop that decides
        // nothing would be useless and would pass.
        assert!(decided[0] > 10_000 && decided[0] > 8 * decided[1], "{decided:?}");
    }

    /// Groups that count as unchecked by the location of their operands alone are unchecked by the
    /// certified evaluation too.
    #[test]
    fn groups_without_a_requirement_are_unchecked_by_both_evaluations() {
        let mut groups = 0;
        for (op, mode) in Op::ALL.iter().flat_map(|&op| ["", "DenormFlushToZero", "DenormPreserve"].map(|m| (op, m))) {
            let modes = if mode.is_empty() { Modes::default() } else { Modes::default().with(mode).expect("a mode") };
            let Ok(call) = Call::new(op, Scalar::Float(F32), Shape::Scalar, None, modes) else { continue };
            let reference = call.reference();
            let Some(filter) = reference.slots.first().and_then(Filter::new).filter(Filter::is_single_function) else {
                continue;
            };
            // Denormals, operands outside domains, infinities and NaNs.
            for start in
                [1, 0x12_3456, 0x7f_ff80, 0x3f80_0001, 0x4049_0fdb, 0x42c8_0000, 0x5f80_0000, 0x7f80_0001, 0x7fff_ff80]
            {
                for start in [start, start | 1 << 31] {
                    let operands: [u32; LANES] = std::array::from_fn(|i| start + i as u32);
                    let values = operands.iter().map(|&bits| f64::from(f32::from_bits(bits)));
                    if !inner_bound::requires_nothing(op, values, &filter.evaluator()) {
                        continue;
                    }
                    groups += 1;
                    for x in [operands[0], operands[77], operands[127]] {
                        let verdict = reference.judge(0, &[x.into()], 0x3f80_0000).verdict;
                        assert_eq!(verdict, crate::Verdict::Unchecked, "{op} {mode} of {x:#010x}");
                    }
                }
            }
        }
        assert!(groups > 100, "{groups}");
    }

    /// Results of three devices: the host's functions, the same results in the neighbouring lanes,
    /// and results a few ulp away.
    fn devices(op: Op, operands: &[u32; LANES]) -> [[u32; LANES]; 3] {
        let function: fn(f32) -> f32 = match op {
            Op::Exp => f32::exp,
            Op::Exp2 => f32::exp2,
            Op::Log => f32::ln,
            Op::Log2 => f32::log2,
            Op::InverseSqrt => |x| (1.0 / f64::from(x).sqrt()) as f32,
            Op::Sin => f32::sin,
            Op::Cos => f32::cos,
            Op::Tan => f32::tan,
            Op::Atan => f32::atan,
            Op::Asin => f32::asin,
            Op::Acos => f32::acos,
            Op::Sinh => f32::sinh,
            Op::Cosh => f32::cosh,
            Op::Tanh => f32::tanh,
            Op::Asinh => f32::asinh,
            Op::Acosh => f32::acosh,
            Op::Atanh => f32::atanh,
            Op::Sqrt => f32::sqrt,
            Op::Radians => |x| (f64::from(x) * (std::f64::consts::PI / 180.0)) as f32,
            Op::Degrees => |x| (f64::from(x) * (180.0 / std::f64::consts::PI)) as f32,
            Op::FNegate => |x| -x,
            Op::FAbs => f32::abs,
            Op::Floor => f32::floor,
            Op::Ceil => f32::ceil,
            Op::Trunc => f32::trunc,
            Op::Round | Op::RoundEven => f32::round_ties_even,
            _ => |x| x,
        };
        let right = operands.map(|bits| function(f32::from_bits(bits)).to_bits());
        let mut moved = right;
        moved.rotate_left(1);
        let off = std::array::from_fn(|i| right[i].wrapping_add(i as u32 % 4));
        [right, moved, off]
    }
}
