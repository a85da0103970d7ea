//! `assay worker`: the worker process of a run or a check, which opens one device.

use super::{RunBackend, session, skip_other_paths};
use crate::{
    args::{Cli, Command, RunArgs, WorkerArgs},
    cases, check,
    exit::{self, Failure, WithCode},
};
use assay_events::{DeviceInfo, Event};
use assay_exec::AnnouncedTarget;
use assay_isolate::{EventSender, Launch, Refusal, Task, WorkerBackend, run_plan};
use assay_runner::{Plan, RunOptions, Selectable};
use assay_suite::{AnyCase, ProgramSet, ProgramSettings};
use clap::Parser;
use serde::Deserialize;
use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// Serves the coordinator that started this process.
pub(crate) fn serve(args: &WorkerArgs) -> Result<u8, Failure> {
    if args.supervised {
        let program = std::env::current_exe().code(exit::INTERNAL)?;
        let launch = Launch { program, arguments: vec!["worker".into()], ..Launch::default() };
        assay_isolate::supervise(launch).code(exit::INTERNAL)?;
        return Ok(exit::OK);
    }
    assay_isolate::serve(|setup| open(setup).map_err(refuse)).code(exit::INTERNAL)?;
    Ok(exit::OK)
}

/// Opens the backend for the coordinator's request: a run or a check.
fn open(setup: serde_json::Value) -> Result<Box<dyn WorkerBackend>, Failure> {
    let Some(setup) = setup.get("check").cloned() else { return Ok(Box::new(Worker::open(setup)?)) };
    let setup: check::CheckSetup = serde_json::from_value(setup).code(exit::INTERNAL)?;
    Ok(Box::new(check::CheckWorker::open(setup)?))
}

/// Parses a command line sent by the coordinator.
fn parse_command(command: &[String]) -> Result<Command, Failure> {
    let cli = Cli::try_parse_from(command.iter().cloned().map(|text| crate::shield_minus(text.into())));
    Ok(cli.code(exit::INTERNAL)?.command)
}

fn refuse(failure: Failure) -> Refusal {
    Refusal { reason: failure.to_string(), code: failure.code }
}

/// Request of the coordinator for a run.
#[derive(Deserialize)]
struct WorkerSetup {
    /// Command line of the run.
    command: Vec<String>,
    /// Device to open; replaces `--device` of the command line.
    device: Option<String>,
    /// Number of threads that check results and build pipelines.
    jobs: usize,
}

/// Worker of a run.
struct Worker {
    args: RunArgs,
    options: RunOptions,
    backend: RunBackend,
    /// All cases, loaded on first use.
    cases: Option<Vec<AnyCase>>,
    /// Set after the first order.
    had_order: bool,
}

/// Largest first order for which the worker loads only the ordered cases. A worker that confirms a
/// failure gets one order of one case.
const SMALL_ORDER: usize = 16;

impl Worker {
    fn open(setup: serde_json::Value) -> Result<Worker, Failure> {
        let WorkerSetup { command, device, jobs } = serde_json::from_value(setup).code(exit::INTERNAL)?;
        let Command::Run(mut args) = parse_command(&command)? else {
            return Err(exit::usage("a worker is started by `assay run` only"));
        };
        args.device = device;
        let options = RunOptions { jobs, ..session::options(&args, command, String::new()) };
        let backend = RunBackend::open(&args)?;
        Ok(Worker { args: *args, options, backend, cases: None, had_order: false })
    }

    /// Returns the ordered cases, in the order of `tasks`.
    fn find(&mut self, tasks: &[Task]) -> Result<Vec<AnyCase>, String> {
        let filters = &self.args.filters;
        // The order has few of very many cases, so only its names are put into a map.
        let mut wanted: HashMap<&str, Option<AnyCase>> =
            tasks.iter().map(|task| (task.name.as_str(), cases::shader_named(filters, &task.name))).collect();
        let few;
        let cases = match &mut self.cases {
            _ if wanted.values().all(Option::is_some) => &[],
            Some(cases) => cases.as_slice(),
            None if !std::mem::replace(&mut self.had_order, true) && tasks.len() <= SMALL_ORDER => {
                let names: Vec<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
                few = cases::named(filters, &names).map_err(|failure| failure.to_string())?;
                &few
            }
            none => none.insert(cases::load_with(filters).map_err(|failure| failure.to_string())?.0),
        };
        for case in cases {
            if let Some(found @ None) = wanted.get_mut(case.name()) {
                *found = Some(case.clone());
            }
        }
        let mut known = |task: &Task| {
            let found = wanted.get_mut(task.name.as_str()).and_then(Option::take);
            found.ok_or_else(|| format!("there is no case `{}`", task.name))
        };
        tasks.iter().map(&mut known).collect()
    }

    /// Runs programs, several at a time.
    fn programs(&self, programs: &[assay_suite::Case], sender: &EventSender, stop: &AtomicBool) {
        let jobs = if self.args.validation { 1 } else { self.options.jobs };
        let with = ProgramSettings { jobs: 1, ..session::run_with(&self.args, &self.options, self.device()) };
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, programs.len().max(1)) {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let Some(case) = programs.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                        sender.event(&Event::CaseStarted { name: case.name.clone(), inputs: 0 });
                        let target = AnnouncedTarget::new(self.backend.target(), sender, &case.name, |_| {
                            "running a program".to_owned()
                        });
                        let set = ProgramSet { cases: &[], target: &target, settings: with.clone() };
                        sender.event(&set.run_case(case));
                    }
                });
            }
        });
    }
}

impl WorkerBackend for Worker {
    fn device(&self) -> &DeviceInfo {
        self.backend.executor().info()
    }

    fn run(&mut self, tasks: &[Task], sender: &EventSender, stop: &AtomicBool) -> Result<(), String> {
        let (cases, programs) = AnyCase::split(self.find(tasks)?);
        if !cases.is_empty() {
            let chunks: HashMap<&str, &Vec<u64>> =
                tasks.iter().filter_map(|task| Some((task.name.as_str(), task.chunks.as_ref()?))).collect();
            let mut plan = Plan::from_cases(cases);
            for planned in &mut plan.cases {
                planned.chunks = chunks.get(planned.case.name.as_str()).map(|&chunks| chunks.clone());
            }
            session::translate_to_wgsl(&mut plan, self.args.api);
            plan.negotiate(self.backend.executor(), self.options.jobs);
            skip_other_paths(&mut plan, self.args.path);
            run_plan(&plan, self.backend.executor(), &self.options, sender, stop)?;
        }
        self.programs(&programs, sender, stop);
        Ok(())
    }
}
