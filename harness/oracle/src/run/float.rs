//! Floating-point instructions on lanes.

use super::Run;
use super::lanes::Lanes;
use crate::inst::Reg;
use crate::outcome::{CauseKind, FaultKind};
use crate::site::{Reading, Site};
use crate::ty::Kind;
use crate::value::{ALTERNATIVES, Floats, Value};
use assay_float::Set;
use assay_precision::{Lenient, Permitted};

/// How many combinations of operands are tried one by one.
const COMBINATIONS: usize = 16;

impl Run<'_> {
    pub(super) fn float(&mut self, site: u32, dst: Reg, args: &[Reg], lanes: Lanes) {
        let site = &self.program.sites[site as usize];
        match site.components {
            Some((n, same)) => {
                let mut regs: Vec<Reg> = args.to_vec();
                for i in 0..n {
                    for (k, reg) in regs.iter_mut().enumerate() {
                        *reg = args[k] + if same >> k & 1 == 1 { 0 } else { i };
                    }
                    // Results of several parts (Modf) do not come component by component.
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
        let mut d = self.take(dst);
        for l in lanes.iter() {
            let (value, bits) = self.float_lane(site, slot, operands, l);
            d.set(l, bits, value);
        }
        self.give(dst, d);
    }

    fn float_lane(&mut self, site: &Site, slot: usize, operands: &[Reg], lane: usize) -> (Value, u64) {
        let mut lists: Vec<Vec<u64>> = Vec::with_capacity(operands.len());
        let mut count = 1usize;
        for reg in operands {
            let column = &self.columns[*reg as usize];
            match column.value(lane).patterns(column.bits[lane]) {
                Ok(all) => {
                    count = count.saturating_mul(all.len());
                    lists.push(all);
                }
                Err(Some(cause)) => return (Value::Any(cause), 0),
                Err(None) => return (Value::Any(self.cause(CauseKind::Precision)), 0),
            }
        }
        if count > COMBINATIONS {
            return (Value::Any(self.cause(CauseKind::Precision)), 0);
        }
        let mut union = Set::empty();
        for index in 0..count {
            let mut rest = index;
            let choose = |list: &Vec<u64>| {
                let chosen = list[rest % list.len()];
                rest /= list.len();
                chosen
            };
            let bits: Vec<u64> = lists.iter().map(choose).collect();
            if !site.call.is_defined(&bits) {
                return (Value::Any(self.undefined_conversion(site, &bits, lane, count == 1)), 0);
            }
            let permitted = site.reference.permitted(slot, &bits);
            union.union_with(&self.reading(permitted));
        }
        self.value_of_set(site.results[slot], &union)
    }

    /// The set of the reading that this run follows.
    pub(super) fn reading(&mut self, permitted: Permitted) -> Set {
        match (self.reading, permitted.lenient) {
            (_, None) => permitted.usual,
            (Reading::Usual, Some(_)) => {
                self.readings_differ = true;
                permitted.usual
            }
            (Reading::Lenient, Some(Lenient { set, .. })) => set,
        }
    }

    /// A conversion to an integer that the value does not fit.
    pub(super) fn undefined_conversion(&mut self, site: &Site, bits: &[u64], lane: usize, sure: bool) -> u32 {
        if !sure {
            return self.cause(CauseKind::Precision);
        }
        let shown = site.fmt().map_or(0.0, |fmt| fmt.format().to_f64(bits[0]));
        self.fault(FaultKind::Conversion, lane, || format!("{shown} by {}", site.call.op))
    }

    /// A set of the table as a value.
    pub(super) fn value_of_set(&mut self, kind: Kind, set: &Set) -> (Value, u64) {
        if set.is_anything() || set.is_empty() {
            return (Value::Any(self.cause(CauseKind::Unspecified)), 0);
        }
        if let Kind::Float(fmt) = kind {
            return Value::of_floats(Floats::from_set(fmt, set));
        }
        let few = set.len().is_some_and(|n| n <= ALTERNATIVES as u64);
        let all = set.ranges().iter().flat_map(|r| r.lo..=r.hi).take(ALTERNATIVES + 1).map(i64::cast_unsigned);
        let found = if few { Value::of_patterns(all.collect()) } else { None };
        found.unwrap_or_else(|| (Value::Any(self.cause(CauseKind::Precision)), 0))
    }
}
