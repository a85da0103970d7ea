//! Modes: parameters that the shader compares with constants, and that choose what it computes.

use super::candidate::Candidate;
use super::open_parameter::{Parameter, provenance};
use super::specializations::reachable;
use super::{LAST_COST, Search, WORK_PER_GROUP};
use crate::CheckError;
use crate::parameter::width_permits;
use crate::provenance::Provenance;
use assay_precision::Scalar;

/// Largest number of modes that take other values, and of the values of one.
const MODES: usize = 8;

impl Search<'_> {
    /// Gives modes at the end of a search the values with which more is executed.
    pub(super) fn with_modes_last(&mut self, best: Candidate) -> Result<Candidate, CheckError> {
        // The search before may have used up its limits. More code is executed, and what it makes
        // undetermined must not count against it.
        (self.work_per_group, self.undecided_blocks) =
            (self.work_per_group.max(WORK_PER_GROUP), self.check.limits.undecided_blocks);
        self.limit = self.limit.max(self.effort.cost + LAST_COST);
        let best = self.with_modes(best)?;
        self.with_mode_rounds(best)
    }

    /// Gives modes in turn the constants with which the shader compares them, and one other value,
    /// while it then executes more of its instructions and says no less.
    pub(super) fn with_modes(&mut self, mut best: Candidate) -> Result<Candidate, CheckError> {
        let all = reachable(self.check);
        for (mode, values) in self.modes() {
            for value in values {
                if best.score.executed == all || self.is_exhausted() {
                    return Ok(best);
                }
                let mut chosen = best.chosen.clone();
                mode.set(&mut chosen, value);
                let candidate = self.candidate(chosen)?;
                if candidate.score.says_no_less(&best.score) && candidate.score.executed > best.score.executed {
                    best = candidate;
                }
            }
        }
        Ok(best)
    }

    /// Returns the open modes with the values that they take.
    pub(super) fn modes(&self) -> Vec<(Parameter, Vec<String>)> {
        let compared = self.flow.compared_values();
        let mut modes = Vec::new();
        for parameter in &self.parameters {
            let of_it = compared
                .iter()
                .filter(|value| provenance(self.check, &value.sources, parameter) == Provenance::Operand);
            let mut values: Vec<String> = Vec::new();
            for number in of_it.flat_map(|value| &value.numbers) {
                if !values.contains(number) && is_value(parameter, number) {
                    values.push(number.clone());
                }
            }
            if values.is_empty() {
                continue;
            }
            values.truncate(MODES - 1);
            let other = ["1", "0", "2"].map(str::to_owned).into_iter().find(|other| !values.contains(other));
            values.extend(other);
            modes.push((parameter.clone(), values));
        }
        modes.truncate(MODES);
        modes
    }
}

/// Returns whether a parameter can have the value.
fn is_value(Parameter { element, .. }: &Parameter, number: &str) -> bool {
    match (element.scalar, number.parse::<i64>()) {
        (Scalar::Int { .. }, Ok(number)) => u64::try_from(number).is_ok_and(|n| width_permits(element.scalar, n)),
        (Scalar::Int { .. }, Err(_)) => false,
        _ => true,
    }
}
