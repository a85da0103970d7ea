//! Parameters with which code is executed that a candidate skips.

use super::candidate::Candidate;
use super::open_parameter::{Parameter, provenance};
use super::specializations::reachable;
use super::{LAST_COST, Search};
use crate::CheckError;
use crate::parameter::width_permits;
use crate::provenance::Provenance;
use std::collections::BTreeSet;

/// Values that the parameters of a branch take in turn.
const VALUES: [u64; 4] = [1, 0, 4, 64];

/// Largest number of integers and of floats of a branch that take them.
const PARAMETERS: usize = 4;

/// Largest number of candidates.
const CANDIDATES: u32 = 32;

/// A branch is of interest if it skips one in this many instructions.
const SHARE: u64 = 32;

impl Search<'_> {
    /// Gives the integers and floats from which the condition of a branch is computed other values, one at a
    /// time, while the candidate then executes more and says no less: those of the branch that skips the most code
    /// first.
    pub(super) fn with_skipped_code(&mut self, mut best: Candidate) -> Result<Candidate, CheckError> {
        self.limit = self.limit.max(self.effort.cost + LAST_COST);
        let last = self.effort.candidates + CANDIDATES;
        let all = reachable(self.check);
        let mut tried = BTreeSet::new();
        while let Some(skipped) = self.check.program.skipped_code(&best.executed)
            && skipped.instructions * SHARE >= all
            && tried.insert(skipped.branch.instruction)
        {
            let sources = self.flow.sources(skipped.branch.instruction);
            let decides = |p: &&Parameter| !p.in_matrix && provenance(self.check, &sources, p) == Provenance::Operand;
            let (integers, floats): (Vec<_>, Vec<_>) =
                self.parameters.iter().filter(decides).cloned().partition(Parameter::is_integer);
            let parameters: Vec<Parameter> =
                integers.into_iter().take(PARAMETERS).chain(floats.into_iter().take(PARAMETERS)).collect();
            let changes =
                VALUES.into_iter().flat_map(|value| parameters.iter().map(move |parameter| (parameter, value)));
            for (parameter, value) in changes {
                if self.effort.candidates >= last || self.is_exhausted() {
                    return Ok(best);
                }
                let mut chosen = best.chosen.clone();
                parameter.set(&mut chosen, value.to_string());
                if chosen == best.chosen || !width_permits(parameter.element.scalar, value) {
                    continue;
                }
                let candidate = self.candidate(chosen)?;
                let (score, known) = (&candidate.score, &best.score);
                // An early return is no code that should run instead of the rest.
                let does_as_much = 2 * score.narrow >= known.narrow;
                if score.executed > known.executed && does_as_much && score.says_no_less(known) {
                    best = candidate;
                    break;
                }
            }
        }
        Ok(best)
    }
}
