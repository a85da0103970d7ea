//! Bits that integers and booleans of a program may have, whatever its inputs are.

use crate::inst::Reg;
use smallvec::SmallVec;
use std::collections::HashMap;

/// Largest number of values of a register that are kept apart.
pub(crate) const VALUES: usize = 8;

/// Bits that a register may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Possible {
    /// One of these; none before the first write.
    OneOf(SmallVec<[u64; 2]>),
    Anything,
}

/// Possible bits of the registers of a program. Each change adds some.
#[derive(Clone, Debug, Default)]
pub(crate) struct PossibleValues(Vec<Possible>);

impl PossibleValues {
    /// Values of this number of registers, of which none has any.
    pub(crate) fn none(registers: usize) -> PossibleValues {
        PossibleValues(vec![Possible::OneOf(SmallVec::new()); registers])
    }

    /// Values of this number of registers, of which constants have their own and the others any.
    pub(crate) fn of_constants(registers: usize, constants: &HashMap<Reg, u64>) -> PossibleValues {
        let mut values = PossibleValues(vec![Possible::Anything; registers]);
        values.set_constants(constants);
        values
    }

    /// Gives constants their values in place of all others.
    pub(crate) fn set_constants(&mut self, constants: &HashMap<Reg, u64>) {
        for (reg, possible) in self.0.iter_mut().enumerate() {
            if let Some(bits) = constants.get(&(reg as Reg)) {
                *possible = Possible::OneOf(SmallVec::from_slice(&[*bits]));
            }
        }
    }

    /// The values that a register may have; `None` if it may have any, or is never written.
    pub(crate) fn of(&self, reg: Reg) -> Option<&[u64]> {
        match self.0.get(reg as usize) {
            Some(Possible::OneOf(values)) if !values.is_empty() => Some(values),
            _ => None,
        }
    }

    /// Possible bits of a register; anything for one that does not exist.
    pub(crate) fn get(&self, reg: u64) -> Possible {
        self.0.get(reg as usize).cloned().unwrap_or(Possible::Anything)
    }

    /// Adds a value. Returns whether that changes anything.
    pub(crate) fn add(&mut self, reg: Reg, bits: u64) -> bool {
        match self.0.get_mut(reg as usize) {
            Some(Possible::OneOf(values)) if !values.contains(&bits) => {
                values.push(bits);
                if values.len() > VALUES {
                    self.0[reg as usize] = Possible::Anything;
                }
                true
            }
            _ => false,
        }
    }

    /// Adds all values. Returns whether that changes anything.
    pub(crate) fn add_anything(&mut self, first: Reg, n: u64) -> bool {
        let mut changed = false;
        for possible in self.0.iter_mut().skip(first as usize).take(n as usize) {
            changed |= std::mem::replace(possible, Possible::Anything) != Possible::Anything;
        }
        changed
    }

    /// Adds the values of the registers from one on to those from another on. Returns whether that
    /// changes anything.
    pub(crate) fn copy(&mut self, dst: u64, src: u64, n: u32) -> bool {
        let mut changed = false;
        for i in 0..u64::from(n) {
            let Ok(to) = Reg::try_from(dst + i) else { continue };
            match self.get(src + i) {
                Possible::OneOf(values) => values.into_iter().for_each(|bits| changed |= self.add(to, bits)),
                Possible::Anything => changed |= self.add_anything(to, 1),
            }
        }
        changed
    }
}
