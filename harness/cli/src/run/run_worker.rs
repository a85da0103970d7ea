//! Worker of a run: opens the device, and runs the cases that the coordinator assigns.

use super::{RunArgs, RunBackend, skip_other_paths};
use crate::{
    cases,
    exit::{self, Failure},
};
use assay_events::{DeviceInfo, Event, RunSettings};
use assay_exec::{AnnouncedExecutor, AnnouncedTarget, Executor, Target};
use assay_isolate::{EventSender, RemoteDevice, RemoteTarget, Task, WorkerBackend, run_plan};
use assay_runner::{CaseRequest, Plan, RunOptions};
use assay_suite::{AnyCase, Case, PreparedShader, ProgramSet};
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

/// The device of a worker.
enum RunDevice {
    Here(RunBackend),
    /// One on another machine, whose results this worker checks. Its own worker announces the calls.
    Elsewhere(Box<RemoteDevice>),
}

impl RunDevice {
    fn executor(&self) -> &dyn Executor {
        match self {
            RunDevice::Here(backend) => backend.executor(),
            RunDevice::Elsewhere(device) => &**device,
        }
    }

    /// Returns a target that announces its calls for a case.
    fn target<'a>(&'a self, case: &'a str, sender: &'a EventSender) -> Box<dyn Target + Sync + 'a> {
        let describe = |_| "running a program".to_owned();
        match self {
            RunDevice::Here(backend) => Box::new(AnnouncedTarget::new(backend.target(), sender, case, describe)),
            RunDevice::Elsewhere(device) => Box::new(RemoteTarget::new(device, case, describe)),
        }
    }
}

/// Worker of a run.
pub(crate) struct RunWorker {
    args: RunArgs,
    options: RunOptions,
    device: RunDevice,
    /// Programs of the suites that were needed, by suite and name.
    suites: HashMap<String, HashMap<String, Case>>,
}

impl RunWorker {
    /// Opens the device, unless it is elsewhere.
    pub(crate) fn open(setup: RunSetup, elsewhere: Option<RemoteDevice>) -> Result<RunWorker, Failure> {
        let (args, options) = setup.arguments()?;
        let device = match elsewhere {
            Some(device) => RunDevice::Elsewhere(Box::new(device)),
            None => RunDevice::Here(RunBackend::open(&args)?),
        };
        Ok(RunWorker { args, options, device, suites: HashMap::new() })
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

    /// Returns the plan for the precision cases of some tasks.
    fn plan(&self, cases: Vec<assay_case::Case>, tasks: &[Task]) -> Plan {
        let chunks: HashMap<&str, &Vec<u64>> =
            tasks.iter().filter_map(|task| Some((task.name.as_str(), task.chunks.as_ref()?))).collect();
        let mut plan = Plan::from_cases(cases);
        for planned in &mut plan.cases {
            planned.chunks = chunks.get(planned.case.name.as_str()).map(|&chunks| chunks.clone());
        }
        plan.negotiate(self.device.executor(), self.options.jobs);
        skip_other_paths(&mut plan, self.args.path);
        plan
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
                        let target = self.device.target(&case.name, sender);
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
        self.device.executor().info()
    }

    fn executor(&self) -> Option<&dyn Executor> {
        match &self.device {
            RunDevice::Here(backend) => Some(backend.executor()),
            RunDevice::Elsewhere(_) => None,
        }
    }

    fn target(&self) -> Option<&(dyn Target + Sync)> {
        match &self.device {
            RunDevice::Here(backend) => Some(backend.target()),
            RunDevice::Elsewhere(_) => None,
        }
    }

    fn run(&mut self, tasks: &[Task], sender: &EventSender, stop: &AtomicBool) -> Result<(), String> {
        let cases = tasks.iter().map(|task| self.case(task)).collect::<Result<Vec<AnyCase>, String>>()?;
        let (cases, programs) = AnyCase::split(cases);
        if !cases.is_empty() {
            let plan = self.plan(cases, tasks);
            match &self.device {
                RunDevice::Here(backend) => {
                    let announced = AnnouncedExecutor::new(backend.executor(), sender);
                    run_plan(&plan, &announced, &self.options, sender, stop)?;
                }
                RunDevice::Elsewhere(device) => run_plan(&plan, &**device, &self.options, sender, stop)?,
            }
        }
        self.programs(&programs, sender, stop);
        Ok(())
    }
}
