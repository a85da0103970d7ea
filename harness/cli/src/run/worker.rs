//! `assay worker`: a process of a run, which holds one device.

use super::{Runs, session, without_paths};
use crate::{
    args::{Cli, Command, RunArgs},
    cases, check,
    exit::{self, Failure, WithCode},
};
use assay_check::{DeviceWork, Job, Left, Placed, Target, TargetError};
use assay_isolate::{Bench, Refusal, Task, Teller, run_plan};
use assay_runner::{Choice, DeviceInfo, Event, Plan, RunOptions};
use assay_spirv::need::Have;
use assay_suite::{Programs, RunWith, Unit};
use clap::Parser;
use serde::Deserialize;
use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// Serves the coordinator that has started this process.
pub(crate) fn worker() -> Result<u8, Failure> {
    assay_isolate::serve(|setup| open(setup).map_err(refuse)).code(exit::INTERNAL)?;
    Ok(exit::OK)
}

/// What the coordinator asks for: a part of a run, or a check.
fn open(setup: serde_json::Value) -> Result<Box<dyn Bench>, Failure> {
    let Some(setup) = setup.get("check").cloned() else { return Ok(Box::new(Worker::open(setup)?)) };
    let setup: check::Setup = serde_json::from_value(setup).code(exit::INTERNAL)?;
    let asked = told(&setup.command)?;
    Ok(Box::new(check::Bench::open(asked, setup)?))
}

/// A command line, read again.
fn told(command: &[String]) -> Result<Command, Failure> {
    let cli = Cli::try_parse_from(command.iter().cloned().map(|text| crate::shield_minus(text.into())));
    Ok(cli.code(exit::INTERNAL)?.command)
}

fn refuse(failure: Failure) -> Refusal {
    Refusal { reason: failure.to_string(), code: failure.code }
}

/// What the coordinator says.
#[derive(Deserialize)]
struct Setup {
    /// The command line of the run.
    command: Vec<String>,
    /// The device, if it is another than the command line says.
    device: Option<String>,
    /// Threads that check and build.
    jobs: usize,
}

struct Worker {
    args: RunArgs,
    options: RunOptions,
    runs: Runs,
    /// All cases, once they were needed.
    units: Option<Vec<Unit>>,
    /// Whether it has had an order.
    used: bool,
}

/// A first order of so few cases is served without reading all that there are. One that runs a case again alone is the only one
/// that its worker gets.
const FEW: usize = 16;

impl Worker {
    fn open(setup: serde_json::Value) -> Result<Worker, Failure> {
        let Setup { command, device, jobs } = serde_json::from_value(setup).code(exit::INTERNAL)?;
        let Command::Run(mut args) = told(&command)? else {
            return Err(exit::usage("a worker is a part of `assay run`"));
        };
        args.device = device;
        let options = RunOptions { jobs, ..session::options(&args, command, String::new()) };
        let runs = Runs::open(&args)?;
        Ok(Worker { args, options, runs, units: None, used: false })
    }

    /// The cases of those names, in their order.
    fn find(&mut self, tasks: &[Task]) -> Result<Vec<Unit>, String> {
        let few;
        let units = match &mut self.units {
            Some(units) => units,
            None if !std::mem::replace(&mut self.used, true) && tasks.len() <= FEW => {
                let names: Vec<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
                few = cases::named(&self.args.filters, &names).map_err(|failure| failure.to_string())?;
                &few
            }
            none => none.insert(cases::load_with(&self.args.filters).map_err(|failure| failure.to_string())?.0),
        };
        // Few of very many: these are looked for, not all put in order.
        let mut wanted: HashMap<&str, Option<Unit>> = tasks.iter().map(|task| (task.name.as_str(), None)).collect();
        for unit in units {
            if let Some(found) = wanted.get_mut(unit.name()) {
                *found = Some(unit.clone());
            }
        }
        let mut known = |task: &Task| {
            let found = wanted.get_mut(task.name.as_str()).and_then(Option::take);
            found.ok_or_else(|| format!("there is no case `{}`", task.name))
        };
        tasks.iter().map(&mut known).collect()
    }

    /// Runs programs, several at a time.
    fn programs(&self, programs: &[assay_suite::Case], teller: &Teller, stop: &AtomicBool) {
        let jobs = if self.args.validation { 1 } else { self.options.jobs };
        let with = RunWith { jobs: 1, ..session::run_with(&self.args, &self.options, self.device()) };
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, programs.len().max(1)) {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let Some(case) = programs.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                        teller.event(&Event::CaseStarted { name: case.name.clone(), inputs: 0 });
                        let target = Watched { target: self.runs.target(), teller, case: &case.name };
                        let result = Programs { cases: &[], target: &target, with: with.clone() }.one(case);
                        teller.event(&Event::CaseFinished(Box::new(result)));
                    }
                });
            }
        });
    }
}

impl Bench for Worker {
    fn device(&self) -> &DeviceInfo {
        self.runs.executor().info()
    }

    fn run(&mut self, tasks: &[Task], teller: &Teller, stop: &AtomicBool) -> Result<(), String> {
        let (cases, programs) = Unit::split(self.find(tasks)?);
        if !cases.is_empty() {
            let chunks: HashMap<&str, &Vec<u64>> =
                tasks.iter().filter_map(|task| Some((task.name.as_str(), task.chunks.as_ref()?))).collect();
            let mut plan = Plan::of(cases);
            for planned in &mut plan.cases {
                planned.chunks = chunks.get(planned.case.name.as_str()).map(|&chunks| chunks.clone());
            }
            session::translate(&mut plan, self.args.api);
            plan.negotiate(self.runs.executor(), self.options.jobs);
            without_paths(&mut plan, self.args.path);
            run_plan(&plan, self.runs.executor(), &self.options, teller, stop)?;
        }
        self.programs(&programs, teller, stop);
        Ok(())
    }
}

/// A target whose calls into the driver are announced.
struct Watched<'a> {
    target: &'a (dyn Target + Sync),
    teller: &'a Teller,
    case: &'a str,
}

impl Target for Watched<'_> {
    fn info(&self) -> &DeviceInfo {
        self.target.info()
    }

    fn have(&self) -> &Have {
        self.target.have()
    }

    fn place(&self, job: &Job<'_>) -> Result<Placed, TargetError> {
        let _call = self.teller.enter(self.case, "making buffers with device addresses");
        self.target.place(job)
    }

    fn run(&self, job: &Job<'_>) -> Result<Left, TargetError> {
        let _call = self.teller.enter(self.case, "running a program");
        self.target.run(job)
    }

    fn with_device(&self, during: &'static str, work: &mut DeviceWork<'_>) -> Result<(), TargetError> {
        let _call = self.teller.enter(self.case, during);
        self.target.with_device(during, work)
    }
}
