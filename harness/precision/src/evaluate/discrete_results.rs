//! Discrete results of the operands' bits.

use super::{Evaluation, ROUNDED_INSIDE};
use crate::{
    Op, Rounding, Specification,
    discrete_op::{DiscreteContext, DiscreteOp, nearest_halves},
    result_slot::ResultSlot,
    wgsl,
};
use assay_float::{F32, F64, RankRange, Set};

const QUANTIZED: &str =
    "the instruction set demands zero for a denormal half, the table of Vulkan says correctly rounded";
const PACKED_HALVES: &str = "WGSL's formula takes halves up; the instruction of GLSL.std.450 that its function was made for lets them go either \
     way, and so may be what was meant (gpuweb issue 4159)";
const COMPARED_AS_ZEROS: &str = "the instruction set defines the result by a comparison, which may read denormals as zeros, \
     and then gives back an operand, which may be read as it is";
const STEP_OF_NAN: &str = "a NaN is not less than the edge, but whether Step is defined of one is not said";
const UNPACKED: &str = "the instruction preserves bits, but is in no list of those that keep NaNs, infinities and signed zeros, and may \
     flush denormals";
const EXPONENT_OF_ZERO: &str = "WGSL says that the fraction of zero is zero, and nothing of its exponent";

impl Evaluation<'_> {
    fn discrete_context(&self) -> DiscreteContext {
        let ResultSlot { inputs, result, component, env, .. } = self.slot;
        DiscreteContext { operand: inputs[0].1, result: *result, slot: *component, rounding: env.rounding }
    }

    /// Discrete results, before the environment is applied to them.
    pub(crate) fn discrete_results(&self, op: DiscreteOp, x: &[u64]) -> Set {
        let (slot, context) = (self.slot, self.discrete_context());
        if let Some(mut set) =
            (slot.env.specification == Specification::Wgsl).then(|| wgsl::discrete_results(op, x, &context)).flatten()
        {
            if self.lenient && matches!(op, DiscreteOp::PackSnorm | DiscreteOp::PackUnorm) {
                let either = op.set(x, &context);
                if either != set {
                    self.doubt.set(Some(PACKED_HALVES));
                    set.union_with(&either);
                }
            }
            return set;
        }
        let mut set = match (slot.op, op) {
            // "modf(±Inf) = { ±0, ±Inf }" is stated for this instruction only.
            (Op::ModfStruct, DiscreteOp::Fraction) if slot.env.format.is_infinite(x[0]) => {
                Set::point(if slot.env.format.is_negative(x[0]) { -1 } else { 0 })
            }
            _ => op.set(x, &context),
        };
        if self.compares_as_zeros(op) {
            let chosen = op.chosen(x, &context);
            if chosen != set {
                self.doubt_comparison();
                set.union_with(&chosen);
            }
        }
        if let Some((doubt, more)) = self.other_discrete_results(op, x).filter(|_| self.lenient) {
            let before = set.clone();
            set.union_with(&more);
            if set != before {
                self.doubt.set(Some(doubt));
            }
        }
        set
    }

    /// Discrete results that another reading of the text adds, and the doubt.
    fn other_discrete_results(&self, op: DiscreteOp, x: &[u64]) -> Option<(&'static str, Set)> {
        let nan = |k: usize| self.slot.inputs[k].1.format().is_some_and(|f| f.is_nan(x[k]));
        match op {
            DiscreteOp::QuantizeToF16 => Some((QUANTIZED, nearest_halves(x[0], F32))),
            DiscreteOp::Step if nan(0) || nan(1) => Some((STEP_OF_NAN, Set::anything())),
            DiscreteOp::Exponent
                if self.slot.env.specification == Specification::Wgsl && self.slot.env.format.is_zero(x[0]) =>
            {
                Some((EXPONENT_OF_ZERO, Set::anything()))
            }
            DiscreteOp::UnpackDouble => Some((UNPACKED, self.unpacked(x[0]))),
            DiscreteOp::PackSnorm | DiscreteOp::PackUnorm => Some((
                ROUNDED_INSIDE,
                op.set(x, &DiscreteContext { rounding: Rounding::Undeclared, ..self.discrete_context() }),
            )),
            _ => None,
        }
    }

    /// Part of a 64-bit float, if it is kept no better than arithmetic keeps it.
    fn unpacked(&self, bits: u64) -> Set {
        let ResultSlot { env, component, .. } = self.slot;
        if env.not_nan && F64.is_nan(bits) || env.not_inf && F64.is_infinite(bits) {
            return Set::anything();
        }
        let mut found = Set::empty();
        let mut add =
            |bits: u64| found.insert(RankRange::point((bits >> (32 * component) & 0xffff_ffff).cast_signed()));
        if F64.is_signalling(bits) {
            add(bits | F64.nan());
        }
        if F64.is_zero(bits) && env.nsz || F64.is_denormal(bits) && env.flush_operands {
            add(0);
            add(F64.sign_mask());
        }
        found
    }

    /// Returns true if an operand may be selected in this reading as if denormals were zeros, and
    /// be returned unchanged.
    pub(crate) fn compares_as_zeros(&self, op: DiscreteOp) -> bool {
        self.lenient
            && self.slot.env.flush_operands
            && self.slot.env.specification == Specification::Vulkan
            && op.chooses()
    }

    pub(crate) fn doubt_comparison(&self) {
        self.doubt.set(Some(COMPARED_AS_ZEROS));
    }
}
