//! Search for the worst inputs of a case.

use super::{ComputedChunk, RunningCase, SharedRun, lock};
use crate::case_result::{HuntSummary, hex};
use assay_case::{Columns, Hunt};
use assay_events::{GrowthStep, Times};
use assay_exec::{ExecError, PreparedCase};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Inputs of a search without a time limit.
const INPUTS: u64 = 1 << 24;

/// Factor by which a margin must grow to be reported as a step.
const STEP: f64 = 1.02;

impl SharedRun<'_> {
    /// Runs generations of a search until its limit. The device runs one generation while the one
    /// before it is checked, so a generation derives from all but the last two. The limit of time is
    /// met between two generations.
    pub(super) fn hunt(
        &self,
        running: &Arc<RunningCase>,
        mut hunt: Hunt<'_>,
        prepared: &mut Result<Box<dyn PreparedCase>, ExecError>,
        times: &mut Times,
    ) -> Result<(), ExecError> {
        let (mut made, mut inputs, mut generation) = (0, 0, 0);
        let mut summary = HuntSummary { starts: running.inputs.len(), ..HuntSummary::default() };
        while !self.is_ending() && !self.is_hunt_over(running.started, inputs) {
            let (mut operands, mut results) = self.columns(running, &mut made);
            hunt.fill(generation, &mut operands);
            if operands.rows() == 0 {
                break;
            }
            inputs += operands.rows() as u64;
            self.run_on_device(prepared, &operands, &mut results, times)?;
            let margins = Some(Mutex::new(vec![0.0; operands.rows()]));
            let case = Arc::clone(running);
            self.hand_over(ComputedChunk { number: generation, operands, results, margins, case });
            if generation > 0 {
                let Some(chunk) = self.scored(running, generation - 1) else { return Ok(()) };
                self.learn(&mut hunt, &mut summary, chunk);
            }
            generation += 1;
            summary.generations = generation;
        }
        if let Some(chunk) = generation.checked_sub(1).and_then(|last| self.scored(running, last)) {
            self.learn(&mut hunt, &mut summary, chunk);
        }
        summary.is_complete = !self.is_ending();
        lock(&running.state).hunt = Some(summary);
        Ok(())
    }

    fn is_hunt_over(&self, started: Instant, inputs: u64) -> bool {
        self.options.time.map_or(inputs >= INPUTS, |limit| started.elapsed() >= limit)
    }

    /// Estimates the number of inputs of a search, of which `done` took `elapsed`.
    pub(super) fn expected_of_hunt(&self, elapsed: Duration, done: u64) -> u64 {
        let part = |limit: Duration| elapsed.as_secs_f64() / limit.as_secs_f64().max(1e-9);
        self.options.time.map_or(INPUTS, |limit| (done as f64 / part(limit).clamp(1e-9, 1.0)) as u64)
    }

    /// Waits until a generation is checked. `None` if a check failed.
    fn scored(&self, running: &RunningCase, number: u64) -> Option<ComputedChunk> {
        let mut work = lock(&self.work);
        loop {
            let mut state = lock(&running.state);
            if state.failure.is_some() {
                return None;
            }
            if let Some(at) = state.scored.iter().position(|chunk| chunk.number == number) {
                return Some(state.scored.swap_remove(at));
            }
            drop(state);
            work = self.wait(work);
        }
    }

    /// Adds a checked generation to the search, and frees its columns.
    fn learn(&self, hunt: &mut Hunt<'_>, summary: &mut HuntSummary, chunk: ComputedChunk) {
        let ComputedChunk { operands, results, margins, case: running, .. } = chunk;
        let margins = margins.and_then(|margins| margins.into_inner().ok()).unwrap_or_default();
        hunt.learn(&operands, &margins);
        let worst = margins.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        let last = summary.growth.last().and_then(|last| last.margin).unwrap_or(0.0);
        if let Some((row, &margin)) = worst
            && f64::from(margin) > last * STEP
        {
            let operands = self.operands_of(&running, &operands, row);
            let inputs = summary.inputs + row as u64 + 1;
            summary.growth.push(GrowthStep { inputs, margin: Some(margin.into()), operands });
        }
        summary.inputs += operands.rows() as u64;
        lock(&running.state).free.push((operands, results));
    }

    fn operands_of(&self, running: &RunningCase, operands: &Columns, row: usize) -> Vec<String> {
        let mut bits = vec![0; operands.slots()];
        operands.row(row, &mut bits);
        self.case(running.index).call.operand_slots().zip(bits).map(|(scalar, bits)| hex(scalar, bits)).collect()
    }
}
