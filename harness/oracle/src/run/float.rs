//! Floating-point instructions on lanes: directly where operands are ordinary, else by the precision table.

use super::Run;
use super::lanes::{Column, Lanes};
use crate::direct::{self, Action, Direct, Range};
use crate::few::Few;
use crate::form::Form;
use crate::inst::Reg;
use crate::outcome::{CauseKind, FaultKind};
use crate::round::{Real, value};
use crate::site::{Chain, Reading, Site};
use crate::ty::{Fmt, Kind};
use crate::value::{ALTERNATIVES, Floats, Value};
use assay_float::{Rank, Set};
use assay_precision::{Effort, Lenient, Op, Operand, Permitted, Rules};
use smallvec::SmallVec;

/// A result: value, bits, and how it came about.
type Made = (Value, u64, Form);

impl Run<'_> {
    pub(super) fn float(&mut self, site: u32, dst: Reg, args: &[Reg], lanes: Lanes) {
        let program = self.program;
        let site = &program.sites[site as usize];
        match site.components {
            Some((n, same)) => {
                let mut regs: SmallVec<[Reg; 4]> = args.into();
                for i in 0..n {
                    for (k, reg) in regs.iter_mut().enumerate() {
                        *reg = args[k] + if same >> k & 1 == 1 { 0 } else { i };
                    }
                    // Instructions with several results do not come component by component.
                    self.float_slot(site, 0, dst + i, &regs, lanes);
                }
            }
            None => {
                let operands = args.iter().zip(&site.widths).flat_map(|(reg, n)| *reg..reg + n);
                let operands: Vec<Reg> = operands.collect();
                for slot in 0..site.results.len() {
                    self.float_slot(site, slot, dst + slot as Reg, &operands, lanes);
                }
            }
        }
    }

    fn float_slot(&mut self, site: &Site, slot: usize, dst: Reg, operands: &[Reg], lanes: Lanes) {
        self.last_id = self.last_id.wrapping_add(1).max(1);
        let id = self.last_id;
        self.work += lanes.list.len() as u64 * DIRECT_WORK;
        let mut d = self.take(dst);
        for l in lanes.iter() {
            let made = site.direct.and_then(|direct| self.directly(site, direct, operands, l));
            let (value, bits, form) = match made {
                Some(made) => made,
                None => self.by_table(site, slot, operands, l),
            };
            let keep = matches!(value, Value::Float(_)) || !form.is_leaf();
            d.set(l, bits, value);
            if keep {
                d.set_form(l, Form { id, ..form });
            }
        }
        self.give(dst, d);
    }

    /// The result of an ordinary instruction on ordinary operands.
    #[inline]
    fn directly(&mut self, site: &Site, direct: Direct, operands: &[Reg], lane: usize) -> Option<Made> {
        let mut parts: SmallVec<[Parts; 3]> = SmallVec::new();
        for reg in operands {
            parts.push(parts_of(&self.columns[*reg as usize], lane, direct.from)?);
        }
        let same = match operands {
            [a, b] if a == b => true,
            [a, b] => {
                let [a, b] = [a, b].map(|reg| self.columns[*reg as usize].form(lane));
                a.zip(b).is_some_and(|(a, b)| a.id == b.id)
            }
            _ => false,
        };
        let choices = choices(&parts, same)?;
        if direct.compares() {
            let mut either = (false, false);
            for choice in &choices {
                let (no, yes) = direct.compare(choice[0], choice[1], same)?;
                either = (either.0 || no, either.1 || yes);
            }
            return Some(match either {
                (true, true) => (self.one_of(&[0, 1]), 0, Form::NONE),
                (_, yes) => (Value::Bits, u64::from(yes), Form::NONE),
            });
        }
        let mut floats: Option<Floats> = None;
        let mut overflows = false;
        for choice in &choices {
            let found = direct.apply(choice, same)?;
            let part = Floats { zeros: found.zeros, ..Floats::range(direct.to, found.range.0, found.range.1) };
            floats = Some(floats.map_or_else(|| part.clone(), |all| all.union(&part)));
            overflows |= found.overflows;
        }
        let mut floats = floats?;
        if overflows {
            self.readings_differ = true;
            if self.reading == Reading::Lenient || site.call.rules == Rules::Wgsl {
                return Some((Value::Any(self.cause(CauseKind::NoRequirement)), 0, Form::NONE));
            }
        }
        let (lo, hi) = floats.hull()?;
        let mut form = Form::leaf(value(direct.to, lo), value(direct.to, hi));
        if site.free {
            let x: SmallVec<[Form; 2]> = operands.iter().map(|reg| self.form(*reg, lane, direct.from)).collect();
            let (made, widens) = match (direct.action, &x[..]) {
                // Two products may be fused with their sum, which either neighbour at every step covers.
                (Action::Add, [a, b]) => (a.add(*b, false), a.is_rearranged_with(b)),
                (Action::Sub, [a, b]) => (a.add(*b, true), a.is_rearranged_with(&b.neg())),
                (Action::Mul, [a, b]) => {
                    let long = a.too_long_with(b);
                    let whole = |k: usize| self.leaf(operands[k], lane, direct.from);
                    let (a, b) = if long { (whole(0), whole(1)) } else { (*a, *b) };
                    (a.mul(b), !a.is_leaf() || !b.is_leaf())
                }
                (Action::Div, _) => {
                    let quotient = self.quotient(operands, lane, direct.from, direct.roundings_of_division());
                    quotient.unwrap_or((form, false))
                }
                (Action::Neg, [a]) => (a.neg(), false),
                _ => (form, false),
            };
            form = made;
            let widens = widens || (direct.fusing_matters() && x.iter().any(|form| !form.is_leaf()));
            if widens {
                match rearranged(form, direct.to, direct.errors()) {
                    // An overflow is an indeterminate value in WGSL.
                    Some(all) if site.call.rules == Rules::Wgsl && direct.finish(all).is_some_and(|r| r.overflows) => {
                        return Some((Value::Any(self.cause(CauseKind::NoRequirement)), 0, Form::NONE));
                    }
                    Some(all) => floats = self.widened(floats, all, direct),
                    None => return Some((Value::Any(self.cause(CauseKind::NoRequirement)), 0, Form::NONE)),
                }
            }
        }
        let (value, bits) = Value::of_floats(floats);
        Some((value, bits, form))
    }

    /// The form of an operand.
    fn form(&self, reg: Reg, lane: usize, fmt: Fmt) -> Form {
        let column = &self.columns[reg as usize];
        if let Some(form) = column.form(lane) {
            return *form;
        }
        self.leaf(reg, lane, fmt)
    }

    /// An operand taken as it is computed.
    pub(super) fn leaf(&self, reg: Reg, lane: usize, fmt: Fmt) -> Form {
        let column = &self.columns[reg as usize];
        let ends = range(column, lane, fmt)
            .map_or((f64::NEG_INFINITY, f64::INFINITY), |(lo, hi)| (value(fmt, lo), value(fmt, hi)));
        let constant = ends.0 == ends.1 && self.is_constant(reg);
        let leaf = if constant { Form::constant(ends.0) } else { Form::leaf(ends.0, ends.1) };
        Form { id: column.form(lane).map_or(0, |form| form.id), ..leaf }
    }

    /// What is computed, and what rearranging may make of it.
    fn widened(&mut self, floats: Floats, all: Range, direct: Direct) -> Floats {
        match direct.finish(all) {
            Some(more) => {
                self.readings_differ |= more.overflows;
                let more = Floats { zeros: more.zeros, ..Floats::range(floats.fmt, more.range.0, more.range.1) };
                floats.union(&more)
            }
            None => floats.union(&Floats { zeros: true, ..Floats::range(floats.fmt, all.0, all.1) }),
        }
    }

    /// The result by the precision table.
    fn by_table(&mut self, site: &Site, slot: usize, operands: &[Reg], lane: usize) -> Made {
        self.work += TABLE_WORK;
        let mut given: SmallVec<[Operand; 4]> = SmallVec::new();
        for (reg, kind) in operands.iter().zip(&site.operands) {
            let column = &self.columns[*reg as usize];
            let bits = column.bits[lane];
            given.push(match column.value(lane) {
                Value::Bits => Operand::Bits(bits),
                Value::Any(cause) => return (Value::Any(*cause), 0, Form::NONE),
                Value::Few(few) => Operand::Set(set_of(*kind, &few.distinct())),
                Value::Float(floats) if *kind == Kind::Float(floats.fmt) => Operand::Set(floats.set()),
                Value::Float(floats) => match floats.few() {
                    Some(all) => Operand::Set(set_of(*kind, &all)),
                    None => return (Value::Any(self.cause(CauseKind::Precision)), 0, Form::NONE),
                },
            });
        }
        if let Some(cause) = self.undefined_conversion(site, &given, lane) {
            return (Value::Any(cause), 0, Form::NONE);
        }
        if let Some(made) = self.inherited(site, slot, operands, lane) {
            return self.as_chain(site, slot, operands, lane, made);
        }
        let sets = given.iter().any(|operand| matches!(operand, Operand::Set(_)));
        let over = match self.effort(if sets { search_cost(site.call.op) } else { 0 }) {
            Some(effort) => site.reference.permitted_with(effort, slot, &given),
            None => return (Value::Any(self.cause(CauseKind::Precision)), 0, Form::NONE),
        };
        let set = self.reading(over.permitted);
        if set.is_anything() && over.tightness == assay_precision::Tightness::Enclosure {
            return (Value::Any(self.cause(CauseKind::Precision)), 0, Form::NONE);
        }
        let (value, bits) = self.value_of_set(site.results[slot], &set);
        self.as_chain(site, slot, operands, lane, (value, bits))
    }

    /// How a search of that cost is done; `None` beyond the budget.
    fn effort(&mut self, cost: u64) -> Option<Effort> {
        let share = self.limits.searches / self.group_count().max(1);
        if cost == 0 || self.searches + cost <= share {
            self.searches += cost;
            return Some(Effort::Search);
        }
        self.enclosures += cost / ENCLOSURES_PER_SEARCH;
        (self.enclosures <= share).then_some(Effort::Enclose)
    }

    /// Adds to a sum of products or a quotient what rearranging it with its operands may make of it.
    fn as_chain(&mut self, site: &Site, slot: usize, operands: &[Reg], lane: usize, made: (Value, u64)) -> Made {
        let (result, bits) = made;
        let Kind::Float(fmt) = site.results[slot] else { return (result, bits, Form::NONE) };
        let Ok(floats) = result.floats(bits, fmt) else { return (result, bits, Form::NONE) };
        // A NaN has no value that a chain could be enclosed by.
        let (lo, hi) =
            floats.hull().map_or((f64::NEG_INFINITY, f64::INFINITY), |(lo, hi)| (value(fmt, lo), value(fmt, hi)));
        let leaf = Form::leaf(lo, hi);
        let env = site.reference.environment(slot);
        let (form, deep) = match site.chain(slot) {
            _ if !site.free => return (result, bits, leaf),
            Some(chain) => self.summed(&chain, operands, lane, fmt),
            None if site.call.op == Op::FDiv => {
                let quotient = self.quotient(operands, lane, fmt, direct::roundings_of_division(fmt, &env));
                quotient.unwrap_or((leaf, false))
            }
            None => return (result, bits, leaf),
        };
        if !deep {
            return (result, bits, form);
        }
        let all = rearranged(form, fmt, direct::errors(fmt, &env));
        match all {
            Some((lo, hi)) => {
                let more = Floats { zeros: true, ..Floats::range(fmt, lo, hi) };
                let near_zero = direct::meets_small(fmt, (lo, hi));
                let more = if near_zero { more } else { Floats { zeros: false, ..more } };
                let (value, bits) = Value::of_floats(floats.union(&more));
                (value, bits, form)
            }
            None => (Value::Any(self.cause(CauseKind::NoRequirement)), 0, Form::NONE),
        }
    }

    /// The form of a quotient, and whether an operand is computed itself; `None` where the divisor may be zero.
    fn quotient(&self, operands: &[Reg], lane: usize, fmt: Fmt, roundings: u32) -> Option<(Form, bool)> {
        let [dividend, divisor] = *operands else { return None };
        let (mut a, mut b, whole) =
            (self.form(dividend, lane, fmt), self.form(divisor, lane, fmt), self.leaf(divisor, lane, fmt));
        if a.too_long_with(&b) {
            (a, b) = (self.leaf(dividend, lane, fmt), whole);
        }
        Some((a.over(&b, &whole, roundings)?, !a.is_leaf() || !b.is_leaf()))
    }

    /// The form of a sum of products, and whether there is something to be rearranged in it: a factor that is computed itself, or
    /// one that two products have in common.
    fn summed(&self, chain: &Chain, operands: &[Reg], lane: usize, fmt: Fmt) -> (Form, bool) {
        let mut deep = false;
        let mut sum: Option<Form> = None;
        let mut products: SmallVec<[Form; 4]> = SmallVec::new();
        for (a, b, negative) in chain {
            let mut product = self.form(operands[*a], lane, fmt);
            deep |= !product.is_leaf();
            if let Some(b) = b {
                let mut other = self.form(operands[*b], lane, fmt);
                deep |= !other.is_leaf();
                if product.too_long_with(&other) {
                    product = self.leaf(operands[*a], lane, fmt);
                    other = self.leaf(operands[*b], lane, fmt);
                }
                product = product.mul(other);
            }
            let summand = if *negative { product.neg() } else { product };
            deep |= products.iter().any(|before| before.is_rearranged_with(&summand));
            products.push(summand);
            sum = Some(match sum {
                None => summand,
                Some(sum) => sum.add(product, *negative),
            });
        }
        (sum.unwrap_or(Form::NONE), deep)
    }

    /// The set of the reading that this run follows.
    fn reading(&mut self, permitted: Permitted) -> Set {
        match (self.reading, permitted.lenient) {
            (_, None) => permitted.usual,
            (Reading::Usual, Some(_)) => {
                self.readings_differ = true;
                permitted.usual
            }
            (Reading::Lenient, Some(Lenient { set, .. })) => set,
        }
    }

    /// The cause, if a conversion to an integer has, or may have, undefined behaviour.
    fn undefined_conversion(&mut self, site: &Site, given: &[Operand], lane: usize) -> Option<u32> {
        if !site.converts_to_integer() {
            return None;
        }
        let fmt = site.fmt()?;
        let format = fmt.format();
        let (ends, sure) = match &given[0] {
            Operand::Bits(bits) => ([*bits, *bits], true),
            Operand::Set(set) => {
                let hull = set.hull()?;
                ([format.bits(hull.lo), format.bits(hull.hi)], !set.has_nan())
            }
        };
        let [lo, hi] = ends.map(|bits| site.call.is_defined(&[bits]));
        if lo && hi && sure {
            return None;
        }
        // All members are beyond the same end, or there is only one.
        let all =
            sure && !lo && !hi && (ends[0] == ends[1] || format.is_negative(ends[0]) == format.is_negative(ends[1]));
        if !all {
            return Some(self.cause(CauseKind::Precision));
        }
        let shown = format.to_f64(ends[0]);
        Some(self.fault(FaultKind::Conversion, lane, || format!("{shown} by {}", site.call.op)))
    }

    /// A set of the table as a value.
    fn value_of_set(&mut self, kind: Kind, set: &Set) -> (Value, u64) {
        if set.is_anything() || set.is_empty() {
            return (Value::Any(self.cause(CauseKind::NoRequirement)), 0);
        }
        if let Kind::Float(fmt) = kind {
            return Value::of_floats(Floats::from_set(fmt, set));
        }
        let few = set.len().is_some_and(|n| n <= ALTERNATIVES as u64);
        let all = set.ranges().iter().flat_map(|r| r.lo..=r.hi).take(ALTERNATIVES + 1).map(i64::cast_unsigned);
        let found = if few { Value::of_patterns(all.collect()) } else { None };
        let (value, bits) = found.unwrap_or_else(|| (Value::Any(self.cause(CauseKind::Precision)), 0));
        (self.numbered(value), bits)
    }
}

/// The least range of ranks around an operand; `None` with NaNs.
#[inline]
fn range(column: &Column, lane: usize, fmt: Fmt) -> Option<Range> {
    match column.value(lane) {
        Value::Bits => {
            let (format, bits) = (fmt.format(), column.bits[lane]);
            (!format.is_nan(bits)).then(|| (format.rank(bits), format.rank(bits)))
        }
        Value::Float(floats) if floats.fmt == fmt && !floats.nan => floats.hull(),
        Value::Few(few) => {
            let points = points(few, fmt)?;
            Some((points.iter().copied().min()?, points.iter().copied().max()?))
        }
        Value::Float(_) | Value::Any(_) => None,
    }
}

/// The ranks of a few patterns; `None` with NaNs.
fn points(few: &Few, fmt: Fmt) -> Option<SmallVec<[Rank; ALTERNATIVES]>> {
    let format = fmt.format();
    few.distinct().iter().map(|bits| (!format.is_nan(*bits)).then(|| format.rank(*bits))).collect()
}

/// The ranges of ranks that an operand is made of.
type Parts = SmallVec<[Range; 2]>;

/// The parts of an operand; `None` with NaNs.
#[inline]
fn parts_of(column: &Column, lane: usize, fmt: Fmt) -> Option<Parts> {
    match column.value(lane) {
        Value::Float(floats) if floats.is_apart() => {
            let whole = floats.fmt == fmt && !floats.nan;
            whole.then(|| floats.set().ranges().iter().map(|part| (part.lo, part.hi)).collect())
        }
        Value::Few(few) => Some(points(few, fmt)?.into_iter().map(|rank| (rank, rank)).collect()),
        _ => range(column, lane, fmt).map(|range| [range].into_iter().collect()),
    }
}

/// Every choice of parts, one of each operand; the same of both if they are one value. `None` if they are too many.
#[inline]
fn choices(parts: &[Parts], same: bool) -> Option<SmallVec<[SmallVec<[Range; 3]>; 1]>> {
    if let ([a, b], true) = (parts, same) {
        return (a.len() <= CHOICES).then(|| a.iter().zip(b).map(|(a, b)| [*a, *b].into_iter().collect()).collect());
    }
    let mut all: SmallVec<[SmallVec<[Range; 3]>; 1]> = [SmallVec::new()].into_iter().collect();
    for operand in parts {
        if all.len() * operand.len() > CHOICES {
            return None;
        }
        let with = |part: &Range| {
            let part = *part;
            all.iter().map(move |chosen| chosen.iter().copied().chain([part]).collect())
        };
        all = operand.iter().flat_map(with).collect::<SmallVec<[SmallVec<[Range; 3]>; 1]>>();
    }
    Some(all)
}

/// Patterns as a set of the table.
fn set_of(kind: Kind, patterns: &[u64]) -> Set {
    let mut set = Set::empty();
    for bits in patterns {
        match kind {
            Kind::Float(fmt) if fmt.format().is_nan(*bits) => set.insert_nan(),
            Kind::Float(fmt) => set.insert(assay_float::RankRange::point(fmt.format().rank(*bits))),
            Kind::Bool | Kind::Int { .. } | Kind::Pointer | Kind::Handle => {
                set.insert(assay_float::RankRange::point(bits.cast_signed()));
            }
        }
    }
    set
}

/// The values within a chain's error of its exact value; `None` if some arrangement may overflow on the way.
pub(super) fn rearranged(form: Form, fmt: Fmt, (unit, lost): (f64, f64)) -> Option<Range> {
    let error = form.error(unit, lost);
    let format = fmt.format();
    let max = value(fmt, format.max_finite());
    // A bound that is a NaN, of nothing times something without a bound, is none: it must not get lost in a maximum.
    let fits = |bound: f64| bound < max;
    // Dividing by one divisor after another is dividing by their product, for which there may be no requirement.
    let stated = value(fmt, format.max_finite()).log2().ceil() - 2.0;
    if form.divided.0.max(form.divided.1) > stated.exp2() {
        return None;
    }
    if !fits(form.sum + error) || (form.degree > 2 && !fits(form.peak)) {
        return None;
    }
    let (lo, hi) = ((form.lo - error).next_down(), (form.hi + error).next_up());
    // The least value that is not below, the greatest that is not above.
    let (lo, hi) = (Real::exact(lo).neighbours(fmt).1, Real::exact(hi).neighbours(fmt).0);
    Some((lo.min(hi), hi.max(lo)))
}

/// So many choices of parts are worked out here, more of them by the table.
const CHOICES: usize = 8;

/// What an instruction on floats counts as beside itself: see [`Limits::work_per_group`](crate::Limits::work_per_group).
const DIRECT_WORK: u64 = 7;

/// The same of one that the table is asked for.
const TABLE_WORK: u64 = 248;

/// How many enclosures cost what one search does.
const ENCLOSURES_PER_SEARCH: u64 = 30;

/// What the table's search over sets costs, in milliseconds as measured; nothing where it is quick.
fn search_cost(op: Op) -> u64 {
    match op {
        Op::Tanh => 300,
        Op::Asin | Op::Acos | Op::Asinh | Op::Acosh => 50,
        Op::SmoothStep => 20,
        Op::FMix | Op::Atanh => 6,
        Op::Sinh | Op::Cosh | Op::Tan => 4,
        Op::Pow | Op::Sqrt | Op::FRem | Op::FMod => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_is_none_is_not_lost() {
        let nothing_times_anything = Form::leaf(f64::NEG_INFINITY, f64::INFINITY).mul(Form::leaf(0.0, 0.0));
        let sum = nothing_times_anything.add(Form::leaf(1.0, 1.0), false);
        for fmt in [Fmt::F16, Fmt::F32] {
            assert_eq!(rearranged(sum, fmt, (2f64.powi(-10), 0.0)), None);
        }
    }
}
