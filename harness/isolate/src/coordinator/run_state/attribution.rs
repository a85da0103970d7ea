//! Failures of workers and their attribution to cases, and the results of confirmations.

use super::{MAX_FAILED_STARTS, RESTART_DELAY, RunState};
use crate::{
    child_process::describe_end,
    confirmation::{Confirmation, ConfirmationStep},
    coordinator::{
        IsolateError, MAX_EXTERNAL_ENDS,
        worker_pool::{KilledWorker, Suspect, WorkerFailure, WorkerJob},
    },
    platform::may_be_external,
};
use assay_events::{Event, Status};
use std::time::Instant;

/// The end of a process that several cases may have caused.
#[derive(Debug, Default)]
pub(super) struct Incident {
    /// Number of suspects that have not been run alone yet.
    untested: usize,
    /// Set if a suspect reproduced it alone.
    reproduced: bool,
    /// Set if the cause may be external, or all cases together. Then only a case that reproduces it
    /// alone is held responsible.
    may_be_external: bool,
    /// Confirmations of suspects that did not fail alone; the likeliest first.
    not_reproduced: Vec<u64>,
}

/// A confirmation in progress.
pub(super) struct OpenConfirmation {
    pub(super) confirmation: Confirmation,
    incident: Option<u64>,
    /// Number of consecutive runs that an external signal ended.
    external_ends: u32,
}

impl RunState<'_> {
    pub(super) fn open_confirmation(&mut self, confirmation: Confirmation, incident: Option<u64>) {
        let number = self.next_number();
        self.confirmations.insert(number, OpenConfirmation { confirmation, incident, external_ends: 0 });
        self.confirmation_runs.push_back((number, Vec::new()));
    }

    /// Processes the result of a run that a confirmation requested.
    pub(super) fn on_confirmation_outcome(&mut self, number: u64, outcome: Option<Event>) -> Result<(), IsolateError> {
        let cases = self.cases;
        let name = |case: u32| cases.name(case).to_owned();
        let Some(open) = self.confirmations.get_mut(&number) else { return Ok(()) };
        open.external_ends = 0;
        let failed =
            outcome.as_ref().is_none_or(|event| event.case_end().is_some_and(|end| end.observed().is_failure()));
        let incident = open.incident.filter(|_| open.confirmation.is_alone());
        let next = open.confirmation.next(outcome, &name);
        let awaits = next == ConfirmationStep::AwaitSuspects;
        if incident.is_some() {
            open.incident = None;
        }
        self.apply_step(number, next)?;
        let Some(incident) = incident else { return Ok(()) };
        let Some(of) = self.incidents.get_mut(&incident) else { return Ok(()) };
        of.untested -= 1;
        of.reproduced |= failed;
        if awaits {
            of.not_reproduced.push(number);
        }
        if of.untested > 0 {
            return Ok(());
        }
        let Incident { reproduced, may_be_external, not_reproduced: mut awaits, .. } =
            self.incidents.remove(&incident).unwrap_or_default();
        awaits.sort_unstable();
        for (place, number) in awaits.into_iter().enumerate() {
            let Some(open) = self.confirmations.get_mut(&number) else { continue };
            let next = if reproduced || may_be_external || place > 0 {
                open.confirmation.accept_run_alone()
            } else {
                open.confirmation.run_after_predecessors()
            };
            self.apply_step(number, next)?;
        }
        Ok(())
    }

    fn apply_step(&mut self, number: u64, next: ConfirmationStep) -> Result<(), IsolateError> {
        match next {
            ConfirmationStep::Run(before) => self.confirmation_runs.push_back((number, before)),
            ConfirmationStep::AwaitSuspects => {}
            ConfirmationStep::Finish(event) => {
                self.confirmations.remove(&number);
                self.report(&event)?;
            }
        }
        Ok(())
    }

    /// Processes the failure of a worker.
    pub(super) fn on_worker_failure(&mut self, at: usize, failure: WorkerFailure) -> Result<(), IsolateError> {
        let worker = &mut self.pool.workers[at];
        let (starting, suspects) = (worker.is_starting(), worker.suspects(&failure));
        if matches!(failure, WorkerFailure::Ended) {
            worker.await_end();
        }
        let histories: Vec<Vec<u32>> = suspects.iter().map(|suspect| worker.predecessors(suspect.case)).collect();
        let KilledWorker { stderr: mut words, status, job } = self.pool.kill(at);
        let outside = match failure {
            WorkerFailure::Ended => may_be_external(status),
            WorkerFailure::EndedElsewhere { external, .. } => external,
            _ => false,
        };
        let (did, what) = match &failure {
            WorkerFailure::Ended => (Status::Crash, describe_end(status)),
            WorkerFailure::EndedElsewhere { how, stderr, .. } => {
                words.clone_from(stderr);
                (Status::Crash, how.clone())
            }
            WorkerFailure::Refused(refusal) => (Status::Crash, refusal.reason.clone()),
            WorkerFailure::Broken(what) => (
                Status::Crash,
                format!(
                    "the worker sent an invalid message (it wrote {what}); the driver may have corrupted its memory \
                     or written to its pipe"
                ),
            ),
            WorkerFailure::Hang(_, limit) => {
                (Status::Timeout, format!("no end within {limit:?}, so its process was killed"))
            }
            WorkerFailure::Silent => (Status::Timeout, "its process stopped answering, and was killed".to_owned()),
            WorkerFailure::Memory(limit) => (
                Status::Crash,
                format!("its process exceeded the limit of --memory, {} MiB, and was killed", limit >> 20),
            ),
            WorkerFailure::Flood(limit) => {
                (Status::Crash, format!("its process wrote more than {limit} bytes of messages, and was killed"))
            }
        };
        if !words.is_empty() {
            words = format!("; it wrote: {words}");
        }
        if starting {
            return self.on_failed_start(failure, what + &words, job);
        }
        let Some(job) = job else { return Ok(()) };
        let not_run = |Suspect { case, doing, excuse }: &Suspect| {
            let doing = if doing.is_empty() { String::new() } else { format!(", while {doing}") };
            let mut event = self.cases.not_run(*case, did, format!("{what}{doing}{words}"));
            excuse.iter().for_each(|excuse| event.excuse(excuse));
            event
        };
        if let Some(number) = job.confirmation {
            let Some(open) = self.confirmations.get_mut(&number) else { return Ok(()) };
            if outside && open.external_ends < MAX_EXTERNAL_ENDS {
                open.external_ends += 1;
                let before = job.cases[..job.cases.len() - 1].to_vec();
                self.confirmation_runs.push_front((number, before));
                return Ok(());
            }
            let case = open.confirmation.case;
            let outcome = suspects.iter().find(|suspect| suspect.case == case).map(not_run);
            return self.on_confirmation_outcome(number, outcome);
        }
        if self.stopping_since.is_some() {
            return Ok(());
        }
        let mut candidates: Vec<(u32, Event)> =
            suspects.iter().map(|suspect| (suspect.case, not_run(suspect))).collect();
        if candidates.is_empty() {
            self.caseless_ends += 1;
            // It ends repeatedly before any case begins: the first case is then tested alone.
            if let Some(&first) = job.cases.iter().find(|case| job.unfinished.values().any(|c| c == *case))
                && self.caseless_ends >= MAX_FAILED_STARTS
            {
                let suspect = Suspect { case: first, doing: String::new(), excuse: None };
                candidates.push((first, not_run(&suspect)));
            }
        } else {
            self.caseless_ends = 0;
        }
        let cases: Vec<u32> = candidates.iter().map(|(case, _)| *case).collect();
        self.requeue(&job, &cases);
        if candidates.is_empty() {
            return Ok(());
        }
        if !self.settings.confirm {
            // The likeliest suspect is held responsible, and the others are run again.
            for (place, (case, event)) in candidates.into_iter().enumerate() {
                let charged = place == 0 && (!outside || self.ended_too_often(case));
                if charged { self.report(&event)? } else { self.todo.push_front(case) }
            }
            return Ok(());
        }
        let number = self.next_number();
        let may_be_external = outside || matches!(failure, WorkerFailure::Memory(_));
        self.incidents.insert(number, Incident { untested: candidates.len(), may_be_external, ..Incident::default() });
        for (place, (case, event)) in candidates.into_iter().enumerate() {
            let before = histories.get(place).cloned().unwrap_or_default();
            self.open_confirmation(Confirmation::new(case, event, false, before), Some(number));
        }
        Ok(())
    }

    /// Counts an external signal that ended the process of a case; returns true if the case may not
    /// be run again.
    fn ended_too_often(&mut self, case: u32) -> bool {
        let ended = self.external_ends.entry(case).or_default();
        *ended += 1;
        *ended > MAX_EXTERNAL_ENDS
    }

    fn on_failed_start(
        &mut self,
        failure: WorkerFailure,
        what: String,
        job: Option<WorkerJob>,
    ) -> Result<(), IsolateError> {
        self.failed_starts += 1;
        self.return_job(job);
        if self.failed_starts < MAX_FAILED_STARTS || self.stopping_since.is_some() {
            self.next_start = Some(Instant::now() + RESTART_DELAY);
            return Ok(());
        }
        Err(match failure {
            WorkerFailure::Refused(refusal) => IsolateError::Refused(refusal),
            WorkerFailure::Hang(..) | WorkerFailure::Silent => {
                IsolateError::Start(format!("it takes more than {:?}", self.settings.limits.start))
            }
            WorkerFailure::Ended
            | WorkerFailure::EndedElsewhere { .. }
            | WorkerFailure::Broken(_)
            | WorkerFailure::Memory(_)
            | WorkerFailure::Flood(_) => IsolateError::Start(what),
        })
    }
}
