//! Instructions of inherited precision over sets of several operands, where the table's search for extremes would take too
//! long.
//!
//! What is a sum of products is enclosed as any other chain is (see [`crate::form`]). Lengths go on from there: if `F` encloses
//! what the formula may give for any members, and `X` the exact results, then for every member the error `E` of the rule is at
//! most the largest distance between `F` and `X`, and `[X - E, X + E]` contains what is permitted.

use super::Run;
use super::float::rearranged;
use crate::direct::{self, Range};
use crate::form::Form;
use crate::inst::Reg;
use crate::outcome::CauseKind;
use crate::round::{Real, value};
use crate::site::Site;
use crate::ty::{Fmt, Kind};
use crate::value::{Floats, Value};
use assay_float::Set;
use assay_precision::{Flush, Op, Operand, Rules};

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
        if !is_long(site.call.op) || other || operands.iter().all(exact) {
            return None;
        }
        let env = site.reference.environment(slot);
        if site.call.modes.relaxed || env.flush_results == Flush::Must {
            return Some((Value::Any(self.cause(CauseKind::Precision)), 0));
        }
        let errors = direct::errors(fmt, &env);
        let n = site.widths[0] as usize;
        let leaf = |k: usize| Form { id: k as u32 + 1, ..self.leaf(operands[k], lane, fmt) };
        let range = match site.call.op {
            Op::Length => {
                let squares = (0..n).map(|k| leaf(k).mul(leaf(k)));
                let sum = squares.reduce(|a, b| a.add(b, false));
                sum.and_then(|sum| self.rooted(site, None, sum, fmt, errors))
            }
            Op::Distance => {
                let squares = (0..n).map(|k| {
                    let difference = Form { id: 1, ..leaf(k).add(leaf(n + k), true) };
                    difference.mul(difference)
                });
                let sum = squares.reduce(|a, b| a.add(b, false));
                sum.and_then(|sum| self.rooted(site, None, sum, fmt, errors))
            }
            Op::Normalize => {
                let squares = (0..n).map(|k| leaf(k).mul(leaf(k)));
                let sum = squares.reduce(|a, b| a.add(b, false));
                let factor = leaf(slot);
                sum.and_then(|sum| self.rooted(site, Some(factor), sum, fmt, errors))
            }
            Op::Cross => {
                let (i, j) = ((slot + 1) % 3, (slot + 2) % 3);
                let form = leaf(i).mul(leaf(3 + j)).add(leaf(j).mul(leaf(3 + i)), true);
                rearranged(form, fmt, errors)
            }
            Op::Reflect => {
                let dot = (0..n).map(|k| leaf(k).mul(leaf(n + k))).reduce(|a, b| a.add(b, false));
                let two = Form::leaf(2.0, 2.0);
                dot.and_then(|dot| {
                    let form = leaf(slot).add(two.mul(dot).mul(leaf(n + slot)), true);
                    rearranged(form, fmt, errors)
                })
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
        let Some((lo, hi)) = range else { return Some((Value::Any(self.cause(CauseKind::Precision)), 0)) };
        Some(Value::of_floats(near_zeros(fmt, (lo, hi))))
    }

    /// The range of `sqrt(sum)`, or of `factor / sqrt(sum)`.
    fn rooted(&self, site: &Site, factor: Option<Form>, sum: Form, fmt: Fmt, errors: (f64, f64)) -> Option<Range> {
        let format = fmt.format();
        let (lo, hi) = rearranged(sum, fmt, errors)?;
        // Near zero and infinity the root is another matter.
        if lo <= 4 * format.min_normal() || hi >= format.max_finite() {
            return None;
        }
        let root = site.root.as_ref()?;
        let roots = root.permitted_over(0, &[Operand::Set(Set::range(lo, hi))]).permitted.usual;
        let roots = roots.hull()?;
        if roots.hi >= format.infinity() || roots.lo <= 0 {
            return None;
        }
        let (low, high) = (value(fmt, roots.lo), value(fmt, roots.hi));
        let (exact_low, exact_high) = (sum.lo.max(0.0).sqrt().next_down(), sum.hi.sqrt().next_up());
        let (computed, exact) = match factor {
            None => ((low, high), (exact_low, exact_high)),
            Some(factor) => {
                let product = factor.mul(Form::leaf(low, high));
                let rounding = product.error(errors.0, errors.1);
                let quotients =
                    [factor.lo / exact_low, factor.lo / exact_high, factor.hi / exact_low, factor.hi / exact_high];
                let exact = quotients.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), q| {
                    (lo.min(q.next_down()), hi.max(q.next_up()))
                });
                ((product.lo - rounding, product.hi + rounding), exact)
            }
        };
        let error = (computed.1 - exact.0).max(exact.1 - computed.0).next_up();
        let (lo, hi) = ((exact.0 - error).next_down(), (exact.1 + error).next_up());
        let (lo, hi) = (Real::exact(lo).neighbours(fmt).1, Real::exact(hi).neighbours(fmt).0);
        let finite = lo > format.neg_infinity() && hi < format.infinity() && lo <= hi;
        finite.then_some((lo, hi))
    }
}

/// A range with the zeros that a flush may add.
fn near_zeros(fmt: Fmt, (lo, hi): Range) -> Floats {
    let zeros = direct::meets_denormals(fmt, (lo, hi)) || (lo <= 0 && hi >= -1);
    Floats { zeros, ..Floats::range(fmt, lo, hi) }
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
