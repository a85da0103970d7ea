//! Instructions of inherited precision over sets of several operands, where the table's search for extremes would take too
//! long.
//!
//! What is a sum of products is enclosed as any other chain is (see [`crate::form`]); lengths have bounds of their own (see
//! [`super::lengths`]), which serve for operands that are known, too, once evaluating the formula for them has taken its time.

use super::Run;
use super::float::rearranged;
use super::forms::formula;
use super::lengths::{Length, Lengths};
use crate::direct::{self, Range};
use crate::form::Form;
use crate::inst::Reg;
use crate::outcome::CauseKind;
use crate::site::{Reading, Site};
use crate::ty::{Fmt, Kind};
use crate::value::{Floats, Value};
use assay_precision::{Flush, Op, Rules};
use smallvec::SmallVec;

impl Run<'_> {
    /// The result of such an instruction; `None` where it is left to the table.
    pub(super) fn inherited(
        &mut self,
        site: &Site,
        slot: usize,
        operands: &[Reg],
        lane: usize,
    ) -> Option<(Value, u64)> {
        let Kind::Float(fmt @ (Fmt::F16 | Fmt::F32)) = site.results[slot] else { return None };
        let exact = |reg: &Reg| *self.columns[*reg as usize].value(lane) == Value::Bits;
        // WGSL normalises by a quotient, which the table evaluates.
        let other = site.call.rules == Rules::Wgsl && site.call.op == Op::Normalize;
        if !is_long(site.call.op) || other {
            return None;
        }
        let known = operands.iter().all(exact);
        if known && (!is_length(site.call.op) || self.may_evaluate()) {
            return None;
        }
        let env = site.reference.environment(slot);
        if site.call.modes.relaxed || env.flush_results == Flush::Must {
            return (!known).then(|| (Value::Any(self.cause(CauseKind::Precision)), 0));
        }
        let errors = direct::errors(fmt, &env);
        let n = site.widths[0] as usize;
        let leaf = |k: usize| Form { id: k as u32 + 1, ..self.leaf(operands[k], lane, fmt) };
        let range = match site.call.op {
            op if is_length(op) => {
                let lengths = Lengths::new(fmt, &env);
                let ranges: SmallVec<[(f64, f64); 8]> = (0..operands.len()).map(leaf).map(|x| (x.lo, x.hi)).collect();
                match site.call.op {
                    Op::Normalize => lengths.direction(&ranges, slot),
                    Op::Length => self.rooted(lengths.length(&ranges)),
                    _ => self.rooted(lengths.distance(&ranges[..n], &ranges[n..])),
                }
            }
            Op::Reflect => {
                let leaves: SmallVec<[Form; 8]> = (0..operands.len()).map(leaf).collect();
                formula(site.call.op, slot, &leaves, self.reach(fmt)).and_then(|form| rearranged(form, fmt, errors))
            }
            // A sum of products: its factors as they are computed.
            _ => site.chain(slot).and_then(|chain| {
                let terms = chain.iter().map(|(a, b, negative)| {
                    let term = b.map_or_else(|| leaf(*a), |b| leaf(*a).mul(leaf(b)));
                    if *negative { term.neg() } else { term }
                });
                let form = terms.reduce(|a, b| a.add(b, false))?;
                rearranged(form, fmt, errors)
            }),
        };
        let Some((lo, hi)) = range else {
            return (!known).then(|| (Value::Any(self.cause(CauseKind::Precision)), 0));
        };
        Some(Value::of_floats(near_zeros(fmt, (lo, hi))))
    }

    /// A length in the reading that this run follows: of the root of zero there are two.
    fn rooted(&mut self, length: Option<Length>) -> Option<Range> {
        let Length { range, may_be_of_zero } = length?;
        self.readings_differ |= may_be_of_zero;
        (!may_be_of_zero || self.reading == Reading::Usual).then_some(range)
    }

    /// Whether a formula may be evaluated for operands that are known.
    fn may_evaluate(&mut self) -> bool {
        self.evaluations += 1;
        // As many as there may be searches: each takes a tenth of the time.
        self.evaluations <= self.limits.searches / self.group_count().max(1)
    }
}

/// A range with the zeros that a flush may add.
fn near_zeros(fmt: Fmt, (lo, hi): Range) -> Floats {
    let zeros = direct::meets_denormals(fmt, (lo, hi)) || (lo <= 0 && hi >= -1);
    Floats { zeros, ..Floats::range(fmt, lo, hi) }
}

/// Whether it has a bound of its own in [`super::lengths`].
fn is_length(op: Op) -> bool {
    matches!(op, Op::Length | Op::Distance | Op::Normalize)
}

/// Whether the instruction depends on so many operands that their combinations are too many.
fn is_long(op: Op) -> bool {
    matches!(
        op,
        Op::Length
            | Op::Distance
            | Op::Normalize
            | Op::Cross
            | Op::Reflect
            | Op::Refract
            | Op::FaceForward
            | Op::Dot
            | Op::MatrixTimesVector
            | Op::VectorTimesMatrix
            | Op::Fma
    )
}
