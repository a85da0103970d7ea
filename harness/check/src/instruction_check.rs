//! Check of a shader's instructions by themselves, where its output says little.
//!
//! Errors of many instructions add up, and a branch on a result with several permitted values may
//! go either way, so that the permitted output of some shaders is nearly anything: noise functions,
//! path tracers, simulations. Each of their instructions is still well defined for its own operands.
//! Instrumented variants record the operands and the results of all computations
//! ([`crate::instrument`]), and each result is compared with the permitted ones for its recorded
//! operands. Loads, stores and control flow are not checked.
//!
//! A variant records some of the instructions, since drivers take long to compile many stores.

use crate::check::Check;
use crate::instrument::{ProbeSelection, computations, instrument};
use crate::observed_choices::VariantRun;
use crate::status;
use assay_events::{Blame, CheckResult, Status, TracedInstructions, Writes};
use assay_exec::Target;
use assay_oracle::Place;
use assay_spirv::module::InstructionIndex;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Instructions that one variant records.
const PROBES: usize = 48;

/// Records of all instructions together that are checked.
const ROWS: u64 = 1 << 18;

/// Least number of records of an instruction that are checked, if there are as many.
const LEAST_ROWS: u64 = 256;

/// Time after which no further variant is run.
const TIME: Duration = Duration::from_secs(40);

/// Time that the device took for the shader, in seconds, above which no variant is run: it takes
/// several times as long for one.
const SLOW: f64 = 4.0;

impl Check<'_> {
    /// Checks the instructions by themselves if the output says little, and adds what that shows to
    /// the result. A variant that is not possible becomes a note.
    pub(crate) fn check_instructions(&self, result: &mut CheckResult, target: &dyn Target) {
        // The oracle may have given up long before the end of a shader that writes something.
        let writes = |of: &Writes| of.written > 0 && Writes::is_enough(of.written, of.elements);
        let writes = result.writes.as_ref().is_some_and(writes);
        let is_open = matches!(result.status, Status::Pass | Status::QualityWarning | Status::Undetermined);
        let is_slow = result.times.wall - result.times.check > SLOW;
        if !is_open || !writes || is_slow || result.is_meaningful() || !self.expectations.is_empty() {
            return;
        }
        // A round that ran, and one that wrote something, if there is one.
        let is_left_out = |round: u32, reasons: &[&str]| {
            let why = result.unjudged.iter().filter(|one| one.round == round).map(|one| &one.why);
            why.into_iter().any(|why| reasons.iter().any(|reason| why.starts_with(reason)))
        };
        let round = |reasons: &[&str]| (0..self.setup.rounds).find(|round| !is_left_out(*round, reasons));
        let Some(round) = round(&["was not", "wrote nothing"]).or_else(|| round(&["was not"])) else { return };
        match self.judge_instructions(round, target) {
            Ok((traced, blamed)) => {
                if traced.is_meaningful() {
                    let warnings = status::thin_warnings(result, self.advice_to_vary().as_deref());
                    result.notes.retain(|note| !warnings.contains(note));
                }
                status::by_instructions(result, traced, blamed);
            }
            Err(why) => result.notes.push(format!("the instructions could not be checked by themselves: {why}")),
        }
    }

    /// Runs the variants of a round until one has a wrong instruction. The error is that of the
    /// first variant; a later one ends the check.
    fn judge_instructions(&self, round: u32, target: &dyn Target) -> Result<(TracedInstructions, Vec<Blame>), String> {
        let started = Instant::now();
        let (indices, unrecorded) = computations(&self.shader.source.module, &self.setup.entry);
        let rows = (ROWS / (indices.len() as u64).max(1)).max(LEAST_ROWS);
        let mut sum = TracedInstructions { of: indices.len() as u64, unrecorded, ..TracedInstructions::default() };
        for (number, part) in indices.chunks(PROBES).enumerate() {
            // The next variant takes about as long as the ones before.
            let elapsed = started.elapsed();
            if elapsed + elapsed / (number as u32).max(1) > TIME {
                break;
            }
            let (traced, blamed) = match self.judge_part(part[0]..part[part.len() - 1] + 1, (round, rows), target) {
                Ok(judged) => judged,
                Err(why) if number == 0 => return Err(why),
                Err(_) => break,
            };
            sum.instructions += traced.instructions;
            sum.results += traced.results;
            // Alone, an instruction has its records elsewhere: an access of the shader that Assay
            // did not follow may have damaged them.
            let is_wrong_alone = |blame: &Blame| {
                let alone = blame.instruction..blame.instruction + 1;
                self.judge_part(alone, (round, rows), target).is_ok_and(|(_, blamed)| !blamed.is_empty())
            };
            if let Some(first) = blamed.into_iter().find(is_wrong_alone) {
                return Ok((sum, vec![first]));
            }
        }
        Ok((sum, Vec::new()))
    }

    /// Runs the variant that records the computations in a range of instructions, and judges about
    /// this number of records of each.
    fn judge_part(
        &self,
        Range { start: from, end: to }: Range<u32>,
        (round, rows): (u32, u64),
        target: &dyn Target,
    ) -> Result<(TracedInstructions, Vec<Blame>), String> {
        let module = &self.shader.source.module;
        let recorded = ProbeSelection::Computations { from, to };
        let instrumented = instrument(module, &self.setup, recorded).map_err(|error| error.to_string())?;
        let VariantRun { given, output } = self.run_variant(&instrumented, round, target)?;
        let place = |index: u32| self.shader.location(Place { instruction: InstructionIndex(index), line: None });
        let reader = instrumented.reader(module, &self.setup, &given, &output, &place);
        Ok(reader.ok_or("the device returned no records")?.judged_computations(rows))
    }
}
