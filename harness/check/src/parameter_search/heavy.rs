//! Candidates that take much work.
//!
//! A workgroup that takes more than a search permits may be heavy rather than endless. A check of all
//! invocations may take too long although a candidate interprets a few.

use super::candidate::{Candidate, better};
use super::{COST, Search};
use crate::CheckError;
use crate::chosen_parameters::ChosenParameters;
use crate::invocation_choice::{DispatchShape, product};
use assay_oracle::FaultKind;

/// Largest work of one workgroup of a shader whose defaults exceed the usual limit: some compute a texel from
/// hundreds of operations. It takes about 2 s.
pub(super) const HEAVY_WORK_PER_GROUP: u64 = 1 << 27;

/// Number of candidates that are interpreted with [`HEAVY_WORK_PER_GROUP`] at last.
pub(super) const HEAVY_CANDIDATES: usize = 4;

/// Cost that these candidates may take beyond the limit of a search.
const HEAVY_COST: u64 = COST / 2;

/// Work of a round of a check above which only a part of the invocations is checked. It takes about 16 s.
const CHECKED_WORK: u64 = 1 << 30;

impl Search<'_> {
    /// Interprets one workgroup of a candidate with a larger limit if it seems endless: it may only be
    /// heavy.
    pub(super) fn with_heavy_work(&mut self, seemingly_endless: Candidate) -> Result<Candidate, CheckError> {
        if seemingly_endless.faults.first() != Some(&FaultKind::Endless) {
            return Ok(seemingly_endless);
        }
        self.work_per_group = HEAVY_WORK_PER_GROUP;
        self.invocations = self.least_invocations().min(self.invocations);
        let heavy = self.candidate(seemingly_endless.chosen.clone())?;
        Ok(better(seemingly_endless, heavy))
    }

    /// Returns the parameters of a candidate, with a subset of the invocations if a check of all would take
    /// too much work, and these are independent: of others, a subset says less.
    pub(super) fn with_subset(&self, candidate: &Candidate) -> ChosenParameters {
        let chosen = candidate.chosen.clone();
        let groups = product(chosen.groups.unwrap_or(self.check.setup.groups));
        let shape = DispatchShape { groups, ..DispatchShape::new(&self.check.setup, &self.check.program) };
        let is_given = self.options.checked_invocations.is_some();
        let of_group = u128::from(candidate.work / groups.max(1)).max(1);
        let is_light = candidate.work <= CHECKED_WORK && of_group <= u128::from(self.check.limits.work_per_group);
        if is_light || !shape.is_divisible || is_given {
            return chosen;
        }
        let affordable = u128::from(shape.count(None)) * u128::from(CHECKED_WORK) / u128::from(candidate.work);
        let affordable = u64::try_from(affordable).unwrap_or(u64::MAX);
        // A check refuses a workgroup that takes more.
        let part = u128::from(shape.local) * u128::from(self.check.limits.work_per_group / 2) / of_group;
        let affordable = if part < u128::from(shape.local) { affordable.min(part as u64) } else { affordable };
        let round = affordable.checked_ilog2().map_or(0, |log| 1 << log);
        ChosenParameters { sample: Some(round.max(shape.least())), ..chosen }
    }

    /// Returns the least number of invocations that a candidate interprets.
    fn least_invocations(&self) -> u64 {
        DispatchShape::new(&self.check.setup, &self.check.program).least()
    }

    /// Interprets candidates that took too much work with a larger limit and as few invocations as
    /// possible. Both stay if one is better.
    pub(super) fn with_heavy_candidates(&mut self, mut best: Candidate) -> Result<Candidate, CheckError> {
        let usual = (self.work_per_group, self.invocations);
        (self.work_per_group, self.invocations) = (HEAVY_WORK_PER_GROUP, self.least_invocations().min(usual.1));
        let before = best.score;
        for chosen in std::mem::take(&mut self.heavy).into_values() {
            let is_spent = self.effort.cost >= self.limit + HEAVY_COST;
            if is_spent || self.effort.is_late() || self.is_good(&best) {
                break;
            }
            let heavy = self.candidate(chosen)?;
            best = better(best, heavy);
        }
        if best.score == before {
            (self.work_per_group, self.invocations) = usual;
        }
        Ok(best)
    }
}
