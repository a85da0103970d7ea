//! Loads and stores of lane-local variables, whose memory is registers.

use crate::abstract_value::AbstractValue;
use crate::inst::Reg;
use crate::outcome::{CauseKind, FaultKind};
use crate::run::Run;
use crate::run::expr::build::bound_of_any;
use crate::run::lanes::Lanes;

impl Run<'_> {
    /// The registers that a pointer to lane-local storage may refer to, ascending. The error is the
    /// cause why they are unknown.
    fn local_targets(&mut self, pointer: Reg, n: u32, lane: usize) -> Result<Vec<Reg>, u32> {
        let column = &self.columns[pointer as usize];
        match column.value(lane).patterns(column.bits[lane]) {
            Ok(targets) => {
                let end = self.columns.len() as u64;
                let wrong = |target: &u64| target.saturating_add(u64::from(n)) > end;
                if self.program.kept.contains(&pointer) && targets.iter().any(wrong) {
                    // The pointer indexes a value, not a variable.
                    return Err(self.cause(CauseKind::Unspecified));
                }
                if targets.iter().all(wrong) {
                    return Err(self.nowhere(targets[0], lane, "a place beyond what the invocation has"));
                }
                if targets.iter().any(wrong) {
                    return Err(self.cause(CauseKind::Precision));
                }
                Ok(targets.into_iter().map(|t| t as Reg).collect())
            }
            Err(None) => Err(self.cause(CauseKind::Precision)),
            Err(Some(cause)) if self.is_undefined(cause) => Err(self.decided_by(cause, lane)),
            Err(Some(cause)) => Err(cause),
        }
    }

    pub(in crate::run) fn local_load(&mut self, dst: Reg, pointer: Reg, n: u32, lanes: Lanes) {
        for l in lanes.iter() {
            match self.local_targets(pointer, n, l) {
                Ok(targets) if targets.len() == 1 => {
                    (0..n).for_each(|i| self.write_register(dst + i, targets[0] + i, l, false));
                }
                Ok(targets) => self.local_load_one_of((dst, n), pointer, &targets, l),
                Err(cause) => {
                    self.note_possible_fault(FaultKind::OutOfBounds);
                    (0..n).for_each(|i| self.columns[(dst + i) as usize].set(l, 0, AbstractValue::Unknown(cause)))
                }
            }
        }
        for i in 0..n {
            let mut column = self.take(dst + i);
            if column.wide.is_some() {
                self.notice_unwritten(&mut column, lanes);
            }
            self.give(dst + i, column);
        }
    }

    /// Loads from one of several lane-local places.
    fn local_load_one_of(&mut self, (dst, n): (Reg, u32), pointer: Reg, targets: &[Reg], lane: usize) {
        let column = &self.columns[pointer as usize];
        let Ok(selector) = column.value(lane).correlated(column.bits[lane]) else { return };
        for i in 0..n {
            let values: Vec<_> = targets.iter().map(|target| self.scalar(target + i, lane)).collect();
            let kind = self.program.kinds[(dst + i) as usize];
            let (value, bits) = self.picked(kind, &selector, &values);
            let bound = bound_of_any(kind, targets.iter().map(|target| (&self.columns[(target + i) as usize], lane)));
            let bound = bound.map(|bound| self.numbered_bound(bound));
            self.columns[(dst + i) as usize].set_made(lane, (value, bits), bound);
        }
    }

    pub(in crate::run) fn local_store(&mut self, pointer: Reg, src: Reg, n: u32, lanes: Lanes) {
        for l in lanes.iter() {
            // The target is only lost after undefined behaviour or beyond a budget. Then so are all
            // local variables.
            match self.local_targets(pointer, n, l) {
                Ok(targets) => {
                    for target in &targets {
                        (0..n).for_each(|i| self.write_register(target + i, src + i, l, targets.len() > 1));
                    }
                }
                Err(cause) => {
                    self.note_possible_fault(FaultKind::OutOfBounds);
                    self.lose_locals(l, cause);
                }
            }
        }
    }

    /// Makes all local variables of a lane unknown.
    fn lose_locals(&mut self, lane: usize, cause: u32) {
        for &(first, n) in &self.program.locals {
            for reg in first..first + n {
                self.columns[reg as usize].set(lane, 0, AbstractValue::Unknown(cause));
            }
        }
    }
}
