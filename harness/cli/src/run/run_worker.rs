//! Worker of a run: opens the device, and runs the cases that the coordinator assigns.

use super::{RunArgs, RunBackend, skip_other_paths};
use crate::{
    cases,
    exit::{self, Failure},
};
use assay_events::{DeviceInfo, Event, RunSettings};
use assay_exec::{AnnouncedExecutor, AnnouncedTarget, Executor};
use assay_isolate::{EventSender, RemoteDevice, Task, WorkerBackend, run_plan};
use assay_runner::{CaseRequest, Plan, RunOptions};
use assay_suite::{AnyCase, Case, PreparedShader, ProgramSet, RunPath};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// Request of the coordinator for a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RunSetup {
    /// The settings of the run.
    pub(super) settings: RunSettings,
    /// Number of threads that check results and build pipelines.
    pub(super) jobs: usize,
}

impl RunSetup {
    /// Returns the arguments and the runner's options.
    fn arguments(self) -> Result<(RunArgs, RunOptions), Failure> {
        let args = RunArgs::from_settings(self.settings).map_err(|error| Failure {
            code: exit::INTERNAL,
            error: anyhow::anyhow!("the coordinator's settings are invalid: {error}"),
        })?;
        let options = RunOptions { jobs: self.jobs, ..args.run_options(Vec::new(), String::new()) };
        Ok((args, options))
    }
}

/// Data of a case, for cases that a worker cannot make from the name alone.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CaseData {
    /// A precision case.
    Precision(CaseRequest),
    /// A shader of the user, so that the worker needs no file.
    Shader(PreparedShader),
}

/// Worker of a run.
pub(crate) struct RunWorker {
    args: RunArgs,
    options: RunOptions,
    backend: RunBackend,
    /// Programs of the suites that were needed, by suite and name.
    suites: HashMap<String, HashMap<String, Case>>,
}

impl RunWorker {
    /// Opens the device.
    pub(crate) fn open(setup: RunSetup) -> Result<RunWorker, Failure> {
        let (args, options) = setup.arguments()?;
        let backend = RunBackend::open(&args)?;
        Ok(RunWorker { args, options, backend, suites: HashMap::new() })
    }

    /// Returns the case of a task.
    fn case(&mut self, task: &Task) -> Result<AnyCase, String> {
        let name = task.name.clone();
        match &task.data {
            Some(data) => match CaseData::deserialize(data).map_err(|error| format!("{name}: {error}"))? {
                CaseData::Precision(request) => Ok(AnyCase::Precision(request.case(name)?)),
                CaseData::Shader(shader) => Ok(AnyCase::Program(Case::prepared(name, shader))),
            },
            None => {
                let found = cases::random_program(&name).or_else(|| self.suite_program(&name));
                found.map(AnyCase::Program).ok_or_else(|| format!("there is no case `{name}`"))
            }
        }
    }

    /// Returns the program of a suite.
    fn suite_program(&mut self, name: &str) -> Option<Case> {
        let (family, _) = name.split_once('.')?;
        if !self.suites.contains_key(family) {
            let suite = assay_suite::all().into_iter().find(|suite| suite.name() == family)?;
            let cases = suite.cases().into_iter().map(|case| (case.name.clone(), case)).collect();
            self.suites.insert(family.to_owned(), cases);
        }
        self.suites[family].get(name).cloned()
    }

    /// Runs programs, several at a time.
    fn programs(&self, programs: &[assay_suite::Case], sender: &EventSender, stop: &AtomicBool) {
        let settings = self.args.program_settings(self.options.jobs);
        let jobs = settings.jobs;
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
                        let set = ProgramSet { cases: &[], target: &target, settings: settings.clone() };
                        sender.event(&set.run_case(case));
                    }
                });
            }
        });
    }
}

impl WorkerBackend for RunWorker {
    fn device(&self) -> &DeviceInfo {
        self.backend.executor().info()
    }

    fn executor(&self) -> Option<&dyn Executor> {
        Some(self.backend.executor())
    }

    fn run(&mut self, tasks: &[Task], sender: &EventSender, stop: &AtomicBool) -> Result<(), String> {
        let cases = tasks.iter().map(|task| self.case(task)).collect::<Result<Vec<AnyCase>, String>>()?;
        let (cases, programs) = AnyCase::split(cases);
        if !cases.is_empty() {
            let plan = plan(cases, tasks, self.backend.executor(), (self.options.jobs, self.args.path));
            let announced = AnnouncedExecutor::new(self.backend.executor(), sender);
            run_plan(&plan, &announced, &self.options, sender, stop)?;
        }
        self.programs(&programs, sender, stop);
        Ok(())
    }
}

/// Returns the plan for the precision cases of some tasks.
fn plan(
    cases: Vec<assay_case::Case>,
    tasks: &[Task],
    executor: &dyn Executor,
    (jobs, path): (usize, Option<RunPath>),
) -> Plan {
    let chunks: HashMap<&str, &Vec<u64>> =
        tasks.iter().filter_map(|task| Some((task.name.as_str(), task.chunks.as_ref()?))).collect();
    let mut plan = Plan::from_cases(cases);
    for planned in &mut plan.cases {
        planned.chunks = chunks.get(planned.case.name.as_str()).map(|&chunks| chunks.clone());
    }
    plan.negotiate(executor, jobs);
    skip_other_paths(&mut plan, path);
    plan
}

/// Worker of a run that checks the results of a device elsewhere: those of precision cases. The worker of the
/// device runs and checks all others.
pub(crate) struct RunChecker {
    path: Option<RunPath>,
    options: RunOptions,
    device: RemoteDevice,
}

impl RunChecker {
    pub(crate) fn new(setup: RunSetup, device: RemoteDevice) -> Result<RunChecker, Failure> {
        let (args, options) = setup.arguments()?;
        Ok(RunChecker { path: args.path, options, device })
    }
}

impl WorkerBackend for RunChecker {
    fn device(&self) -> &DeviceInfo {
        self.device.info()
    }

    fn run(&mut self, tasks: &[Task], sender: &EventSender, stop: &AtomicBool) -> Result<(), String> {
        let (mut cases, mut others) = (Vec::new(), Vec::new());
        for task in tasks {
            match task.data.as_ref().and_then(|data| CaseData::deserialize(data).ok()) {
                Some(CaseData::Precision(request)) => cases.push(request.case(task.name.clone())?),
                Some(CaseData::Shader(_)) | None => others.push(task.clone()),
            }
        }
        if !cases.is_empty() {
            let plan = plan(cases, tasks, &self.device, (self.options.jobs, self.path));
            run_plan(&plan, &self.device, &self.options, sender, stop)?;
        }
        if others.is_empty() { Ok(()) } else { self.device.run_there(others, stop) }
    }
}
