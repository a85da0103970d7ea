//! Modes: parameters that the shader compares with constants, and that choose what it computes.

use super::candidate::{Candidate, better};
use super::open_parameter::{Parameter, provenance};
use super::specializations::reachable;
use super::{Effort, LAST_COST, Repetition, Search, WORK_PER_GROUP};
use crate::CheckError;
use crate::chosen_parameters::ChosenParameters;
use crate::options::Options;
use crate::parameter::width_permits;
use crate::provenance::Provenance;
use assay_oracle::ExecutedBlocks;
use assay_precision::Scalar;

/// Largest number of modes that take other values, and of the values of one.
const MODES: usize = 8;

/// A mode with which more of the shader is executed than with the best candidate of its time, and something
/// of it is undefined with the other parameters of that.
pub(super) struct FaultyMode {
    mode: Parameter,
    value: String,
    executed: ExecutedBlocks,
}

impl Search<'_> {
    /// Returns the better one of a candidate that executes less than half of the shader and the best
    /// one of a search with the mode that executes the most that the candidate does not.
    pub(super) fn with_faulty_mode(&self, best: Candidate, effort: &mut Effort<'_>) -> Result<Candidate, CheckError> {
        let is_defined = best.score.defined == self.rounds && !best.score.covered;
        let with_best = |of: &FaultyMode| {
            let mut together = best.executed.clone();
            together.add(&of.executed);
            self.check.program.coverage(&together).executed
        };
        let executes_more = |of: &&FaultyMode| is_defined && with_best(of) > best.score.executed;
        let most = self.faulty_modes.iter().filter(executes_more).max_by_key(|of| with_best(of));
        let Some(FaultyMode { mode, value, .. }) = most else { return Ok(best) };
        let mut alone = ChosenParameters::default();
        mode.set(&mut alone, value.clone());
        let ChosenParameters { robustness, benign_races, ref specs, .. } = best.chosen;
        let mut options = Options { robustness: robustness.or(self.options.robustness), ..self.options.clone() };
        options.benign_races |= benign_races;
        options.specs.extend(specs.iter().cloned());
        alone.apply(&mut options)?;
        let mut others = best.chosen.clone();
        mode.unset(&mut others);
        let Some(Repetition { found, .. }) = self.repeated(&options, &[&others], effort)? else { return Ok(best) };
        let specs = specs.clone();
        let mut chosen = ChosenParameters { specs, robustness, benign_races, ..found.chosen };
        mode.set(&mut chosen, value.clone());
        Ok(better(best, Candidate { chosen, ..found }))
    }

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
                mode.set(&mut chosen, value.clone());
                let candidate = self.candidate(chosen)?;
                let (score, known) = (&candidate.score, &best.score);
                let executes_more = score.executed > known.executed;
                if executes_more && score.says_no_less(known) || score.judged > known.judged && *score > *known {
                    best = candidate;
                } else if executes_more && score.defined < self.rounds {
                    let executed = candidate.executed;
                    self.faulty_modes.push(FaultyMode { mode: mode.clone(), value, executed });
                }
            }
        }
        Ok(best)
    }

    /// Gives flags the values 0 and 1 in turn, or 1, in place of a larger one, where the candidate then says
    /// no less: modes that the shader compares with 0 and 1 alone.
    pub(super) fn with_usual_flags(&mut self, mut best: Candidate) -> Result<Candidate, CheckError> {
        let is_large = |text: &str| text.parse::<u64>().is_ok_and(|value| value > 1);
        for (flag, values) in self.modes() {
            let is_flag = values.iter().all(|value| ["0", "1"].contains(&value.as_str()));
            if is_flag && flag.is_integer() && flag.text(&best.chosen).is_some_and(is_large) {
                let before = best.score;
                for values in ["0/1", "1"] {
                    let mut chosen = best.chosen.clone();
                    flag.set_text(&mut chosen, values.to_owned());
                    let candidate = self.candidate(chosen)?;
                    if candidate.score >= before {
                        best = candidate;
                        break;
                    }
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
