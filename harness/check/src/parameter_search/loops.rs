//! Parameters with which loops repeat: a barrier at the end of a loop, and what one iteration leaves for
//! the next, say nothing if its body runs once.

use super::candidate::Candidate;
use super::open_parameter::Parameter;
use super::{LAST_COST, Search};
use crate::CheckError;
use crate::parameter::width_permits;

/// Multiples of a parameter that are tried.
const MULTIPLES: [u64; 2] = [4, 2];

/// Largest number of candidates.
const CANDIDATES: u32 = 12;

impl Search<'_> {
    /// Multiplies integers, one at a time, while more loops then repeat and the candidate says no less.
    pub(super) fn with_repeated_loops(&mut self, mut best: Candidate) -> Result<Candidate, CheckError> {
        let program = &self.check.program;
        let count = |of: &Candidate| program.loops_without_repetition(&of.executed).len();
        let mut without = count(&best);
        self.limit = self.limit.max(self.effort.cost + LAST_COST);
        let last = self.effort.candidates + CANDIDATES;
        let integers: Vec<Parameter> = self.parameters.iter().filter(|p| p.is_integer()).cloned().collect();
        for integer in integers {
            let value = integer.text(&best.chosen).and_then(|text| text.parse::<u64>().ok());
            let Some(value) = value.filter(|value| *value > 0) else { continue };
            for multiple in MULTIPLES {
                if without == 0 || self.effort.candidates >= last || self.is_exhausted() {
                    return Ok(best);
                }
                let larger = value.saturating_mul(multiple);
                if !width_permits(integer.element.scalar, larger) {
                    continue;
                }
                let mut chosen = best.chosen.clone();
                integer.set(&mut chosen, larger.to_string());
                let candidate = self.candidate(chosen)?;
                let remaining = count(&candidate);
                let executes_no_less = candidate.score.executed >= best.score.executed;
                if executes_no_less && remaining < without && candidate.score.says_no_less(&best.score) {
                    (best, without) = (candidate, remaining);
                    break;
                }
            }
        }
        Ok(best)
    }
}
