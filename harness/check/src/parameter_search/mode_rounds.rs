//! Rounds with different modes: a shader computes one thing or another by the value of a parameter,
//! so that rounds of one value leave the rest of it unchecked.

use super::candidate::Candidate;
use super::open_parameter::Parameter;
use super::parameter_values::value_in;
use super::specializations::reachable;
use super::{COST, Search};
use crate::CheckError;
use crate::chosen_parameters::ChosenParameters;
use crate::dispatch_setup::DispatchSetup;
use crate::parameter::IN_TURN;
use assay_oracle::Dispatch;
use assay_precision::Scalar;

/// Largest number of rounds with different modes.
const MODE_ROUNDS: usize = 6;

impl Search<'_> {
    /// Gives modes a value for each round, if the rounds together then execute more of the shader and
    /// say no less.
    ///
    /// Greedy cover: beginning with the given candidate, each mode of each round in turn takes each of
    /// its values. What is defined and executes code that no earlier round does becomes a round.
    pub(super) fn with_mode_rounds(&mut self, best: Candidate) -> Result<Candidate, CheckError> {
        let modes = self.modes();
        let all = reachable(self.check);
        let mut covered = best.executed.clone();
        let mut rounds = vec![best.chosen.clone()];
        let mut at = 0;
        while at < rounds.len() {
            for (mode, values) in &modes {
                for value in values {
                    let count = self.check.program.coverage(&covered).executed;
                    if count == all || rounds.len() == MODE_ROUNDS || self.is_exhausted() {
                        return self.in_rounds(best, &rounds, &modes);
                    }
                    let mut chosen = rounds[at].clone();
                    mode.set(&mut chosen, value.clone());
                    if chosen == rounds[at] {
                        continue;
                    }
                    let candidate = self.candidate(chosen)?;
                    let mut together = covered.clone();
                    together.add(&candidate.executed);
                    let is_defined = candidate.score.defined == self.rounds;
                    let says_something = candidate.score.narrow > 0 || best.score.narrow == 0;
                    let executes_more = self.check.program.coverage(&together).executed > count;
                    if is_defined && says_something && executes_more {
                        covered = together;
                        rounds.push(candidate.chosen);
                    }
                }
            }
            at += 1;
        }
        self.in_rounds(best, &rounds, &modes)
    }

    /// Returns the candidate whose rounds have these parameters, if it executes more than the best one
    /// and says no less; otherwise the best one.
    fn in_rounds(
        &mut self,
        best: Candidate,
        rounds: &[ChosenParameters],
        modes: &[(Parameter, Vec<String>)],
    ) -> Result<Candidate, CheckError> {
        if rounds.len() == 1 {
            return Ok(best);
        }
        let mut options = self.options.clone();
        best.chosen.apply(&mut options)?;
        let setup = DispatchSetup::new(self.check.shader, &options)?;
        let usual = self.check.dispatch_of(&setup, 0, self.target)?;
        let mut chosen = rounds.iter().skip(1).fold(best.chosen.clone(), ChosenParameters::with_larger_sizes);
        for (mode, _) in modes {
            let texts: Vec<Option<&str>> = rounds.iter().map(|round| mode.text(round)).collect();
            if texts.iter().all(|text| *text == texts[0]) {
                continue;
            }
            let Some(generated) = generated_text(mode, &usual) else { return Ok(best) };
            let texts: Vec<&str> = texts.iter().map(|text| text.unwrap_or(&generated)).collect();
            mode.set_text(&mut chosen, texts.join(&IN_TURN.to_string()));
        }
        let candidate = self.candidate(chosen)?;
        let is_better = candidate.score.says_no_less(&best.score)
            && candidate.score.executed > best.score.executed
            && candidate.work <= COST.max(best.work);
        Ok(if is_better { candidate } else { best })
    }
}

/// Returns the text of the value that a parameter has in a dispatch; `None` if it has none there.
fn generated_text(parameter: &Parameter, dispatch: &Dispatch) -> Option<String> {
    let scalar = parameter.element.scalar;
    let bits = value_in(parameter, dispatch)?;
    Some(match scalar {
        Scalar::Int { signed: false, .. } => bits.to_string(),
        _ => format!("0x{bits:0digits$x}", digits = scalar.width() as usize / 4),
    })
}
