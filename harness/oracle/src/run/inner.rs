//! Instructions that are computed by a formula, of operands that are chains themselves: `smoothstep(0.1, 1.0, 2.0 * x - 1.0)` may take
//! 1.1 from `2.0 * x`. That an instruction may be rearranged inside is what only a lenient reading says: "the mathematical properties
//! governing the expressions" speaks of expressions, and the formula is what its error is inherited from.

use super::Run;
use super::float::{least_normal, rearranged, search_cost};
use crate::direct;
use crate::form::{Form, Reach};
use crate::inst::Reg;
use crate::round::value;
use crate::site::{Reading, Site};
use crate::ty::Fmt;
use assay_float::Rank;
use assay_precision::Chains;
use smallvec::SmallVec;

/// It is not followed in which ways a result may come about.
pub(super) struct Unfollowed;

impl Run<'_> {
    /// How a result came about whose formula is rearranged with what made its operands, and what it is used in, and whether an operand is
    /// computed itself; `None` where it came about by itself. `leaf`: the result taken as it is computed.
    pub(super) fn inner(
        &mut self,
        site: &Site,
        slot: usize,
        operands: &[Reg],
        lane: usize,
        leaf: Form,
    ) -> Result<Option<(Form, bool)>, Unfollowed> {
        let Some(fmt) = site.fmt() else { return Ok(None) };
        if !site.freedom.transforms || site.call.modes.relaxed || !site.reference.takes_apart(slot) {
            return Ok(None);
        }
        let computed = operands.iter().any(|reg| self.is_computed(*reg, lane));
        if self.reading == Reading::Usual {
            self.readings_differ |= computed;
            return Ok(Some((Form { cut: true, ..leaf }, false)));
        }
        if computed && self.effort(search_cost(site.call.op)).is_none() {
            return Err(Unfollowed);
        }
        let env = site.reference.environment(slot);
        let (errors, roundings) = (direct::errors(fmt, &env), direct::roundings_of_division(fmt, &env));
        let apart: SmallVec<[Form; 8]> = operands.iter().map(|reg| self.form(*reg, lane, fmt)).collect();
        match site.reference.chained(slot, &Forms { fmt, errors, roundings, reach: self.reach(fmt) }, &apart) {
            // What is inherited lies as far from the exact result on one side as it may on the other.
            Some(form) if form.is_leaf() && computed => {
                let more = form.hi - form.lo;
                Ok(Some((Form::leaf(form.lo - more, form.hi + more), true)))
            }
            Some(form) if !form.is_leaf() => Ok(Some((form, computed))),
            None if computed => Err(Unfollowed),
            _ => Ok(None),
        }
    }

    /// How long a product of this run's reading may become.
    pub(super) fn reach(&self, fmt: Fmt) -> Reach {
        match self.reading {
            Reading::Usual => Reach::USUAL,
            Reading::Lenient => Reach::lenient(fmt.format().fraction_bits),
        }
    }
}

/// Formulas in forms.
struct Forms {
    fmt: Fmt,
    errors: (f64, f64),
    /// Of a division.
    roundings: u32,
    reach: Reach,
}

impl Chains for Forms {
    type Chain = Form;

    fn constant(&self, value: f64) -> Form {
        Form::constant(value)
    }

    fn between(&self, lo: Rank, hi: Rank) -> Form {
        Form::leaf(value(self.fmt, lo), value(self.fmt, hi))
    }

    fn add(&self, a: &Form, b: &Form) -> Form {
        a.add(*b, false)
    }

    fn mul(&self, a: &Form, b: &Form) -> Option<Form> {
        a.times(*b, self.reach)
    }

    fn div(&self, a: &Form, b: &Form) -> Option<Form> {
        let whole = self.computed(b).map(|(lo, hi)| self.between(lo, hi))?;
        if a.too_long_over(b, self.reach) { None } else { a.over(b, &whole, self.roundings) }
    }

    fn neg(&self, a: &Form) -> Form {
        a.neg()
    }

    fn either(&self, a: &Form, b: &Form) -> Form {
        a.either(*b)
    }

    fn computed(&self, a: &Form) -> Option<(Rank, Rank)> {
        let (lo, hi) = rearranged(*a, self.fmt, self.errors)?;
        let flushed = a.may_be_below(least_normal(self.fmt));
        Some(if flushed { (lo.min(-1), hi.max(0)) } else { (lo, hi) })
    }
}
