//! Copies, selections and bit casts.

use super::expr::build::bound_of_any;
use super::lanes::{Column, Lanes};
use super::{Run, UNREAD};
use crate::abstract_value::AbstractValue;
use crate::correlated_set::{CorrelatedSet, JointOperands};
use crate::inst::Reg;
use crate::outcome::{CauseKind, FaultKind};
use crate::ty::{Kind, mask};
use assay_precision::FastMath;
use smallvec::SmallVec;
use std::sync::Arc;

impl Run<'_> {
    pub(super) fn copy(&mut self, dst: Reg, src: Reg, n: u32, load: bool, lanes: Lanes) {
        for i in 0..n {
            if dst == src {
                continue;
            }
            let mut d = self.take(dst + i);
            d.copy(&self.columns[(src + i) as usize], lanes);
            if load && d.wide.is_some() {
                self.notice_unwritten(&mut d, lanes);
            }
            self.moved(dst + i, &mut d, lanes);
            self.give(dst + i, d);
        }
    }

    /// Gives unwritten memory its cause at the place where it is read.
    pub(super) fn notice_unwritten(&mut self, column: &mut Column, lanes: Lanes) {
        for l in lanes.iter() {
            if *column.value(l) == AbstractValue::Unknown(UNREAD) {
                let cause = self.cause(CauseKind::Uninitialized);
                column.set(l, 0, AbstractValue::Unknown(cause));
            }
        }
    }

    /// The union of two scalars of a register.
    pub(super) fn union(
        &mut self,
        kind: Kind,
        a: (&AbstractValue, u64),
        b: (&AbstractValue, u64),
    ) -> (AbstractValue, u64) {
        // Memory that was possibly written is not certainly undefined.
        let perhaps = self.is_unwritten(a.0) != self.is_unwritten(b.0);
        let both = if perhaps { None } else { AbstractValue::union(kind, a, b) };
        let (value, bits) = both.unwrap_or_else(|| (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0));
        (self.numbered(value), bits)
    }

    /// Returns true for a value of unwritten memory.
    pub(super) fn is_unwritten(&self, value: &AbstractValue) -> bool {
        matches!(value, AbstractValue::Unknown(cause) if self.log.kind(*cause) == CauseKind::Uninitialized)
    }

    /// The value that a selector selects. `values` are those for each of its distinct patterns,
    /// ascending. The result stays tied to the selector's choices if it is a small set, else it is
    /// the union.
    pub(super) fn picked(
        &mut self,
        kind: Kind,
        selector: &Arc<CorrelatedSet>,
        values: &[(AbstractValue, u64)],
    ) -> (AbstractValue, u64) {
        let apart = || {
            let mut operands = vec![selector.clone()];
            for (value, bits) in values {
                operands.push(value.correlated(*bits).ok().filter(|_| !matches!(value, AbstractValue::Float(_)))?);
            }
            let together = JointOperands::new(&operands)?;
            let keys = selector.distinct();
            let row = |row: &SmallVec<[u64; 4]>| row[1 + keys.binary_search(&row[0]).unwrap_or_default()];
            let results: Vec<u64> = together.rows().iter().map(row).collect();
            together.into_value(results)
        };
        let found = if matches!(kind, Kind::Float(_)) { None } else { apart() };
        if let Some((value, bits)) = found {
            return (self.numbered(value), bits);
        }
        let mut all = values[0].clone();
        for next in &values[1..] {
            all = self.union(kind, (&all.0, all.1), (&next.0, next.1));
        }
        all
    }

    /// A lane of a register.
    pub(super) fn scalar(&self, reg: Reg, lane: usize) -> (AbstractValue, u64) {
        let column = &self.columns[reg as usize];
        (column.value(lane).clone(), column.bits[lane])
    }

    pub(super) fn select(&mut self, dst: Reg, cond: Reg, a: Reg, b: Reg, lanes: Lanes) {
        let kind = self.program.kinds[dst as usize];
        let mut d = self.take(dst);
        let plain = [cond, a, b].iter().all(|reg| self.columns[*reg as usize].is_plain());
        if plain {
            let [cond, a, b] = [cond, a, b].map(|reg| &self.columns[reg as usize].bits);
            d.make_plain(lanes);
            lanes.iter().for_each(|l| d.bits[l] = if cond[l] != 0 { a[l] } else { b[l] });
            self.moved(dst, &mut d, lanes);
            return self.give(dst, d);
        }
        for l in lanes.iter() {
            let condition = &self.columns[cond as usize];
            if *condition.value(l) == AbstractValue::Bits {
                let from = if condition.bits[l] != 0 { a } else { b };
                d.copy_lane(l, &self.columns[from as usize], l);
                continue;
            }
            let (x, y) = (self.scalar(a, l), self.scalar(b, l));
            let (value, bits) = match self.columns[cond as usize].value(l).correlated(0) {
                // The patterns of an undecided boolean: false, true.
                Ok(selector) => self.picked(kind, &selector, &[y, x]),
                Err(Some(cause)) if self.is_undefined(cause) => {
                    if !self.in_doubt && !self.forks.is_weak(l) {
                        self.log.note_decision(self.here, cause);
                    }
                    (AbstractValue::Unknown(cause), 0)
                }
                Err(_) => self.union(kind, (&x.0, x.1), (&y.0, y.1)),
            };
            let bound = bound_of_any(kind, [a, b].iter().map(|reg| (&self.columns[*reg as usize], l)));
            let bound = bound.map(|bound| self.numbered_bound(bound));
            d.set_made(l, (value, bits), bound);
        }
        self.moved(dst, &mut d, lanes);
        self.give(dst, d);
    }

    /// Returns true if the specification requires nothing of values that depend on this cause,
    /// rather than the value being unknown to the oracle. An indeterminate value of WGSL is some
    /// value, whatever depends on it.
    pub(super) fn is_undefined(&self, cause: u32) -> bool {
        match self.log.kind(cause) {
            CauseKind::Unspecified => !self.program.wgsl,
            kind => matches!(kind, CauseKind::Uninitialized | CauseKind::Fault),
        }
    }

    /// `flags`: those that are assumed of the floats among operands and results.
    pub(super) fn recast(
        &mut self,
        (dst, src): (Reg, Reg),
        n: u32,
        widths: (u8, u8),
        flags: Option<FastMath>,
        lanes: Lanes,
    ) {
        let (from, to) = (u32::from(widths.0), u32::from(widths.1));
        let operands = flags.map(|flags| self.loosen_operands((src, n), flags, lanes));
        let total = n * from / to;
        for i in 0..total {
            let mut d = self.take(dst + i);
            if from == to {
                d.copy(&self.columns[(src + i) as usize], lanes);
                self.loosen_result(dst + i, &mut d, flags, lanes);
                self.give(dst + i, d);
                continue;
            }
            let sources: Vec<Reg> = if from > to {
                vec![src + i * to / from]
            } else {
                (0..to / from).map(|k| src + i * (to / from) + k).collect()
            };
            for l in lanes.iter() {
                let free = self.cast_to_anything(&sources, (dst + i, to), flags, l);
                let (value, bits) = free.unwrap_or_else(|| self.recast_one(&sources, (from, to), l, i));
                d.set(l, bits, value);
            }
            self.loosen_result(dst + i, &mut d, flags, lanes);
            self.give(dst + i, d);
        }
        for (reg, column) in (src..).zip(operands.into_iter().flatten()) {
            self.give(reg, column);
        }
    }

    /// Part number `i`, of `to` bits, of scalars of `from` bits.
    fn recast_one(&mut self, sources: &[Reg], (from, to): (u32, u32), lane: usize, i: u32) -> (AbstractValue, u64) {
        let whole = |parts: &[u64]| parts.iter().rev().fold(0, |bits, part| bits << (from % 64) | part);
        let part = |bits: u64| if from > to { bits >> (i * to % from) & mask(to) } else { bits };
        let columns = || sources.iter().map(|reg| &self.columns[*reg as usize]);
        if columns().all(|column| *column.value(lane) == AbstractValue::Bits) {
            let parts: SmallVec<[u64; 4]> = columns().map(|column| column.bits[lane]).collect();
            return (AbstractValue::Bits, part(whole(&parts)));
        }
        let mut operands: SmallVec<[Arc<CorrelatedSet>; 4]> = SmallVec::new();
        for column in columns() {
            match column.value(lane).correlated(column.bits[lane]) {
                Ok(few) => operands.push(few),
                Err(Some(cause)) => return (AbstractValue::Unknown(cause), 0),
                Err(None) => return (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0),
            }
        }
        let found = JointOperands::new(&operands).and_then(|together| {
            let results: Vec<u64> = together.rows().iter().map(|row| part(whole(row))).collect();
            together.into_value(results)
        });
        let (value, bits) = found.unwrap_or_else(|| (AbstractValue::Unknown(self.cause(CauseKind::Precision)), 0));
        (self.numbered(value), bits)
    }

    pub(super) fn extract(&mut self, dst: Reg, src: Reg, n: u32, index: Reg, lanes: Lanes) {
        let kind = self.program.kinds[dst as usize];
        let mut d = self.take(dst);
        for l in lanes.iter() {
            let column = &self.columns[index as usize];
            let found = column.value(l).correlated(column.bits[l]);
            let patterns = found.as_ref().map(|few| few.distinct()).map_err(|cause| *cause);
            match (found, patterns) {
                (Ok(selector), Ok(patterns)) if patterns.iter().all(|p| *p < u64::from(n)) => {
                    if let [one] = patterns[..] {
                        d.copy_lane(l, &self.columns[(src + one as u32) as usize], l);
                        continue;
                    }
                    let values: Vec<_> = patterns.iter().map(|p| self.scalar(src + *p as u32, l)).collect();
                    let made = self.picked(kind, &selector, &values);
                    let sources = patterns.iter().map(|p| (&self.columns[(src + *p as u32) as usize], l));
                    let bound = bound_of_any(kind, sources).map(|bound| self.numbered_bound(bound));
                    d.set_made(l, made, bound);
                }
                (_, patterns) => {
                    let cause = self.bad_index(patterns, n, l);
                    d.set(l, 0, AbstractValue::Unknown(cause));
                }
            }
        }
        self.moved(dst, &mut d, lanes);
        self.give(dst, d);
    }

    fn bad_index(&mut self, found: Result<Vec<u64>, Option<u32>>, n: u32, lane: usize) -> u32 {
        match found {
            // "Otherwise an indeterminate value for T may be returned."
            Ok(_) if self.program.wgsl => self.cause(CauseKind::Unspecified),
            Ok(patterns) if patterns.iter().all(|p| *p >= u64::from(n)) => {
                self.fault(FaultKind::OutOfBounds, lane, || format!("component {} of a vector of {n}", patterns[0]))
            }
            Ok(_) | Err(None) => self.cause(CauseKind::Precision),
            Err(Some(cause)) if self.is_undefined(cause) => self.decided_by(cause, lane),
            Err(Some(cause)) => cause,
        }
    }

    /// Reports undefined behaviour: a lane's address or branch depends on an undefined value.
    pub(super) fn decided_by(&mut self, cause: u32, lane: usize) -> u32 {
        let kind = match self.log.kind(cause) {
            CauseKind::Uninitialized => FaultKind::Uninitialized,
            CauseKind::Fault => return cause,
            _ => FaultKind::UndefinedDecision,
        };
        let from = self.log.causes.get(cause as usize).map(|cause| cause.at);
        let known = self.log.faults.len();
        let cause = self.fault(kind, lane, || "its origin is not known".to_owned());
        if let Some(fault) = self.log.faults.get_mut(known) {
            fault.undefined = from;
        }
        cause
    }

    pub(super) fn insert(&mut self, dst: Reg, src: Reg, n: u32, (value, index): (Reg, Reg), lanes: Lanes) {
        self.copy(dst, src, n, false, lanes);
        for l in lanes.iter() {
            let column = &self.columns[index as usize];
            match column.value(l).patterns(column.bits[l]) {
                Ok(patterns) if patterns.iter().all(|p| *p < u64::from(n)) => {
                    for p in &patterns {
                        let to = dst + *p as u32;
                        self.write_register(to, value, l, patterns.len() > 1);
                    }
                }
                found => {
                    let cause = self.bad_index(found, n, l);
                    for i in 0..n {
                        self.columns[(dst + i) as usize].set(l, 0, AbstractValue::Unknown(cause));
                    }
                }
            }
        }
    }

    /// Writes a lane of a register from another one. If `perhaps` is set, the old value may also
    /// stay.
    pub(super) fn write_register(&mut self, to: Reg, from: Reg, lane: usize, perhaps: bool) {
        if to == from {
            return;
        }
        let mut d = self.take(to);
        let source = &self.columns[from as usize];
        if perhaps {
            let (new, old) = ((source.value(lane).clone(), source.bits[lane]), (d.value(lane).clone(), d.bits[lane]));
            let kind = self.program.kinds[to as usize];
            let bound = bound_of_any(kind, [&d, source].into_iter().map(|column| (column, lane)));
            let made = self.union(kind, (&old.0, old.1), (&new.0, new.1));
            let bound = bound.map(|bound| self.numbered_bound(bound));
            d.set_made(lane, made, bound);
        } else {
            d.copy_lane(lane, source, lane);
        }
        self.moved_lane(to, &mut d, lane);
        self.give(to, d);
    }
}
