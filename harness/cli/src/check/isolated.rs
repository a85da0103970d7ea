//! A check in a worker process: a driver that crashes or hangs is a result.
//!
//! The worker does all of it: it makes the shader ready as this process did, interprets it, and runs it on its device. It
//! announces each run, so that whatever ends it says what was under way.

use super::{
    OnArgs, is_toml,
    plan::{self, Asked, Plan, Vulkan},
};
use crate::{
    args::{Api, Command},
    exit::{self, Failure, WithCode},
    run::{self, INTERRUPTED},
};
use assay_check::{CaseFile, Check, DeviceWork, Job, Left, Placed, Target, TargetError};
use assay_isolate::{Cases, Coordinator, Launch, Limits, Refusal, Settings, Task, Teller};
use assay_runner::{CheckResult, DeviceInfo, Event, Status, panic_message};
use assay_spirv::need::Have;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

/// What a worker is told of a check.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// The command line.
    pub(crate) command: Vec<String>,
    device: Option<String>,
    wgpu: bool,
    /// Where bundles go.
    folder: Option<PathBuf>,
}

/// How long opening the device may take.
const START: Duration = Duration::from_secs(120);

/// Bytes of messages that a driver may write.
const OUTPUT: u64 = 64 << 20;

/// How often a worker looks whether it is to stop.
const TICK: Duration = Duration::from_millis(50);

/// Checks in a worker; gives the device and the result, or none if it was interrupted.
pub(super) fn run(
    plan: &Plan<'_>,
    on: &OnArgs,
    (api, selector): (Api, Option<&str>),
    folder: Option<&Path>,
) -> Result<(DeviceInfo, Option<CheckResult>), Failure> {
    let setup = Setup {
        command: plan::command(),
        device: selector.map(str::to_owned),
        wgpu: api == Api::Wgpu,
        folder: folder.map(Path::to_owned),
    };
    let setup = serde_json::json!({ "check": setup });
    let program = std::env::current_exe().code(exit::INTERNAL)?;
    let launch = Launch { program, arguments: vec!["worker".into()], environment: Vec::new(), setup };
    // The worker itself gives up a submission in time; what does not come back from it is ended from outside.
    let call = Duration::from_secs_f64(on.timeout * 1.25 + 2.0);
    let limits = Limits { call, start: START.max(call), memory: None, output: OUTPUT };
    let settings = Settings { workers: 1, batch: 1, limits, confirm: false };
    let coordinator = Coordinator::start(launch, settings).map_err(run::failure)?;
    let device = coordinator.device().clone();
    run::catch_interrupts()?;
    let mut result: Option<CheckResult> = None;
    let bar = spinner();
    let mut doing = "interpreting it";
    let mut tell = |event: &Event| {
        if let Event::CaseProgress { done, .. } = event {
            bar.set_message(format!("{doing}; run {done} on the device"));
        }
        if let Event::CheckFinished(found) = event {
            doing = "it fails: looking for what is wrong";
            result = Some(match result.take() {
                Some(known) if !found.partial && found.status != known.status => outlived(known, found),
                _ => (**found).clone(),
            });
        }
        Ok(())
    };
    let ran = coordinator.run(&One(plan.check), vec![0], &mut tell, &INTERRUPTED);
    bar.finish_and_clear();
    ran.map_err(run::failure)?;
    Ok((device, result))
}

/// What shows on a terminal that a check goes on, and for how long it has.
fn spinner() -> ProgressBar {
    let style =
        ProgressStyle::with_template("{spinner} {elapsed} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner().with_style(style).with_message("interpreting it");
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// What was found before something that was to show more of it ended the driver.
fn outlived(known: CheckResult, end: &CheckResult) -> CheckResult {
    let why = end.reason.as_deref().unwrap_or_default();
    let note = format!("{:?} on a variant of the shader that was to show more of it: {why}", end.status);
    CheckResult { partial: false, notes: [known.notes, vec![note]].concat(), ..known }
}

/// The one case of a check.
struct One<'a>(&'a Check<'a>);

impl Cases for One<'_> {
    fn name(&self, _: u32) -> &str {
        &self.0.subject.name
    }

    fn blank(&self, _: u32, status: Status, reason: String) -> Event {
        Event::CheckFinished(Box::new(self.0.without_result(status, reason)))
    }
}

/// The side of the worker: a device, and what it is to check.
pub(crate) struct Bench {
    asked: Command,
    setup: Setup,
    api: Api,
    target: Box<dyn Target>,
}

impl Bench {
    /// Opens the device.
    pub(crate) fn open(asked: Command, setup: Setup) -> Result<Bench, Failure> {
        let on = on(&asked)?;
        let api = if setup.wgpu { Api::Wgpu } else { Api::Vulkan };
        let target = on.target(api, setup.device.as_deref())?;
        Ok(Bench { asked, setup, api, target })
    }

    fn on(&self) -> Result<&OnArgs, Failure> {
        on(&self.asked)
    }

    fn check(&self, name: &str, teller: &Teller) -> Result<CheckResult, Failure> {
        let case = match &self.asked {
            Command::Check(args) if is_toml(&args.file) => CaseFile::load(&args.file)?,
            _ => None,
        };
        let asked = match &self.asked {
            Command::Check(args) => Asked::Check(args, case.as_ref()),
            Command::Repro(args) => Asked::Repro(args),
            _ => return Err(exit::usage("nothing is to be checked")),
        };
        plan::prepared(asked, self.api, |plan| {
            let watched = |target| Watched { target, teller, case: name, round: Cell::new(0), runs: Cell::new(0) };
            let target = watched(Box::new(&*self.target) as Box<dyn Target + '_>);
            let vulkan = || -> Result<Box<dyn Target + '_>, Failure> {
                Ok(Box::new(watched(self.on()?.target(Api::Vulkan, self.setup.device.as_deref())?)))
            };
            let vulkan: Option<Vulkan<'_>> = if self.setup.wgpu { Some(&vulkan) } else { None };
            let tell = |found: &CheckResult| {
                teller.event(&Event::CheckFinished(Box::new(CheckResult { partial: true, ..found.clone() })));
            };
            plan.judge(&target, vulkan, (self.setup.folder.as_deref(), &self.setup.command), &tell)
        })
    }
}

fn on(asked: &Command) -> Result<&OnArgs, Failure> {
    match asked {
        Command::Check(args) => Ok(&args.on),
        Command::Repro(args) => Ok(&args.on),
        _ => Err(exit::usage("a worker is a part of `assay run`, `assay check` and `assay repro`")),
    }
}

impl assay_isolate::Bench for Bench {
    fn device(&self) -> &DeviceInfo {
        self.target.info()
    }

    fn run(&mut self, tasks: &[Task], teller: &Teller, stop: &AtomicBool) -> Result<(), String> {
        let Some(Task { name, .. }) = tasks.first() else { return Ok(()) };
        teller.event(&Event::CaseStarted { name: name.clone(), inputs: 0 });
        let done = AtomicBool::new(false);
        let ran = thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if stop.load(Ordering::Relaxed) {
                        // Nobody waits for what is under way.
                        std::process::exit(exit::INTERRUPTED.into());
                    }
                    thread::sleep(TICK);
                }
            });
            // A panic is a defect of Assay, and must not look like the end of a driver.
            let ran = catch_unwind(AssertUnwindSafe(|| self.check(name, teller)));
            done.store(true, Ordering::Relaxed);
            ran
        });
        match ran {
            Ok(Ok(result)) => teller.event(&Event::CheckFinished(Box::new(result))),
            Ok(Err(failure)) => teller.refuse(Refusal { reason: failure.to_string(), code: failure.code }),
            Err(panic) => {
                let said = panic_message(&*panic);
                let reason = format!("{said}: this is a defect of Assay; please report it with the command line");
                teller.refuse(Refusal { reason, code: exit::INTERNAL });
            }
        }
        Ok(())
    }
}

/// A target whose runs are announced, with their round.
struct Watched<'a> {
    target: Box<dyn Target + 'a>,
    teller: &'a Teller,
    case: &'a str,
    round: Cell<u32>,
    runs: Cell<u64>,
}

impl Target for Watched<'_> {
    fn info(&self) -> &DeviceInfo {
        self.target.info()
    }

    fn have(&self) -> &Have {
        self.target.have()
    }

    fn begin(&self, round: u32) {
        self.round.set(round);
    }

    fn place(&self, job: &Job<'_>) -> Result<Placed, TargetError> {
        let _call = self.teller.enter(self.case, "making buffers with device addresses");
        self.target.place(job)
    }

    fn clear_workgroup_memory(&self) {
        let _call = self.teller.enter(self.case, "clearing memory of workgroups");
        self.target.clear_workgroup_memory();
    }

    fn run(&self, job: &Job<'_>) -> Result<Left, TargetError> {
        self.runs.set(self.runs.get() + 1);
        self.teller.event(&Event::CaseProgress { name: self.case.to_owned(), done: self.runs.get(), inputs: 0 });
        let _call = self.teller.enter(self.case, &Check::doing(self.round.get()));
        self.target.run(job)
    }

    fn with_device(&self, during: &'static str, work: &mut DeviceWork<'_>) -> Result<(), TargetError> {
        let _call = self.teller.enter(self.case, during);
        self.target.with_device(during, work)
    }
}
