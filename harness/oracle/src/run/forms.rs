//! How results came about: what may be rearranged of the operations that made them.

use super::Run;
use super::float::{Made, arrangements, least_normal, range, range_of, rearranged, with_zeros};
use super::inner::Unfollowed;
use super::lanes::Column;
use crate::direct::{self, Action, Direct, Range};
use crate::form::{Form, Reach};
use crate::inst::Reg;
use crate::integer::signed;
use crate::outcome::CauseKind;
use crate::round::{Real, value};
use crate::site::{Chain, Site};
use crate::ty::{Fmt, Kind};
use crate::value::{Floats, Value};
use assay_float::Rank;
use assay_precision::{Flush, Op};
use smallvec::SmallVec;

/// How a result came about.
pub(super) struct Arranged {
    pub(super) form: Form,
    /// Whether there is another way to compute it than operation by operation.
    pub(super) widens: bool,
}

/// What an operand is to its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Summand,
    Factor,
}

impl Run<'_> {
    /// The form of an operand.
    pub(super) fn form(&self, reg: Reg, lane: usize, fmt: Fmt) -> Form {
        let column = &self.columns[reg as usize];
        column.form(lane).copied().unwrap_or_else(|| self.leaf(reg, lane, fmt))
    }

    /// An operand taken as it is computed.
    pub(super) fn leaf(&self, reg: Reg, lane: usize, fmt: Fmt) -> Form {
        let column = &self.columns[reg as usize];
        let leaf = of_lane(column, lane, fmt);
        let constant = leaf.lo == leaf.hi && self.is_constant(reg);
        let leaf = if constant { Form::constant(leaf.lo) } else { leaf };
        Form { id: column.form(lane).map_or(0, |form| form.id), ..leaf }
    }

    /// Whether an operand is a sum or a product itself.
    pub(super) fn is_computed(&self, reg: Reg, lane: usize) -> bool {
        self.columns[reg as usize].form(lane).is_some_and(|form| !form.is_leaf())
    }

    /// The form of an operand as far as the operation may take it apart. Where it is only contracted with it, the operand may be anything
    /// between what it is rounded to and what it is exactly.
    fn operand(&self, site: &Site, part: Part, reg: Reg, lane: usize, fmt: Fmt) -> Form {
        let (form, freedom) = (self.form(reg, lane, fmt), site.freedom);
        let reordered = match part {
            Part::Factor => form.terms == 1,
            Part::Summand => form.terms > 1 || freedom.contracts,
        };
        if form.is_leaf() || freedom.transforms || (freedom.reorders && reordered) {
            return form;
        }
        let leaf = self.leaf(reg, lane, fmt);
        if freedom.contracts {
            let (lo, hi) = (unless_near(form.lo, leaf.lo), unless_near(form.hi, leaf.hi));
            return Form { id: leaf.id, ..Form::leaf(leaf.lo.min(lo), leaf.hi.max(hi)) };
        }
        leaf
    }

    /// How the result of an instruction that is done directly came about; `None` where nothing is known of it but its value.
    #[inline]
    pub(super) fn arranged(&self, site: &Site, direct: Direct, operands: &[Reg], lane: usize) -> Option<Arranged> {
        if !site.followed {
            return None;
        }
        let (fmt, freedom) = (direct.from, site.freedom);
        let summand = |reg: Reg| self.operand(site, Part::Summand, reg, lane, fmt);
        let (form, widens) = match (direct.action, operands) {
            // Two products may be fused with their sum, which either neighbour at every step covers.
            (Action::Add, [a, b]) => {
                let (a, b) = (summand(*a), summand(*b));
                (a.add(b, false), a.is_rearranged_with(&b, freedom.transforms))
            }
            (Action::Sub, [a, b]) => {
                let (a, b) = (summand(*a), summand(*b));
                (a.add(b, true), a.is_rearranged_with(&b.neg(), freedom.transforms))
            }
            (Action::Mul, [a, b]) => {
                let [x, y] = [a, b].map(|reg| self.operand(site, Part::Factor, *reg, lane, fmt));
                match x.times(y, self.reach(fmt)) {
                    Some(product) => (product, !x.is_leaf() || !y.is_leaf()),
                    None => (self.cut_product(*a, *b, lane, fmt), false),
                }
            }
            (Action::Div, [a, b]) => self.quotient(site, (*a, *b), lane, fmt, direct.roundings_of_division())?,
            (Action::Neg, [a]) => (summand(*a).neg(), false),
            _ => {
                let form = self.chosen(site, operands, lane, fmt)?;
                return Some(Arranged { form, widens: false });
            }
        };
        let fuses = direct.fusing_matters() && freedom.contracts;
        let widens = widens || (fuses && operands.iter().any(|reg| self.is_computed(*reg, lane)));
        Some(Arranged { form, widens })
    }

    /// A product that is too long to be multiplied out.
    fn cut_product(&self, a: Reg, b: Reg, lane: usize, fmt: Fmt) -> Form {
        Form { cut: true, ..self.leaf(a, lane, fmt).mul(self.leaf(b, lane, fmt)) }
    }

    /// What a comparison may give that is rearranged with its operands (`x + a < b` is `x < b - a`): false, true. `None` where there is
    /// nothing to be rearranged. SPV_KHR_float_controls2 has its flags for "all core instructions which use any floating-point type for
    /// either operands or result".
    pub(super) fn compared(&self, site: &Site, direct: Direct, operands: &[Reg], lane: usize) -> Option<(bool, bool)> {
        let [a, b] = *operands else { return None };
        let freedom = site.freedom;
        if !freedom.any() || !(self.is_computed(a, lane) || self.is_computed(b, lane)) {
            return None;
        }
        let [x, y] = [a, b].map(|reg| self.operand(site, Part::Summand, reg, lane, direct.from));
        if x.id != 0 && x.id == y.id {
            return None;
        }
        let fuses = direct.fusing_matters() && freedom.contracts;
        if !fuses && !x.is_rearranged_with(&y.neg(), freedom.transforms) {
            return None;
        }
        let errors = if freedom.reorders { direct.errors() } else { (0.0, 0.0) };
        match rearranged(x.add(y, true), direct.from, errors) {
            Some(difference) => direct.compare_difference(difference),
            None => Some((true, true)),
        }
    }

    /// Where a computed operand of a conversion or a rounding function, or a quotient in a sum, need not be rounded itself: all that it may
    /// be rounded to. SPIR-V, `AllowContract`: "Rounding steps may be eliminated".
    pub(super) fn unrounded(&self, site: &Site, reg: Reg, lane: usize, fmt: Fmt) -> Option<Range> {
        let op = site.call.op;
        if !site.freedom.contracts || !(rounds(op) || adds(op)) {
            return None;
        }
        let column = &self.columns[reg as usize];
        let form = column.form(lane).filter(|form| !form.is_leaf())?;
        // `x / y + z` is `x * (1 / y) + z`, fused. Of a product either neighbour of the sum is as good.
        let off = match adds(op) {
            false => 0.0,
            true if site.freedom.transforms && form.is_quotient() => {
                direct::error_of_division(fmt, &site.reference.environment(0))
            }
            true => return None,
        };
        let computed = range(column, lane, fmt)?;
        let (lo, hi) = (form.lo - off * form.lo.abs(), form.hi + off * form.hi.abs());
        let exactly = (around(fmt, lo).0, around(fmt, hi).1);
        let all = (computed.0.min(exactly.0), computed.1.max(exactly.1));
        (all != computed).then_some(all)
    }

    /// How the magnitude, the least or the greatest of operands came about, at least one of which is computed: as that one which it is, if
    /// that is certain, else as any of them.
    fn chosen(&self, site: &Site, operands: &[Reg], lane: usize, fmt: Fmt) -> Option<Form> {
        if !site.freedom.any() || !operands.iter().any(|reg| self.is_computed(*reg, lane)) {
            return None;
        }
        let of = |reg: Reg| Some((self.form(reg, lane, fmt), range(&self.columns[reg as usize], lane, fmt)?));
        let (form, _) = match (site.call.op, operands) {
            (Op::FAbs, [x]) => return Some(self.form(*x, lane, fmt).abs()),
            (Op::FMin | Op::NMin, [x, y]) => extreme(of(*x)?, of(*y)?, false),
            (Op::FMax | Op::NMax, [x, y]) => extreme(of(*x)?, of(*y)?, true),
            (Op::FClamp | Op::NClamp, [x, lo, hi]) => extreme(extreme(of(*x)?, of(*lo)?, true), of(*hi)?, false),
            _ => return None,
        };
        Some(form)
    }

    /// Adds to what the table gives what rearranging it with its operands may make of it.
    pub(super) fn as_chain(
        &mut self,
        site: &Site,
        slot: usize,
        operands: &[Reg],
        lane: usize,
        made: (Value, u64),
    ) -> Made {
        let (result, bits) = made;
        let Kind::Float(fmt) = site.results[slot] else { return (result, bits, Form::NONE) };
        let Ok(floats) = result.floats(bits, fmt) else { return (result, bits, Form::NONE) };
        // A NaN has no value that a chain could be enclosed by.
        let unbounded = (f64::NEG_INFINITY, f64::INFINITY);
        let (lo, hi) = floats.hull().map_or(unbounded, |(lo, hi)| (value(fmt, lo), value(fmt, hi)));
        let leaf = Form::leaf(lo, hi);
        if !site.followed {
            return (result, bits, leaf);
        }
        let env = site.reference.environment(slot);
        let found = match site.chain(slot) {
            Some(chain) => {
                let (form, deep) = self.summed(site, &chain, operands, lane, fmt);
                // Two negations are none, which flushes nothing: one of them is an operation like a product.
                let lost = env.flush_results == Flush::Must && form.is_leaf() && form.least < least_normal(fmt);
                let negated = lost && site.call.op == Op::FNegate;
                Some((if negated { form.mul(Form::constant(1.0)) } else { form }, deep))
            }
            None if site.call.op == Op::FDiv => {
                let by = (operands[0], operands[1]);
                if self.may_lose_divisor(site, by, lane, fmt) {
                    return (Value::Any(self.cause(CauseKind::NoRequirement)), 0, Form::NONE);
                }
                self.quotient(site, by, lane, fmt, direct::roundings_of_division(fmt, &env))
            }
            None => match self.other(site, slot, operands, lane, fmt) {
                Some(found) => Some(found),
                None => match self.inner(site, slot, operands, lane, leaf) {
                    Ok(found) => found,
                    Err(Unfollowed) => return (Value::Any(self.cause(CauseKind::Precision)), 0, Form::NONE),
                },
            },
        };
        // By itself, what is taken as it is computed is that.
        self.readings_differ |= found.is_some_and(|(form, _)| form.cut && !form.is_leaf());
        let found = found.map(|(form, deep)| (Form { relaxed: form.relaxed || site.call.modes.relaxed, ..form }, deep));
        let Some((form, true)) = found else { return (result, bits, found.map_or(leaf, |(form, _)| form)) };
        match arrangements(site, form, fmt, direct::errors(fmt, &env)) {
            Some((lo, hi)) => {
                let near_zero = direct::meets_small(fmt, (lo, hi)) || form.may_be_below(least_normal(fmt));
                let more = if near_zero {
                    with_zeros(fmt, form, (lo, hi), env.flush_results == Flush::Must)
                } else {
                    Floats::range(fmt, lo, hi)
                };
                let (value, bits) = Value::of_floats(floats.union(&more));
                (value, bits, form)
            }
            None => (Value::Any(self.cause(CauseKind::NoRequirement)), 0, Form::NONE),
        }
    }

    /// How an instruction that is neither a sum of products nor a quotient came about, and whether an operand is computed itself.
    fn other(&self, site: &Site, slot: usize, operands: &[Reg], lane: usize, fmt: Fmt) -> Option<(Form, bool)> {
        if let Some(form) = self.chosen(site, operands, lane, fmt) {
            return Some((form, false));
        }
        let (op, free) = (site.call.op, site.freedom.transforms);
        let form = |reg: &Reg| if free { self.form(*reg, lane, fmt) } else { self.leaf(*reg, lane, fmt) };
        let deep = free && operands.iter().any(|reg| self.is_computed(*reg, lane));
        if op == Op::Ldexp {
            let exponent = &self.columns[operands[1] as usize];
            let any = exponent.value(lane).patterns(exponent.bits[lane]).ok()?;
            let x = form(&operands[0]);
            let scaled = |exponent: u64| {
                let by = i32::try_from(signed(32, exponent)).ok().filter(|by| by.unsigned_abs() <= 1000)?;
                x.times(Form::constant(2f64.powi(by)), self.reach(fmt))
            };
            let scaled = any.into_iter().map(scaled).reduce(|a, b| Some(a?.either(b?)))??;
            // Nothing is rounded but what underflows; of a quotient either part may be scaled.
            let small =
                range(&self.columns[operands[0] as usize], lane, fmt).is_none_or(|x| direct::meets_small(fmt, x));
            return Some((Form { degree: x.degree, ..scaled }, deep && (small || x.is_quotient())));
        }
        if !matches!(op, Op::FMix | Op::Reflect) {
            return None;
        }
        let apart: SmallVec<[Form; 8]> = operands.iter().map(form).collect();
        // `x * (1 - a) + y * a` has something to be taken out if `x` is `y` or `a`.
        let common = op == Op::FMix && free && apart[1..].iter().any(|other| apart[0].shares_with(other));
        let deep = deep || common;
        let whole = || operands.iter().map(|reg| self.leaf(*reg, lane, fmt)).collect::<SmallVec<[Form; 8]>>();
        let reach = self.reach(fmt);
        let cut = || formula(op, slot, &whole(), reach).map(|form| Form { cut: true, ..form });
        Some((formula(op, slot, &apart, reach).or_else(cut)?, deep))
    }

    /// The form of a quotient, and whether an operand is computed itself; `None` where the divisor may be zero.
    fn quotient(
        &self,
        site: &Site,
        (dividend, divisor): (Reg, Reg),
        lane: usize,
        fmt: Fmt,
        roundings: u32,
    ) -> Option<(Form, bool)> {
        let part = |reg: Reg| self.operand(site, Part::Factor, reg, lane, fmt);
        let (mut a, mut b, whole) = (part(dividend), part(divisor), self.leaf(divisor, lane, fmt));
        let cut = a.too_long_over(&b, self.reach(fmt));
        if cut {
            (a, b) = (self.leaf(dividend, lane, fmt), whole);
        }
        let form = a.over(&b, &whole, roundings)?;
        Some((Form { cut: cut || form.cut, ..form }, !a.is_leaf() || !b.is_leaf()))
    }

    /// Whether the divisor may be zero, and may be gone once the quotient is rearranged: `(a * b) / a` is `b`, and `(x + y) / y` is
    /// `x / y + 1`.
    fn may_lose_divisor(&self, site: &Site, (dividend, divisor): (Reg, Reg), lane: usize, fmt: Fmt) -> bool {
        let (a, b, whole) =
            (self.form(dividend, lane, fmt), self.form(divisor, lane, fmt), self.leaf(divisor, lane, fmt));
        let zero = b.lo.min(whole.lo) <= 0.0 && b.hi.max(whole.hi) >= 0.0;
        site.freedom.any() && zero && (!a.is_leaf() || !b.is_leaf()) && a.shares_with(&b)
    }

    /// The form of a sum of products, and whether there is something to be rearranged in it: a factor that is computed itself, or
    /// one that two products have in common.
    fn summed(&self, site: &Site, chain: &Chain, operands: &[Reg], lane: usize, fmt: Fmt) -> (Form, bool) {
        let freedom = site.freedom;
        let mut deep = freedom.contracts && operands.iter().any(|reg| self.is_computed(*reg, lane));
        // What is more than leaving out roundings, which relaxed precision permits as it is.
        let mut apart = false;
        let mut sum: Option<Form> = None;
        let mut products: SmallVec<[Form; 4]> = SmallVec::new();
        for (a, b, negative) in chain {
            let part = if b.is_some() { Part::Factor } else { Part::Summand };
            let mut product = self.operand(site, part, operands[*a], lane, fmt);
            deep |= !product.is_leaf();
            if let Some(b) = b {
                let other = self.operand(site, part, operands[*b], lane, fmt);
                deep |= !other.is_leaf();
                apart |= !product.is_leaf() || !other.is_leaf();
                let cut = || self.cut_product(operands[*a], operands[*b], lane, fmt);
                product = product.times(other, self.reach(fmt)).unwrap_or_else(cut);
            }
            let summand = if *negative { product.neg() } else { product };
            apart |= products.iter().any(|before| before.is_rearranged_with(&summand, freedom.transforms));
            products.push(summand);
            sum = Some(match sum {
                None => summand,
                Some(sum) => sum.add(product, *negative),
            });
        }
        let form = sum.unwrap_or(Form::NONE);
        let relaxed = form.relaxed || site.call.modes.relaxed;
        (form, (apart || (deep && !relaxed)) && freedom.any())
    }
}

/// Whether it rounds its operand, to another format or to an integer.
fn rounds(op: Op) -> bool {
    use Op::{Ceil, ConvertFToS, ConvertFToU, FConvert, Floor, Fract, Round, RoundEven, Trunc};
    matches!(op, Ceil | ConvertFToS | ConvertFToU | FConvert | Floor | Fract | Round | RoundEven | Trunc)
}

/// Whether it is a sum that a product may be fused with.
fn adds(op: Op) -> bool {
    matches!(op, Op::FAdd | Op::FSub)
}

/// A number that a form is bounded by; the other one where it is that but for the bound's own rounding.
fn unless_near(bound: f64, other: f64) -> f64 {
    if (bound - other).abs() <= other.abs() * 2f64.powi(-48) { other } else { bound }
}

/// The neighbours of a number that a form is bounded by.
fn around(fmt: Fmt, bound: f64) -> Range {
    let (below, above) = Real::exact(bound).neighbours(fmt);
    let is_one = |rank: &Rank| unless_near(bound, value(fmt, *rank)) != bound;
    [below, above].into_iter().find(is_one).map_or((below, above), |rank| (rank, rank))
}

/// A lane of a register taken as it is computed.
fn of_lane(column: &Column, lane: usize, fmt: Fmt) -> Form {
    of_value(column.value(lane), column.bits[lane], fmt)
}

/// A value taken as it is computed.
pub(super) fn of_value(of: &Value, bits: u64, fmt: Fmt) -> Form {
    let unbounded = (f64::NEG_INFINITY, f64::INFINITY);
    let (lo, hi) = range_of(of, bits, fmt).map_or(unbounded, |(lo, hi)| (value(fmt, lo), value(fmt, hi)));
    Form::leaf(lo, hi)
}

/// How a value that may be any of several lanes of registers came about, if any of them is computed.
pub(super) fn of_any<'a>(kind: Kind, lanes: impl Iterator<Item = (&'a Column, usize)> + Clone) -> Option<Form> {
    let Kind::Float(fmt) = kind else { return None };
    let mut forms = lanes.clone().filter_map(|(column, lane)| column.form(lane));
    if forms.all(|form| form.is_plain()) {
        return None;
    }
    let form =
        |(column, lane): (&Column, usize)| column.form(lane).copied().unwrap_or_else(|| of_lane(column, lane, fmt));
    lanes.map(form).reduce(Form::either)
}

/// The less or the greater of two values with the ranges that they lie between.
fn extreme((x, a): (Form, Range), (y, b): (Form, Range), greatest: bool) -> (Form, Range) {
    let range = if greatest { (a.0.max(b.0), a.1.max(b.1)) } else { (a.0.min(b.0), a.1.min(b.1)) };
    let form = match (a.0 >= b.1, b.0 >= a.1) {
        (true, _) if greatest => x.rather_than(y),
        (true, _) => y.rather_than(x),
        (_, true) if greatest => y.rather_than(x),
        (_, true) => x.rather_than(y),
        _ => x.either(y),
    };
    (form, range)
}

/// What an instruction that inherits its accuracy from a sum of products is; `None` of others, and where it is too long to be multiplied
/// out.
pub(super) fn formula(op: Op, slot: usize, x: &[Form], reach: Reach) -> Option<Form> {
    let product = |a: Form, b: Form| a.times(b, reach);
    match (op, x) {
        (Op::FMix, [x, y, a]) => {
            let rest = Form::constant(1.0).add(*a, true);
            Some(product(*x, rest)?.add(product(*y, *a)?, false))
        }
        (Op::Reflect, _) => {
            let n = x.len() / 2;
            let products = (0..n).map(|k| product(x[k], x[n + k]));
            let dot = products.reduce(|sum, product| Some(sum?.add(product?, false)))??;
            Some(x[slot].add(product(product(Form::constant(2.0), dot)?, x[n + slot])?, true))
        }
        _ => None,
    }
}
