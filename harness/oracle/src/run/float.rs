//! Floating-point instructions on lanes: directly where operands are ordinary, else by the precision table.

use super::Run;
use super::forms::Arranged;
use super::lanes::{Column, Lanes};
use crate::direct::{self, Direct, Range};
use crate::few::Few;
use crate::form::Form;
use crate::inst::Reg;
use crate::outcome::{CauseKind, FaultKind};
use crate::round::{Real, value};
use crate::site::{Reading, Site};
use crate::ty::{Fmt, Kind};
use crate::value::{ALTERNATIVES, Floats, Value};
use assay_float::{Rank, Set};
use assay_precision::{Effort, Lenient, Op, Operand, Permitted, Rules, relaxed};
use smallvec::SmallVec;

/// A result: value, bits, and how it came about.
pub(super) type Made = (Value, u64, Form);

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
            self.readings_differ = self.readings_differ || self.is_of_cut(site, operands, l);
            let made = site.direct.and_then(|direct| self.directly(site, direct, operands, l));
            let (value, bits, form) = match made {
                Some(made) => made,
                None => self.by_table(site, slot, operands, l),
            };
            let keep = matches!(value, Value::Float(_)) || !form.is_plain();
            d.set(l, bits, value);
            if keep {
                d.set_form(l, Form { id, ..form });
            }
        }
        self.give(dst, d);
    }

    /// Whether an operand was made by more than this reading follows, which another one would rearrange it with.
    fn is_of_cut(&self, site: &Site, operands: &[Reg], lane: usize) -> bool {
        let is_cut = |reg: &Reg| self.columns[*reg as usize].form(lane).is_some_and(|form| form.cut);
        site.freedom.any() && operands.iter().any(is_cut)
    }

    /// The result of an ordinary instruction on ordinary operands.
    #[inline]
    fn directly(&mut self, site: &Site, direct: Direct, operands: &[Reg], lane: usize) -> Option<Made> {
        let mut parts: SmallVec<[Parts; 3]> = SmallVec::new();
        for reg in operands {
            let column = &self.columns[*reg as usize];
            parts.push(match self.unrounded(site, *reg, lane, direct.from) {
                Some(range) => [range].into_iter().collect(),
                None => parts_of(column, lane, direct.from)?,
            });
        }
        if !site.freedom.any() {
            parts = one_by_one(parts);
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
            if let Some((no, yes)) = self.compared(site, direct, operands, lane) {
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
        let leaf = Form::leaf(value(direct.to, lo), value(direct.to, hi));
        let Some(Arranged { form, widens }) = self.arranged(site, direct, operands, lane) else {
            let (value, bits) = Value::of_floats(floats);
            return Some((value, bits, leaf));
        };
        // One that is long is cut by itself.
        self.readings_differ |= form.cut;
        if widens {
            match arrangements(site, form, direct.to, direct.errors()) {
                // An overflow is an indeterminate value in WGSL.
                Some(all) if site.call.rules == Rules::Wgsl && direct.finish(all).is_some_and(|r| r.overflows) => {
                    return Some((Value::Any(self.cause(CauseKind::NoRequirement)), 0, Form::NONE));
                }
                Some(all) => floats = self.widened(floats, (all, form), direct),
                None => return Some((Value::Any(self.cause(CauseKind::NoRequirement)), 0, Form::NONE)),
            }
        }
        let (value, bits) = Value::of_floats(floats);
        Some((value, bits, form))
    }

    /// What is computed, and what rearranging may make of it.
    fn widened(&mut self, floats: Floats, (all, form): (Range, Form), direct: Direct) -> Floats {
        let fmt = floats.fmt;
        match direct.finish(all) {
            Some(more) => {
                self.readings_differ |= more.overflows;
                let zeros = more.zeros || form.may_be_below(least_normal(fmt));
                floats.union(&Floats { zeros, ..Floats::range(fmt, more.range.0, more.range.1) })
            }
            None => floats.union(&with_zeros(fmt, form, all, direct.flushes())),
        }
    }

    /// The result by the precision table.
    fn by_table(&mut self, site: &Site, slot: usize, operands: &[Reg], lane: usize) -> Made {
        self.work += TABLE_WORK;
        let mut given: SmallVec<[Operand; 4]> = SmallVec::new();
        for (reg, kind) in operands.iter().zip(&site.operands) {
            let column = &self.columns[*reg as usize];
            let bits = column.bits[lane];
            if let Kind::Float(fmt) = *kind
                && let Some((lo, hi)) = self.unrounded(site, *reg, lane, fmt)
            {
                given.push(Operand::Set(Set::range(lo, hi)));
                continue;
            }
            let value = column.value(lane).clone();
            match self.given(&value, bits, *kind) {
                Ok(operand) => given.push(operand),
                Err(cause) => return (Value::Any(cause), 0, Form::NONE),
            }
        }
        if let Some(cause) = self.undefined_conversion(site, &given, lane) {
            return (Value::Any(cause), 0, Form::NONE);
        }
        if let Some(made) = self.inherited(site, slot, operands, lane) {
            return self.as_chain(site, slot, operands, lane, made);
        }
        let made = self.of_table(site, slot, &given);
        self.as_chain(site, slot, operands, lane, made)
    }

    /// What the table permits.
    fn of_table(&mut self, site: &Site, slot: usize, given: &[Operand]) -> (Value, u64) {
        let sets = given.iter().any(|operand| matches!(operand, Operand::Set(_)));
        let over = match self.effort(if sets { search_cost(site.call.op) } else { 0 }) {
            Some(effort) => site.reference.permitted_with(effort, slot, given),
            None => return (Value::Any(self.cause(CauseKind::Precision)), 0),
        };
        let set = self.reading(over.permitted);
        if set.is_anything() && over.tightness == assay_precision::Tightness::Enclosure {
            return (Value::Any(self.cause(CauseKind::Precision)), 0);
        }
        self.value_of_set(site.results[slot], &set)
    }

    /// What the table permits of values of the operands' kinds.
    pub(super) fn permitted(&mut self, site: &Site, slot: usize, of: &[(&Value, u64)]) -> (Value, u64) {
        let mut given: SmallVec<[Operand; 4]> = SmallVec::new();
        for ((value, bits), kind) in of.iter().zip(&site.operands) {
            match self.given(value, *bits, *kind) {
                Ok(operand) => given.push(operand),
                Err(cause) => return (Value::Any(cause), 0),
            }
        }
        self.of_table(site, slot, &given)
    }

    /// A value of a kind as an operand of the table; the cause, if it cannot be.
    fn given(&mut self, value: &Value, bits: u64, kind: Kind) -> Result<Operand, u32> {
        Ok(match value {
            Value::Bits => Operand::Bits(bits),
            Value::Any(cause) => return Err(*cause),
            Value::Few(few) => Operand::Set(set_of(kind, &few.distinct())),
            Value::Float(floats) if kind == Kind::Float(floats.fmt) => Operand::Set(floats.set()),
            Value::Float(floats) => match floats.few() {
                Some(all) => Operand::Set(set_of(kind, &all)),
                None => return Err(self.cause(CauseKind::Precision)),
            },
        })
    }

    /// How a search of that cost is done; `None` beyond the budget.
    pub(super) fn effort(&mut self, cost: u64) -> Option<Effort> {
        let share = self.limits.searches / self.group_count().max(1);
        if cost == 0 || self.searches + cost <= share {
            self.searches += cost;
            return Some(Effort::Search);
        }
        self.enclosures += cost / ENCLOSURES_PER_SEARCH;
        (self.enclosures <= share).then_some(Effort::Enclose)
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
pub(super) fn range(column: &Column, lane: usize, fmt: Fmt) -> Option<Range> {
    range_of(column.value(lane), column.bits[lane], fmt)
}

/// The same around a value, whose bits these are if it is exact.
#[inline]
pub(super) fn range_of(value: &Value, bits: u64, fmt: Fmt) -> Option<Range> {
    match value {
        Value::Bits => {
            let format = fmt.format();
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

/// Every member a part of its own, if there are not too many choices of them: after an operation that is computed as written its results
/// need not be neighbours. What is rearranged may lie between them, too.
fn one_by_one(parts: SmallVec<[Parts; 3]>) -> SmallVec<[Parts; 3]> {
    let members = |operand: &Parts| operand.iter().map(|(lo, hi)| hi - lo + 1).fold(0i64, i64::saturating_add);
    if parts.iter().map(members).fold(1i64, i64::saturating_mul) > CHOICES as i64 {
        return parts;
    }
    let single = |operand: Parts| operand.iter().flat_map(|(lo, hi)| *lo..=*hi).map(|rank| (rank, rank)).collect();
    parts.into_iter().map(single).collect()
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

/// What an operation may give, whatever way its chain is computed; `None` if some may overflow.
pub(super) fn arrangements(site: &Site, form: Form, fmt: Fmt, errors: (f64, f64)) -> Option<Range> {
    match site.contracted() {
        Some(direct) => (form.lo.is_finite() && form.hi.is_finite()).then(|| direct.between(form.lo, form.hi)),
        None => rearranged(form, fmt, errors),
    }
}

/// Twice the smallest normal number: what is less, but for some roundings, may be flushed.
pub(super) fn least_normal(fmt: Fmt) -> f64 {
    2f64.powi(fmt.format().min_normal_exponent() + 1)
}

/// What rearranging leaves between these, where zeros and denormals are near. If they are flushed, "the denormalized result must be flushed
/// to zero", none is left but where all operations may have been, of an operand that is one.
pub(super) fn with_zeros(fmt: Fmt, form: Form, (lo, hi): Range, flushes: bool) -> Floats {
    let edge = fmt.format().min_normal();
    let zeros = Floats::range(fmt, -1, 0);
    if !flushes || form.least < least_normal(fmt) / 2.0 || !direct::meets_denormals(fmt, (lo, hi)) {
        return Floats { zeros: true, ..Floats::range(fmt, lo, hi) };
    }
    let below = (lo < -edge).then(|| Floats::range(fmt, lo, hi.min(-1 - edge)));
    let above = (hi >= edge).then(|| Floats::range(fmt, lo.max(edge), hi));
    [below, above].into_iter().flatten().fold(zeros, |all, part| all.union(&part))
}

/// The values within a chain's error of its exact value; `None` if some arrangement may overflow on the way, or leave what relaxed
/// precision has a promise for.
pub(super) fn rearranged(form: Form, fmt: Fmt, (unit, lost): (f64, f64)) -> Option<Range> {
    let format = fmt.format();
    // A product one of whose parts is flushed is zero, which its callers add.
    let lost = if form.terms == 1 { 2f64.powi(format.quantum()) } else { lost };
    // An error is left at either end.
    if form.relaxed && !form.stays_within(relaxed::LEAST * 2.0, relaxed::GREATEST / 2.0) {
        return None;
    }
    let error = form.error(if form.relaxed { RELAXED_ERROR } else { unit }, lost);
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

/// The relative error of an operation of relaxed precision: each of two operands may be truncated, and the result is rounded. A little more
/// for the errors of the errors.
const RELAXED_ERROR: f64 = 3.0 * relaxed::PRECISION * 1.02;

/// So many choices of parts are worked out here, more of them by the table.
const CHOICES: usize = 8;

/// What an instruction on floats counts as beside itself: see [`Limits::work_per_group`](crate::Limits::work_per_group).
const DIRECT_WORK: u64 = 7;

/// The same of one that the table is asked for.
const TABLE_WORK: u64 = 248;

/// How many enclosures cost what one search does.
const ENCLOSURES_PER_SEARCH: u64 = 30;

/// What the table's search over sets costs, in milliseconds as measured; nothing where it is quick.
pub(super) fn search_cost(op: Op) -> u64 {
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
