//! Permitted set of one result scalar: the rule of its row in the table, with the environment
//! applied around it.
//!
//! The order is that of the specification: operands may be flushed, the rule gives a range of real
//! numbers rounded outward to values of the format, and then the sign of zero, flushing and
//! overflow are applied to the result. Comparisons of real numbers are decided by Ziv's strategy
//! ([`decide`]).

mod discrete_results;
mod environment_effects;
mod real_results;

use crate::{
    Rounding, Specification,
    derivation::Derivation,
    discrete_op::DiscreteOp,
    display,
    environment::Environment,
    relaxed,
    result_slot::{ResultRule, ResultSlot},
    wgsl,
};
use assay_float::{F32, F64, Format, RankRange, Set};
use smallvec::SmallVec;
use std::cell::Cell;

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

const DOUBLE: &str = "of 64-bit operations the text requires only the precision of single";
pub(crate) const FLOORED: &str =
    "WGSL inherits fract from x - floor(x), each step of which may flush a denormal on its own";
const ROUNDED_INSIDE: &str = "of an inherited formula the text says how its denormals follow the declared modes, but not whether its roundings do";
const SEPARATE_USES: &str = "the formula of SmoothStep names its intermediate t once and uses it three times: t may be one value, or computed for each use";
const EQUAL_OPERANDS: &str = "a formula may be transformed into an equivalent one, \"applied to the supplied inputs\": equivalent for all inputs, or for these, of which some are equal, so that distributivity takes a common factor out of the sum";
const REAL_ENDS: &str = "the rules of a formula's operations \"define a range of permitted values\", of which Fmin and Fmax are the ends: the outermost values of the format that the last operation may return, or the real numbers that bound them";
const CLASSIFIED: &str = "without SignedZeroInfNanPreserve the operand is assumed not to be a NaN or an infinity";

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

    fn anything(&self, reason: &str) -> (Set, Option<f64>) {
        self.derivation.note(|| format!("{reason}: anything is permitted"));
        (Set::anything(), None)
    }

    /// Set whose members have the margin 0 and all other results an infinite one.
    fn with_discrete_margin(&self, set: Set) -> (Set, Option<f64>) {
        let margin = self.got.map(|got| if self.holds(&set, got) { 0.0 } else { f64::INFINITY });
        (set, margin)
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
        if matches!(&slot.rule, ResultRule::Formula(formula) if formula.has_real_ends(&env)) {
            self.doubt.set(self.doubt.get().or(Some(REAL_ENDS)));
            env.real_ends = true;
        }
        if matches!(&slot.rule, ResultRule::Formula(formula) if formula.adds_products_of_operands()) {
            self.doubt.set(self.doubt.get().or(Some(EQUAL_OPERANDS)));
            env.equal_operands = true;
        }
        env.zero_unspecified = true;
        env
    }

    fn holds(&self, set: &Set, got: u64) -> bool {
        self.slot.holds(set, got)
    }
}

fn has_infinity(set: &Set, format: Format) -> bool {
    set.meets(RankRange::point(format.infinity())) || set.meets(RankRange::point(format.neg_infinity()))
}
