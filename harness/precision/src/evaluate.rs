//! Permitted set of one result scalar: the rule of its row in the table, with the environment
//! applied around it.
//!
//! The order is that of the specification: operands may be flushed, the rule gives a range of real
//! numbers rounded outward to values of the format, and then the sign of zero, flushing and
//! overflow are applied to the result. Comparisons of real numbers are decided by Ziv's strategy
//! ([`decide`]).

use crate::{
    Call, Op, Rounding, Scalar, Specification,
    derivation::Derivation,
    discrete_op::{DiscreteContext, DiscreteOp, nearest_halves},
    display,
    environment::{Environment, Flush},
    float8::{self, OverflowPolicy},
    formula::Formula,
    rank_interval::{RankInterval, Stop},
    real_op::{Bound, PointBound, RealOp},
    relaxed,
    signature::Signature,
    special_values,
    table::{self, Accuracy, Inputs},
    undefined_operands, wgsl,
};
use assay_float::{Dyadic, Enclosure, EnclosureQuery, F16, F32, F64, Format, RankRange, Set, Undecided, decide};
use smallvec::SmallVec;
use std::{cell::Cell, cmp::Ordering};

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
    lenient_env: Option<(Environment, &'static str)>,
    /// Rule of the lenient reading, if that has its own, with the doubt.
    lenient_rule: Option<(ResultRule, &'static str)>,
    /// Treatment of values out of range in a conversion to float8.
    pub(crate) overflow_policy: Option<OverflowPolicy>,
    pub(crate) relaxed: bool,
    /// Other parts of the word that this one is packed into. The instruction has one result: if
    /// nothing is required of one part, nothing is required of any.
    pub(crate) packed_with: Vec<ResultSlot>,
}

/// Permitted results under one reading.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) set: Set,
    /// Error divided by the permitted error, for the given result.
    pub(crate) margin: Option<f64>,
    /// Infinitely precise result in decimal, if there is one; only with a derivation.
    pub(crate) exact: Option<String>,
    /// Reason for which a lenient reading permits more, if it was used.
    pub(crate) doubt: Option<&'static str>,
}

const OVERFLOW: &str =
    "a permitted result overflows while NotInf is assumed: the text may leave the whole result undefined";
const DOUBLE: &str = "of 64-bit operations the text requires only the precision of single";
const ROUNDED_INSIDE: &str = "of an inherited formula the text says how its denormals follow the declared modes, but not whether its roundings do";
const SEPARATE_USES: &str = "the formula of SmoothStep names its intermediate t once and uses it three times: t may be one value, or computed for each use";
const QUANTIZED: &str =
    "the instruction set demands zero for a denormal half, the table of Vulkan says correctly rounded";
const CLASSIFIED: &str = "without SignedZeroInfNanPreserve the operand is assumed not to be a NaN or an infinity";
const PACKED_HALVES: &str = "WGSL's formula takes halves up; the instruction of GLSL.std.450 that its function was made for lets them go either \
     way, and so may be what was meant (gpuweb issue 4159)";
const COMPARED_AS_ZEROS: &str = "the instruction set defines the result by a comparison, which may read denormals as zeros, \
     and then gives back an operand, which may be read as it is";
const FLOAT8_FLUSHED: &str =
    "DenormFlushToZero demands zero, and denormals of float8 must be preserved in conversions to binary16";
const LOG_ONE: &str = "the instruction set gives Log(1) and Log2(1) as 0, the table an absolute error";
const OF_INFINITY: &str =
    "the instruction set names the result of an infinity, of which the table of Vulkan states no precision";
const STEP_OF_NAN: &str = "a NaN is not less than the edge, but whether Step is defined of one is not said";
const UNPACKED: &str = "the instruction preserves bits, but is in no list of those that keep NaNs, infinities and signed zeros, and may \
     flush denormals";
const CONVERTED: &str = "WGSL's conversions are not among the operations that may flush denormals, and are where others \
     are that do; they name the sign of an integer's zero, which may be ignored elsewhere";
const EXPONENT_OF_ZERO: &str = "WGSL says that the fraction of zero is zero, and nothing of its exponent";
pub(crate) const FLOORED: &str =
    "WGSL inherits fract from x - floor(x), each step of which may flush a denormal on its own";
const HALVES: &str =
    "halves are values of 16 bits, but the types of the instruction are of 32: modes of either width may be meant";
const RETURNED: &str = "an atomic returns the original value, and DenormFlushToZero demands zero of denormal results";
const SQRT_ZERO: &str = "the formula of Sqrt divides by zero for zero, the instruction set gives zero";

/// Result scalars of a call, in order.
pub(crate) fn slots(call: &Call) -> Vec<ResultSlot> {
    let row = table::of(call.op);
    let accuracy = table::accuracy(call);
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
                    let formula = build(&Inputs { components, component });
                    ResultRule::Formula(match call.specification {
                        Specification::Vulkan => formula,
                        Specification::Wgsl => wgsl::formula(call.op, result.format().unwrap_or(F32), formula),
                    })
                }
                Accuracy::Unpack { signed } => ResultRule::Unpack { signed, width: 32 / call.results[0].rows },
                Accuracy::UnpackHalf => ResultRule::UnpackHalf,
                Accuracy::Measured | Accuracy::Modf | Accuracy::Frexp | Accuracy::Atomic(_) => ResultRule::Measured,
            };
            let lenient_rule = table::lenient_accuracy(call).map(|(accuracy, doubt)| (rule(accuracy), doubt));
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
            let by_single = call.modes.operand_denormals.map(|declared| row.lists.flush_of_results(declared));
            let halved = matches!(call.op, Op::PackHalf2x16 | Op::UnpackHalf2x16)
                && by_single.is_some_and(|flush| flush != env.flush_results);
            let lenient_env =
                converted.or(halved.then_some((Environment { flush_results: Flush::May, ..env }, HALVES)));
            // For comparisons and packing, the 32-bit values are the operands.
            let by_operands = result == Scalar::Bool || matches!(row.signature, Signature::Pack);
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
    if matches!(row.signature, Signature::Pack) {
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
    /// Permitted results for these operand bits (of the whole call), and the margin of `got`.
    pub(crate) fn evaluate(
        &self,
        operands: &[u64],
        got: Option<u64>,
        lenient: bool,
        derivation: &Derivation,
    ) -> Outcome {
        let x: SmallVec<[u64; 8]> = self.inputs.iter().map(|&(i, _)| operands[i]).collect();
        let evaluation = Evaluation::new(self, got, lenient, derivation);
        let (mut set, mut margin) = evaluation.alternatives(&x);
        if self.relaxed {
            let more = relaxed::set(self, &x);
            derivation.note(|| {
                let more = match self.result.format() {
                    Some(format) => display::set(&more, format),
                    None => display::integers(&more, self.result),
                };
                format!("RelaxedPrecision: {more} is permitted as well")
            });
            set.union_with(&more);
            // The margin refers to the ordinary bound.
            margin = margin.filter(|m| *m <= 1.0 || !got.is_some_and(|got| self.holds(&set, got)));
        }
        let mut outcome = Outcome { set, margin, exact: evaluation.exact.take(), doubt: evaluation.doubt.get() };
        for part in &self.packed_with {
            let other = part.evaluate(operands, None, lenient, &Derivation::disabled());
            if other.set.is_anything() {
                derivation
                    .note(|| "nothing is required of another part of the packed word: anything is permitted".into());
                outcome = Outcome { set: other.set, margin: None, doubt: outcome.doubt.or(other.doubt), ..outcome };
            }
        }
        outcome
    }
}

/// One evaluation of a result scalar.
pub(crate) struct Evaluation<'a> {
    pub(crate) slot: &'a ResultSlot,
    got: Option<u64>,
    pub(crate) lenient: bool,
    derivation: &'a Derivation,
    /// Reason for which the lenient reading permits more, once it has.
    pub(crate) doubt: Cell<Option<&'static str>>,
    exact: Cell<Option<String>>,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(
        slot: &'a ResultSlot,
        got: Option<u64>,
        lenient: bool,
        derivation: &'a Derivation,
    ) -> Evaluation<'a> {
        Evaluation { slot, got, lenient, derivation, doubt: Cell::new(None), exact: Cell::new(None) }
    }

    /// Union over all readings of the operands: unchanged, and with denormals as zeros where they
    /// may be flushed. Returns the least margin of these.
    fn alternatives(&self, x: &[u64]) -> (Set, Option<f64>) {
        let ResultSlot { env, inputs, .. } = self.slot;
        if let Some(outcome) = self.assumed_away(x) {
            return outcome;
        }
        let denormal = |i: usize| inputs[i].1.format().is_some_and(|f| f.is_denormal(x[i]));
        let flushable: SmallVec<[usize; 8]> =
            (0..x.len()).filter(|&i| env.flush_operands && denormal(i) && !self.is_bitwise()).collect();
        let zeros: &[u64] = if env.nsz { &[0] } else { &[0, 1] };
        let choices = 1 + zeros.len();
        let mut set = Set::empty();
        let mut margin: Option<f64> = None;
        let mut alternative: SmallVec<[u64; 8]> = SmallVec::from_slice(x);
        for index in 0..choices.pow(flushable.len() as u32) {
            let mut rest = index;
            for &i in &flushable {
                let choice = rest % choices;
                rest /= choices;
                let format = inputs[i].1.format().expect("a denormal has a format");
                alternative[i] = if choice == 0 { x[i] } else { zeros[choice - 1] * format.sign_mask() };
            }
            if index > 0 {
                self.derivation.note(|| {
                    let zeros = flushable.iter().filter(|&&i| alternative[i] != x[i]).map(|&i| {
                        let format = inputs[i].1.format().expect("a denormal has a format");
                        let sign = match alternative[i] & format.sign_mask() {
                            _ if env.nsz => "zero",
                            0 => "+0",
                            _ => "-0",
                        };
                        (inputs[i].0, sign)
                    });
                    let zeros = zeros.enumerate().map(|(at, (operand, sign))| {
                        format!("x{operand}{} as {sign}", if at == 0 { " is read" } else { "" })
                    });
                    format!("if {}:", zeros.collect::<Vec<_>>().join(" and "))
                });
            }
            let (part, error) = self.derivation.nested(|| self.at_bits(&alternative));
            set.union_with(&part);
            margin = match (margin, error) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            if set.is_anything() {
                return (set, None);
            }
        }
        (set, margin)
    }

    /// Returns true for operations on bits, which flushing does not affect.
    pub(crate) fn is_bitwise(&self) -> bool {
        matches!(
            self.slot.rule,
            ResultRule::Discrete(DiscreteOp::UnpackDouble | DiscreteOp::PackDouble | DiscreteOp::CompareExchange)
        )
    }

    /// Permits anything if an operand is a NaN or an infinity that is assumed not to occur.
    fn assumed_away(&self, x: &[u64]) -> Option<(Set, Option<f64>)> {
        let any = |test: fn(Format, u64) -> bool| {
            let inputs = &self.slot.inputs;
            inputs.iter().zip(x).any(|(&(_, scalar), &bits)| scalar.format().is_some_and(|f| test(f, bits)))
        };
        self.assumes_away(any(Format::is_nan), any(Format::is_infinite)).then(|| (Set::anything(), None))
    }

    /// Returns true if a NaN, or an infinity, among the operands permits anything because it is
    /// assumed not to occur.
    pub(crate) fn assumes_away(&self, nan: bool, infinite: bool) -> bool {
        let ResultSlot { env, rule, .. } = self.slot;
        let (nan, infinite) = (env.not_nan && nan, env.not_inf && infinite);
        if !nan && !infinite || self.is_bitwise() {
            return false;
        }
        if matches!(rule, ResultRule::Discrete(DiscreteOp::IsNan | DiscreteOp::IsInf)) && !env.flags_stated {
            if !self.lenient {
                return false;
            }
            self.doubt.set(Some(CLASSIFIED));
        }
        let what = if nan { "a NaN" } else { "an infinity" };
        self.derivation.note(|| format!("{what} among the operands is assumed not to occur: anything is permitted"));
        true
    }

    /// Permitted results for operands with exactly these bits, with the environment applied to the
    /// result.
    pub(crate) fn at_bits(&self, x: &[u64]) -> (Set, Option<f64>) {
        let slot = self.slot;
        match &slot.rule {
            ResultRule::Measured => (Set::anything(), None),
            ResultRule::Discrete(op) => {
                let set = self.discrete_results(*op, x);
                let words = match slot.env.specification {
                    Specification::Vulkan => op.words(),
                    Specification::Wgsl => wgsl::of(slot.op).map_or(op.words(), |row| row.words),
                };
                match slot.result.format() {
                    Some(format) => {
                        self.derivation.note(|| format!("{words}: {}", display::set(&set, format)));
                        self.note_exact(&set, format);
                    }
                    None => self.derivation.note(|| format!("{words}: {}", display::integers(&set, slot.result))),
                }
                self.with_discrete_margin(self.finish(set, false))
            }
            ResultRule::Real(_) | ResultRule::Formula(_) | ResultRule::Unpack { .. } | ResultRule::UnpackHalf => {
                self.real_results(x)
            }
        }
    }

    /// Records the only member of a set as the exact result.
    fn note_exact(&self, set: &Set, format: Format) {
        let one = || match (set.ranges(), set.has_nan() || set.is_anything()) {
            ([range], false) if range.lo == range.hi => Some(display::value(range.lo, format)),
            _ => None,
        };
        if self.derivation.is_recording() {
            self.exact.set(self.exact.take().or_else(one));
        }
    }

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

    /// Values that the rule permits for operands with exactly these finite bits, before the
    /// environment is applied to the result. The second value is true if the infinitely precise
    /// result is non-zero and below the smallest normal in magnitude.
    pub(crate) fn rule_results(&self, x: &[u64]) -> Result<(Set, bool), Stop> {
        if let Some(reason) = undefined_operands::undefined(self.slot, x) {
            return Err(Stop::Anything(reason));
        }
        if let Some((doubt, set)) = self.named_result(x) {
            if !self.lenient {
                return Ok((set, false));
            }
            self.doubt.set(Some(doubt));
        }
        let found = self.ask(x);
        Ok((self.with_named(self.with_zero_sign(found.range?, x), x), found.tiny))
    }

    /// Permitted results that are judged by their distance from a real number, and the margin of
    /// the given one.
    fn real_results(&self, x: &[u64]) -> (Set, Option<f64>) {
        let slot = self.slot;
        let env = &slot.env;
        if let Some(reason) = undefined_operands::undefined(slot, x) {
            return self.anything(reason);
        }
        if let Some((doubt, set)) = self.named_result(x) {
            if !self.lenient {
                self.derivation
                    .note(|| format!("the instruction set names the result: {}", display::set(&set, env.format)));
                self.note_exact(&set, env.format);
                return self.with_discrete_margin(self.finish(set, false));
            }
            self.doubt.set(Some(doubt));
        }
        if let Some(set) = special_values::special_result(slot, x) {
            self.derivation.note(|| "IEEE 754 gives an infinity, a NaN or a zero here".into());
            let assumed_away = env.not_nan && set.has_nan() || env.not_inf && has_infinity(&set, env.format);
            return self.with_discrete_margin(if assumed_away { Set::anything() } else { self.finish(set, false) });
        }
        let RealAnswer { range, tiny, exact, margin } = self.ask(x);
        let interval = match range {
            Ok(interval) => interval,
            Err(Stop::AnyNumber(reason)) => {
                self.derivation.note(|| format!("{reason}: any value but a NaN is permitted"));
                return (Set::range(env.format.neg_infinity(), env.format.infinity()), None);
            }
            Err(Stop::Anything(reason)) => return self.anything(reason),
            Err(Stop::Undecided) => unreachable!("decided"),
        };
        // The exact result for the operands as they are, not for zeros in their place.
        self.exact.set(self.exact.take().or(exact));
        let set = self.with_named(self.with_zero_sign(interval, x), x);
        let set = match self.half(x) {
            // An unpacked denormal half becomes a normal single: flushing applies to the half.
            Some(half) => self.flush(set, F16.is_denormal(half), env.flush_results),
            None => self.finish(set, tiny),
        };
        let margin = margin.map(|m| match self.got.is_some_and(|got| self.holds(&set, got)) {
            // Permitted by a flush or an overflow rather than by the bound.
            true if m > 1.0 => 0.0,
            // The neighbour that the rounding mode does not give.
            false if m <= 1.0 => f64::INFINITY,
            _ => m,
        });
        (set, margin)
    }

    /// Evaluates the real result of operands with exactly these bits.
    fn ask(&self, x: &[u64]) -> RealAnswer {
        let env = self.environment();
        let formulas = match &self.slot.rule {
            ResultRule::Formula(formula) => {
                let format = env.format;
                let operands: SmallVec<[RankInterval; 8]> =
                    x.iter().map(|&bits| RankInterval::point(format.rank(bits))).collect();
                let found = match x.iter().all(|&bits| format.is_finite(bits)) {
                    true => formula.finite_hull(&operands, &env, self.derivation),
                    false => Err(formula.overflown(&operands, &env)),
                };
                match found {
                    Ok(found) => Some((formula, found)),
                    Err(stop) => return RealAnswer { range: Err(stop), tiny: false, exact: None, margin: None },
                }
            }
            ResultRule::Discrete(_)
            | ResultRule::Real(_)
            | ResultRule::Unpack { .. }
            | ResultRule::UnpackHalf
            | ResultRule::Measured => None,
        };
        decide(&RealQuery { evaluation: self, x, env, formulas, mark: self.derivation.mark() })
    }

    fn anything(&self, reason: &str) -> (Set, Option<f64>) {
        self.derivation.note(|| format!("{reason}: anything is permitted"));
        (Set::anything(), None)
    }

    /// Set whose members have the margin 0 and all other results an infinite one.
    fn with_discrete_margin(&self, set: Set) -> (Set, Option<f64>) {
        let margin = self.got.map(|got| if self.holds(&set, got) { 0.0 } else { f64::INFINITY });
        (set, margin)
    }

    /// Result that the instruction set names where the rule of the table differs or is silent, and
    /// the doubt.
    fn named_result(&self, x: &[u64]) -> Option<(&'static str, Set)> {
        let slot = self.slot;
        let format = slot.env.format;
        if slot.env.specification == Specification::Wgsl {
            return None;
        }
        let (greatest, least) = (x[0] == format.infinity() as u64, format.is_infinite(x[0]));
        let infinity = || Set::point(format.infinity());
        match slot.op {
            Op::Log | Op::Log2 if x[0] == format.rank_of_one() as u64 => Some((LOG_ONE, Set::point(0))),
            Op::Sqrt if format.is_zero(x[0]) => Some((SQRT_ZERO, Set::point(format.rank(x[0])))),
            Op::Exp | Op::Exp2 | Op::Log | Op::Log2 | Op::Sqrt if greatest => Some((OF_INFINITY, infinity())),
            Op::InverseSqrt if greatest => Some((OF_INFINITY, Set::point(0))),
            Op::Exp | Op::Exp2 if least => Some((OF_INFINITY, Set::point(0))),
            _ => None,
        }
    }

    /// The range as a set, with the sign of an exact zero and of Atan2 at its cut as in IEEE 754.
    fn with_zero_sign(&self, interval: RankInterval, x: &[u64]) -> Set {
        let slot = self.slot;
        let set = Set::range(interval.lo, interval.hi);
        if special_values::at_cut(slot, x) {
            let mirrored = Set::range(interval.neg().lo, interval.neg().hi);
            return match (slot.env.nsz, slot.env.format.is_negative(x[0])) {
                (true, _) => {
                    self.derivation.note(|| "the sign of a zero y is free, and with it the side of the cut".into());
                    let mut both = set;
                    both.union_with(&mirrored);
                    both
                }
                (false, true) => mirrored,
                (false, false) => set,
            };
        }
        match special_values::zero_sign(slot, x) {
            Some(negative) if interval == RankInterval::ZERO && !slot.env.nsz => {
                Set::point(if negative { -1 } else { 0 })
            }
            _ => set,
        }
    }

    /// The set with results that the instruction set permits in addition to the rule.
    fn with_named(&self, mut set: Set, x: &[u64]) -> Set {
        let slot = self.slot;
        if matches!(slot.rule, ResultRule::Real(RealOp::Ldexp))
            && (x[1] as u32).cast_signed() < slot.env.format.min_normal_exponent()
        {
            self.derivation.note(|| "an exponent below the smallest normal's may flush the result to zero".into());
            set.insert(RankRange::new(-1, 0));
        }
        if self.may_floor_a_zero() && slot.env.format.is_denormal(x[0]) && slot.env.format.is_negative(x[0]) {
            self.doubt.set(Some(FLOORED));
            set.insert(RankRange::point(slot.env.format.rank(x[0])));
        }
        set
    }

    /// Returns true if `fract` may flush the operand of its floor and not the operand of its
    /// subtraction.
    pub(crate) fn may_floor_a_zero(&self) -> bool {
        self.lenient
            && self.slot.env.specification == Specification::Wgsl
            && matches!(self.slot.rule, ResultRule::Real(RealOp::Fract))
    }

    /// Half that an unpacking component reads.
    fn half(&self, x: &[u64]) -> Option<u64> {
        matches!(self.slot.rule, ResultRule::UnpackHalf).then(|| self.slot.part(x[0], 16))
    }

    /// Environment of the reading.
    pub(crate) fn environment(&self) -> Environment {
        let slot = self.slot;
        if !self.lenient {
            return slot.env;
        }
        let mut env = slot.env;
        if env.format == F64 {
            self.doubt.set(Some(DOUBLE));
            env = env.with_bound_format(F32);
        }
        // "Inherited From" extends DenormPreserve and the flushes to the formula and does not
        // mention the rounding modes.
        if matches!(slot.rule, ResultRule::Formula(_)) && env.rounding != Rounding::Undeclared {
            self.doubt.set(self.doubt.get().or(Some(ROUNDED_INSIDE)));
            env.rounding = Rounding::Undeclared;
        }
        if matches!(&slot.rule, ResultRule::Formula(formula) if formula.binds()) {
            self.doubt.set(self.doubt.get().or(Some(SEPARATE_USES)));
            env.separate_uses = true;
        }
        env.zero_unspecified = true;
        env
    }

    fn holds(&self, set: &Set, got: u64) -> bool {
        self.slot.holds(set, got)
    }

    /// Applies the environment to a result: the sign of zero, flushing, overflow. `tiny`: the
    /// infinitely precise result is non-zero and below the smallest normal.
    pub(crate) fn finish(&self, set: Set, tiny: bool) -> Set {
        let Some(format) = self.slot.result.format() else { return set };
        let env = &self.slot.env;
        let mut set = match self.slot.overflow_policy {
            Some(overflow_policy) => self.apply_overflow_policy(overflow_policy, set, format),
            None => set,
        };
        let zeros = RankRange::new(-1, 0);
        if set.has_nan() && env.not_nan {
            self.derivation
                .note(|| "a permitted result is a NaN, which is assumed not to occur: anything is permitted".into());
            return Set::anything();
        }
        if env.nsz && set.meets(zeros) {
            set.insert(zeros);
        }
        let edge = format.min_normal();
        let denormal = tiny || set.meets(RankRange::new(1, edge - 1)) || set.meets(RankRange::new(-edge, -2));
        let set = self.flush(set, denormal, env.flush_results);
        if has_infinity(&set, format) {
            if env.overflow_is_anything() {
                self.derivation.note(|| "a permitted result overflows: an indeterminate value".into());
                return Set::anything();
            }
            if self.lenient && env.not_inf {
                self.doubt.set(Some(OVERFLOW));
                return Set::anything();
            }
        }
        set
    }

    /// Treatment of values out of range in a conversion to float8.
    fn apply_overflow_policy(&self, overflow_policy: OverflowPolicy, set: Set, format: Format) -> Set {
        if has_infinity(&set, format) {
            self.derivation.note(|| overflow_policy.words().into());
        }
        overflow_policy.applied(set, format)
    }

    /// Flushes a result that may be denormal.
    fn flush(&self, mut set: Set, denormal: bool, flush: Flush) -> Set {
        if !denormal || set.is_anything() {
            return set;
        }
        match flush {
            Flush::Never => {}
            Flush::May => {
                self.derivation.note(|| "a denormal result may be flushed: zero joins, with either sign".into());
                set.insert(RankRange::new(-1, 0));
            }
            Flush::Must if self.lenient && self.slot.demanded_zero_in_doubt().is_some() => {
                self.doubt.set(self.slot.demanded_zero_in_doubt());
                set.insert(RankRange::new(-1, 0));
            }
            Flush::Must => {
                self.derivation.note(|| "DenormFlushToZero: a denormal result must be zero, with either sign".into());
                let edge = self.slot.env.format.min_normal();
                set.remove(RankRange::new(-edge, edge - 1));
                if self.half(&[0]).is_some() {
                    set = Set::empty();
                }
                set.insert(RankRange::new(-1, 0));
            }
        }
        set
    }
}

fn has_infinity(set: &Set, format: Format) -> bool {
    set.meets(RankRange::point(format.infinity())) || set.meets(RankRange::point(format.neg_infinity()))
}

/// Question about the real result of one evaluation.
struct RealQuery<'a> {
    evaluation: &'a Evaluation<'a>,
    x: &'a [u64],
    env: Environment,
    /// Formula, and the hull of its results and those of its equivalents.
    formulas: Option<(&'a Formula, RankInterval)>,
    mark: (usize, usize),
}

/// Answer to [`RealQuery`].
struct RealAnswer {
    /// Permitted values, before the environment is applied to the result.
    range: Result<RankInterval, Stop>,
    tiny: bool,
    exact: Option<String>,
    margin: Option<f64>,
}

impl EnclosureQuery for RealQuery<'_> {
    type Answer = RealAnswer;

    fn evaluate<R: Enclosure>(&self, precision: R::Precision) -> Result<RealAnswer, Undecided> {
        self.evaluation.derivation.rewind(self.mark);
        match self.point::<R>(precision).and_then(|point| Ok(self.describe(point, precision)?)) {
            Ok(found) => Ok(found),
            Err(Stop::Undecided) => Err(Undecided),
            Err(stop) => Ok(RealAnswer { range: Err(stop), tiny: false, exact: None, margin: None }),
        }
    }
}

impl RealQuery<'_> {
    fn point<R: Enclosure>(&self, precision: R::Precision) -> Result<PointBound<R>, Stop> {
        let RealQuery { evaluation, x, env, .. } = self;
        let slot = evaluation.slot;
        let constant = |value| R::exact(value, precision);
        let values = || -> SmallVec<[R; 8]> { (0..x.len()).map(|i| constant(slot.value(x, i))).collect() };
        if let Some((formula, found)) = self.formulas {
            return formula.around(&values(), found, env, precision, evaluation.derivation);
        }
        match &slot.rule {
            ResultRule::Unpack { signed, width } => {
                let k = Dyadic::int((1i64 << (width - u32::from(*signed))) - 1);
                let bits = slot.part(x[0], *width);
                let value =
                    if *signed { (bits << (64 - width)).cast_signed() >> (64 - width) } else { bits.cast_signed() };
                // WGSL defines the least pattern as `max(v / k, -1)` and states an error of that;
                // Vulkan clamps the result.
                let wgsl = env.specification == Specification::Wgsl;
                let value = if wgsl && *signed { value.max(1 - (1i64 << (width - 1))) } else { value };
                let mut point = RealOp::Unpack.point(&[constant(Dyadic::int(value)), constant(k)], env, precision)?;
                if *signed && !wgsl {
                    let one = env.format.rank_of_one();
                    let clamp = |rank: i64| rank.clamp(-1 - one, one);
                    point.interval = RankInterval { lo: clamp(point.interval.lo), hi: clamp(point.interval.hi) };
                }
                Ok(point)
            }
            ResultRule::UnpackHalf => {
                let value = F16.value(slot.part(x[0], 16)).unwrap_or(Dyadic::ZERO);
                RealOp::Convert.point(&[constant(value)], env, precision)
            }
            ResultRule::Real(real) => {
                let point = real.point(&values(), env, precision)?;
                if slot.overflow_policy.is_none_or(|overflow_policy| overflow_policy == OverflowPolicy::Largest)
                    || !float8::is_out_of_range(&point.exact, env.format, precision)?
                {
                    return Ok(point);
                }
                if evaluation.lenient {
                    evaluation.doubt.set(Some(float8::ROUNDED_DOWN));
                    return Ok(point);
                }
                let positive = point.interval.hi >= env.format.infinity();
                let rank = if positive { env.format.infinity() } else { env.format.neg_infinity() };
                Ok(PointBound { interval: RankInterval::point(rank), ..point })
            }
            ResultRule::Discrete(_) | ResultRule::Formula(_) | ResultRule::Measured => {
                unreachable!("not judged by distance")
            }
        }
    }

    fn describe<R: Enclosure>(&self, point: PointBound<R>, precision: R::Precision) -> Result<RealAnswer, Undecided> {
        let RealQuery { evaluation, x, env, .. } = self;
        let PointBound { interval, exact, bound } = point;
        let format = env.format;
        let magnitude = exact.abs();
        let edge = format.min_normal();
        // The exact result can only be tiny if the range comes close to the denormals.
        let tiny = interval.lo <= edge
            && interval.hi >= -1 - edge
            && magnitude.compare(&R::exact(Dyadic::ZERO, precision))? == Ordering::Greater
            && magnitude.compare(&R::exact(Dyadic::pow2(format.min_normal_exponent()), precision))? == Ordering::Less;
        let margin = evaluation.got.filter(|&got| format.is_finite(got)).map(|got| {
            // Results on both sides of Atan2's cut are equally far from their own exact value.
            let got = if special_values::at_cut(evaluation.slot, x) { got & format.magnitude_mask() } else { got };
            let value = format.value(got).unwrap_or(Dyadic::ZERO);
            let error = exact.sub(&R::exact(value, precision)).abs().approximate();
            if error == 0.0 { 0.0 } else { error / bound.approximate() }
        });
        let described = evaluation.derivation.is_recording().then(|| exact.decimal(25));
        evaluation.derivation.note(|| {
            let limit = match evaluation.slot.is_rounded() {
                true => "correctly rounded".to_owned(),
                false => format!("error of at most {}", bound.decimal(6)),
            };
            format!("exact value {}, {limit}: {}", exact.decimal(25), display::interval(interval, format))
        });
        Ok(RealAnswer { range: Ok(interval), tiny, exact: described, margin })
    }
}

impl ResultSlot {
    /// Returns true if the rule is correct rounding of the exact value.
    fn is_rounded(&self) -> bool {
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
