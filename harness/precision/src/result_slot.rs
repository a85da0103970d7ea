//! One result scalar of a call: its rule, its operands and its environment.

use crate::{
    Call, Op, Scalar, Specification,
    accuracy::Accuracy,
    call_rule,
    discrete_op::DiscreteOp,
    environment::{Environment, Flush},
    float8::OverflowPolicy,
    formula::{Formula, FormulaSize},
    real_op::{Bound, RealOp},
    signature::Signature,
    wgsl,
};
use assay_float::{Dyadic, F16, F32, Format, Set};
use smallvec::SmallVec;

const CONVERTED: &str = "WGSL's conversions are not among the operations that may flush denormals, and are where others \
     are that do; they name the sign of an integer's zero, which may be ignored elsewhere";
const HALVES: &str =
    "halves are values of 16 bits, but the types of the instruction are of 32: modes of either width may be meant";
const FLOAT8_FLUSHED: &str =
    "DenormFlushToZero demands zero, and denormals of float8 must be preserved in conversions to binary16";
const UNLISTED: &str = "the published list of instructions that SignedZeroInfNanPreserve affects lacks the float atomics: its source \
     names them under a misspelt condition";
const RETURNED: &str = "an atomic returns the original value, and DenormFlushToZero demands zero of denormal results";

/// Rule by which one result scalar is judged.
#[derive(Clone, Debug)]
pub(crate) enum ResultRule {
    Discrete(DiscreteOp),
    Real(RealOp),
    Formula(Formula),
    /// Part `component` of a packed word as a normalised integer.
    Unpack {
        signed: bool,
        width: u32,
    },
    UnpackHalf,
    Measured,
}

/// One result scalar of a call, ready for evaluation.
#[derive(Clone, Debug)]
pub(crate) struct ResultSlot {
    pub(crate) op: Op,
    pub(crate) rule: ResultRule,
    /// Indices and types of the operand scalars that it depends on.
    pub(crate) inputs: SmallVec<[(usize, Scalar); 4]>,
    pub(crate) result: Scalar,
    /// Index among the components of its result.
    pub(crate) component: usize,
    /// Environment, in the format in which the rule is evaluated.
    pub(crate) env: Environment,
    /// Environment of the lenient reading, if that has its own, with the doubt.
    pub(crate) lenient_env: Option<(Environment, &'static str)>,
    /// Rule of the lenient reading, if that has its own, with the doubt.
    lenient_rule: Option<(ResultRule, &'static str)>,
    /// Treatment of values out of range in a conversion to float8.
    pub(crate) overflow_policy: Option<OverflowPolicy>,
    pub(crate) relaxed: bool,
    /// Other parts of the word that this one is packed into. The instruction has one result: if
    /// nothing is required of one part, nothing is required of any.
    pub(crate) packed_with: Vec<ResultSlot>,
}

/// Result scalars of a call, in order.
pub(crate) fn slots(call: &Call) -> Vec<ResultSlot> {
    let row = call.op.row();
    let accuracy = call_rule::accuracy(call);
    let operands: Vec<Scalar> = call.operand_slots().collect();
    let first = call.results[0].len();
    let mut slots: Vec<ResultSlot> = call
        .result_slots()
        .enumerate()
        .map(|(index, result)| {
            let inputs: SmallVec<[(usize, Scalar); 4]> =
                call.inputs(index).into_iter().map(|i| (i, operands[i])).collect();
            let accuracy = match (accuracy, index < first) {
                (Accuracy::Modf, true) => Accuracy::Discrete(DiscreteOp::Fraction),
                (Accuracy::Modf, false) => Accuracy::Discrete(DiscreteOp::Trunc),
                (Accuracy::Frexp, true) => Accuracy::Discrete(DiscreteOp::Significand),
                (Accuracy::Frexp, false) => Accuracy::Discrete(DiscreteOp::Exponent),
                (Accuracy::Atomic(_), true) => Accuracy::Discrete(DiscreteOp::Copy),
                (Accuracy::Atomic(inner), false) => *inner,
                (other, _) => other,
            };
            let component = index % first;
            let components = match row.signature {
                Signature::VectorTimesMatrix | Signature::MatrixTimesVector | Signature::MatrixTimesMatrix => {
                    inputs.len() / 2
                }
                _ => call.operands[0].len(),
            };
            let rule = |accuracy: Accuracy| match accuracy {
                Accuracy::Discrete(op) => ResultRule::Discrete(op),
                Accuracy::Real(real) => ResultRule::Real(real),
                Accuracy::Formula(build) => {
                    let formula = build(&FormulaSize { components, component });
                    ResultRule::Formula(match call.specification {
                        Specification::Vulkan => formula,
                        Specification::Wgsl => wgsl::formula(call.op, result.format().unwrap_or(F32), formula),
                    })
                }
                Accuracy::Unpack { signed } => ResultRule::Unpack { signed, width: 32 / call.results[0].rows },
                Accuracy::UnpackHalf => ResultRule::UnpackHalf,
                Accuracy::Measured | Accuracy::Modf | Accuracy::Frexp | Accuracy::Atomic(_) => ResultRule::Measured,
            };
            let lenient_rule = call_rule::lenient_accuracy(call).map(|(accuracy, doubt)| (rule(accuracy), doubt));
            let (rule, overflow_policy) = (rule(accuracy), OverflowPolicy::of(call));
            let format = result.format().or(operands[0].format()).unwrap_or(F32);
            let from = inputs[0].1.format().unwrap_or(format);
            let env = Environment::new(&call.modes, row.lists, format, from).under(call.specification);
            let keeps = is_of_float8(call.op, inputs[0].1, result) || wgsl::converts(call.op, call.specification);
            let env = if keeps { env.keeping_denormals() } else { env };
            // "If X is zero and of integer scalar type, then XOut has a zero sign bit."
            let positive = keeps && inputs[0].1.format().is_none();
            let env = Environment { nsz: env.nsz && !positive, ..env };
            // WGSL's conversions may be read as operations that flush, with zeros of either sign.
            let converted = wgsl::converts(call.op, call.specification).then(|| (env.flushing(), CONVERTED));
            let by_single = call.modes.operand_denormals.map(|declared| Flush::of_results(row.lists, declared));
            let halved = matches!(call.op, Op::PackHalf2x16 | Op::UnpackHalf2x16)
                && by_single.is_some_and(|flush| flush != env.flush_results);
            let unlisted = matches!(call.op, Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT)
                && !(env.nsz || env.flags_stated);
            let assumed = Environment { nsz: true, not_inf: true, not_nan: true, ..env };
            let lenient_env = converted
                .or(halved.then_some((Environment { flush_results: Flush::May, ..env }, HALVES)))
                .or(unlisted.then_some((assumed, UNLISTED)));
            // For comparisons and packing, the 32-bit values are the operands.
            let by_operands = result == Scalar::Bool || matches!(row.signature, Signature::Pack(..));
            let decorated = if by_operands { inputs[0].1 } else { result };
            let relaxed = call.modes.relaxed
                && decorated.width() == 32
                && decorated != Scalar::Bool
                // "The RelaxedPrecision Decoration has no effect on this instruction."
                && call.op != Op::QuantizeToF16;
            ResultSlot {
                op: call.op,
                rule,
                inputs,
                result,
                component,
                env,
                lenient_env,
                lenient_rule,
                overflow_policy,
                relaxed,
                packed_with: Vec::new(),
            }
        })
        .collect();
    if matches!(row.signature, Signature::Pack(..)) {
        let parts = slots.clone();
        for (i, slot) in slots.iter_mut().enumerate() {
            slot.packed_with =
                parts.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, part)| part.clone()).collect();
        }
    }
    slots
}

impl ResultSlot {
    /// This result scalar with the rule or the environment of the lenient reading, and the doubt.
    /// `None` if that reading has neither of its own.
    pub(crate) fn lenient_slot(&self) -> Option<(ResultSlot, &'static str)> {
        if let Some((rule, doubt)) = self.lenient_rule.clone() {
            return Some((ResultSlot { rule, ..self.clone() }, doubt));
        }
        self.lenient_env.map(|(env, doubt)| (ResultSlot { env, ..self.clone() }, doubt))
    }

    /// Reason for which another reading keeps a denormal result where `DenormFlushToZero` demands
    /// zero.
    pub(crate) fn demanded_zero_in_doubt(&self) -> Option<&'static str> {
        match self.rule {
            _ if is_of_float8(self.op, self.inputs[0].1, self.result) => Some(FLOAT8_FLUSHED),
            // The original value that an atomic returns.
            ResultRule::Discrete(DiscreteOp::Copy) => Some(RETURNED),
            _ => None,
        }
    }

    /// Returns true if the lenient reading has its own environment, its own rule, or its own
    /// treatment of values out of range.
    pub(crate) fn is_read_leniently(&self) -> bool {
        let out_of_range =
            self.overflow_policy.is_some_and(|overflow_policy| overflow_policy != OverflowPolicy::Largest);
        self.lenient_env.is_some() || self.lenient_rule.is_some() || out_of_range
    }
}

/// Returns true for a conversion from float8 to binary16, which preserves denormals.
fn is_of_float8(op: Op, operand: Scalar, result: Scalar) -> bool {
    op == Op::FConvert && operand.format().is_some_and(Format::is_float8) && result == Scalar::Float(F16)
}

impl ResultSlot {
    /// Returns true if the rule is correct rounding of the exact value.
    pub(crate) fn is_rounded(&self) -> bool {
        match &self.rule {
            ResultRule::Real(real) => {
                let bound = real.bound(self.env.specification, self.env.half_column());
                matches!(bound, Bound::Rounded | Bound::Either)
            }
            ResultRule::UnpackHalf => true,
            ResultRule::Discrete(_) | ResultRule::Formula(_) | ResultRule::Unpack { .. } | ResultRule::Measured => {
                false
            }
        }
    }

    /// Reason for which the result has no exact value.
    pub(crate) fn without_exact_value(&self, permitted: &Set) -> &'static str {
        match (&self.rule, self.result.format()) {
            (ResultRule::Measured, _) => "no accuracy is stated",
            (_, None) => "none: the result is not a floating-point number",
            (_, Some(_)) if permitted.is_anything() => "undefined for these operands",
            (_, Some(_)) => "not a single finite number for these operands",
        }
    }

    /// Returns true if the bits of a result are in the set.
    pub(crate) fn holds(&self, set: &Set, got: u64) -> bool {
        match self.result.format() {
            Some(format) => set.contains(format, got),
            // Integers and booleans have their bits as ranks.
            None => set.contains_rank(got.cast_signed()),
        }
    }

    /// Exact value of operand `i`; a power of two for the exponent of Ldexp.
    pub(crate) fn value(&self, x: &[u64], i: usize) -> Dyadic {
        match self.inputs[i].1 {
            Scalar::Float(format) => format.value(x[i]).unwrap_or(Dyadic::ZERO),
            // Beyond the range of every format the distance does not matter.
            Scalar::Int { .. } if matches!(self.rule, ResultRule::Real(RealOp::Ldexp)) => {
                Dyadic::pow2((x[i] as u32).cast_signed().clamp(-20_000, 20_000))
            }
            Scalar::Int { width, signed } => {
                let value = (x[i] << (64 - width)).cast_signed() >> (64 - width);
                if signed { Dyadic::int(value) } else { Dyadic::new(false, x[i], 0) }
            }
            Scalar::Bool => Dyadic::ZERO,
        }
    }

    /// Part of a packed word that the component reads.
    pub(crate) fn part(&self, word: u64, width: u32) -> u64 {
        word >> (width as usize * self.component) & ((1 << width) - 1)
    }
}
