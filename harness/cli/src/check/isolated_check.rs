//! Check in a worker process, where a crash or hang of the driver becomes a result.
//!
//! The worker receives the session as data, interprets the shader, and runs it on its device. It
//! announces each call into the driver, so that a crash report names the call.

use super::{
    attribution::attribute,
    execution_args::{DeviceSettings, SelectedDevice},
    subject::Subject,
};
use crate::{
    common_args::{CheckPlace, ViaArgs},
    exit::{self, Failure},
    run::{self, INTERRUPTED},
    spinner::Spinner,
    worker_limits::worker_limits,
};
use assay_check::{
    Attribution, Check, CheckSession, Options, SequenceSession, SessionOutput, SessionRequest, ShaderSource,
    SubjectRequest,
};
use assay_events::{CheckResult, DeviceInfo, Event, Status};
use assay_exec::{AnnouncedTarget, Target};
use assay_isolate::{Cases, Coordinator, CoordinatorSettings, EventSender, Refusal, RemoteDevice, RemoteTarget, Task};
use assay_runner::panic_message;
use serde::{Deserialize, Serialize};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};

/// Request for a check, sent to the worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CheckSetup {
    subject: SubjectRequest,
    device: SelectedDevice,
    settings: DeviceSettings,
    /// Result directory.
    folder: Option<PathBuf>,
    /// Command line, for bundles.
    command: Vec<String>,
}

/// Interval at which a worker checks for an interruption.
const TICK: Duration = Duration::from_millis(50);

/// Checks in a worker. Returns the device and the result, which is `None` if the check was
/// interrupted.
pub(super) fn run(
    subject: Subject<'_>,
    (device, via): (DeviceSettings, &ViaArgs),
    selected: SelectedDevice,
    output: SessionOutput<'_>,
) -> Result<(DeviceInfo, Option<CheckResult>), Failure> {
    let elsewhere = !via.via.is_empty();
    let setup = CheckSetup {
        subject: if elsewhere { subject.portable_request()? } else { subject.request() },
        device: selected,
        settings: device,
        // A worker that checks elsewhere cannot write the bundle.
        folder: output.folder.filter(|_| !elsewhere || via.check == CheckPlace::Here).map(Path::to_owned),
        command: output.command.to_vec(),
    };
    let setup = serde_json::json!({ "check": setup });
    let launch = via.launch(Vec::new(), setup)?;
    let limits = worker_limits(device.timeout, None);
    let settings = CoordinatorSettings { workers: 1, batch: 1, limits, confirm: false };
    let coordinator = Coordinator::start(launch, settings).map_err(run::failure)?;
    let device = coordinator.device().clone();
    run::catch_interrupts()?;
    let mut result: Option<CheckResult> = None;
    let bar = Spinner::new(INTERPRETING);
    let mut activity = INTERPRETING;
    let mut report = |event: &Event| {
        if let Event::CaseProgress { done, .. } = event {
            bar.set_message(format!("{activity}; run {done} on the device"));
        }
        if let Event::CheckFinished(reported) = event {
            let fails = reported.status == Status::Fail;
            activity = if fails { "diagnosing the failure" } else { "checking the instructions by themselves" };
            result = Some(match result.take() {
                Some(earlier) if ends_rerun(&earlier, reported) => keep_earlier(earlier, reported),
                _ => (**reported).clone(),
            });
        }
        Ok(())
    };
    let ran = coordinator.run(&SingleCase(subject), vec![0], &mut report, &INTERRUPTED);
    drop(bar);
    ran.map_err(run::failure)?;
    Ok((device, result))
}

/// Checks a candidate of a reduction in a worker of its own. `None`: it cannot be checked.
///
/// # Errors
/// The user interrupted the process.
pub(super) fn run_candidate(
    shader: &ShaderSource,
    options: &Options,
    on: (DeviceSettings, &ViaArgs),
    selected: &SelectedDevice,
) -> Result<Option<CheckResult>, String> {
    let Ok(shader) = ShaderSource::from_compiled(shader.compiled()) else { return Ok(None) };
    let session = CheckSession::new(shader, options.clone());
    let Ok(check) = session.check() else { return Ok(None) };
    let output = SessionOutput { folder: None, command: &[] };
    let ran = run(Subject::Shader(&session, &check), on, selected.clone(), output);
    if INTERRUPTED.load(Ordering::Relaxed) {
        return Err("it was interrupted".to_owned());
    }
    Ok(ran.ok().and_then(|(_, result)| result))
}

/// Message of the spinner before the first failure.
const INTERPRETING: &str = "interpreting and compiling the shader";

/// Returns whether a diagnostic rerun ended the driver.
fn ends_rerun(earlier: &CheckResult, rerun: &CheckResult) -> bool {
    rerun.excused.is_some() || !rerun.partial && !rerun.status.has_verdict() && rerun.status != earlier.status
}

/// Returns the result established before a diagnostic rerun ended the driver, with a note about the
/// rerun.
fn keep_earlier(earlier: CheckResult, rerun: &CheckResult) -> CheckResult {
    let reason = rerun.reason.as_deref().unwrap_or_default();
    let end = rerun.excused.unwrap_or(rerun.status);
    let note = format!("{end:?} in a diagnostic rerun of the shader: {reason}");
    CheckResult { partial: false, notes: [earlier.notes, vec![note]].concat(), ..earlier }
}

/// The subject as the only case of a coordinator's run.
struct SingleCase<'a>(Subject<'a>);

impl Cases for SingleCase<'_> {
    fn name(&self, _: u32) -> &str {
        self.0.name()
    }

    fn not_run(&self, _: u32, status: Status, reason: String) -> Event {
        Event::CheckFinished(Box::new(self.0.not_run(status, reason)))
    }
}

/// The device of a worker.
enum WorkerDevice {
    Here(Box<dyn Target + Sync>),
    /// One on another machine, whose results this worker checks. Its own worker announces the calls.
    Elsewhere(Box<RemoteDevice>),
}

/// Worker of a check: its device and request.
pub(crate) struct CheckWorker {
    setup: CheckSetup,
    device: WorkerDevice,
}

impl CheckWorker {
    /// Opens the device, unless it is elsewhere.
    pub(crate) fn open(setup: CheckSetup, elsewhere: Option<RemoteDevice>) -> Result<CheckWorker, Failure> {
        let device = match elsewhere {
            Some(device) => WorkerDevice::Elsewhere(Box::new(device)),
            None => WorkerDevice::Here(setup.settings.target(&setup.device)?),
        };
        Ok(CheckWorker { setup, device })
    }

    /// Returns a target that announces each call into the driver, dispatches with their rounds, and
    /// reports each dispatch as progress.
    fn target<'a>(&'a self, case: &'a str, sender: &'a EventSender) -> Box<dyn Target + 'a> {
        let describe = description(case, sender);
        match &self.device {
            WorkerDevice::Here(target) => Box::new(AnnouncedTarget::new(target, sender, case, describe)),
            WorkerDevice::Elsewhere(device) => Box::new(RemoteTarget::new(device, case, describe)),
        }
    }

    fn check(&self, name: &str, sender: &EventSender) -> Result<CheckResult, Failure> {
        let target = self.target(name, sender);
        let preliminary = |result: &CheckResult| {
            sender.event(&Event::CheckFinished(Box::new(CheckResult { partial: true, ..result.clone() })));
        };
        let output = SessionOutput { folder: self.setup.folder.as_deref(), command: &self.setup.command };
        match &self.setup.subject {
            SubjectRequest::Shader(request) => {
                self.check_shader(request, (name, sender), &target, output, &preliminary)
            }
            SubjectRequest::Sequence(request) => {
                let session = SequenceSession::from_request((**request).clone())?;
                Ok(session.run(&target, output, &preliminary)?)
            }
        }
    }

    fn check_shader(
        &self,
        request: &SessionRequest,
        (name, sender): (&str, &EventSender),
        target: &dyn Target,
        output: SessionOutput<'_>,
        preliminary: &dyn Fn(&CheckResult),
    ) -> Result<CheckResult, Failure> {
        let CheckSetup { device, settings, .. } = &self.setup;
        let session = CheckSession::from_request(request.clone())?;
        let check = session.check()?;
        let vulkan = || -> Result<Box<dyn Target + '_>, Failure> {
            if let WorkerDevice::Elsewhere(_) = self.device {
                return Err(exit::usage("the device was opened through wgpu alone; omit --check here"));
            }
            let other = settings.target(&SelectedDevice { wgpu: false, ..device.clone() })?;
            Ok(Box::new(AnnouncedTarget::new(other, sender, name, description(name, sender))))
        };
        let attributed = |check: &Check<'_>| attribute(check, &session.options, target.info(), &vulkan);
        let attribution: Option<Attribution<'_>> = if device.wgpu { Some(&attributed) } else { None };
        Ok(session.run(&check, target, attribution, output, preliminary)?)
    }
}

/// Returns a function that reports a dispatch of a round as progress, and describes it.
fn description<'a>(case: &'a str, sender: &'a EventSender) -> impl Fn(u32) -> String + 'a {
    let runs = AtomicU64::new(0);
    move |round| {
        let done = runs.fetch_add(1, Ordering::Relaxed) + 1;
        sender.event(&Event::CaseProgress { name: case.to_owned(), done, inputs: 0 });
        Check::round_description(round)
    }
}

impl assay_isolate::WorkerBackend for CheckWorker {
    fn device(&self) -> &DeviceInfo {
        match &self.device {
            WorkerDevice::Here(target) => target.info(),
            WorkerDevice::Elsewhere(device) => device.description(),
        }
    }

    fn target(&self) -> Option<&(dyn Target + Sync)> {
        match &self.device {
            WorkerDevice::Here(target) => Some(&**target),
            WorkerDevice::Elsewhere(_) => None,
        }
    }

    fn run(&mut self, tasks: &[Task], sender: &EventSender, stop: &AtomicBool) -> Result<(), String> {
        let Some(Task { name, .. }) = tasks.first() else { return Ok(()) };
        sender.event(&Event::CaseStarted { name: name.clone(), inputs: 0 });
        let done = AtomicBool::new(false);
        let ran = thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if stop.load(Ordering::Relaxed) {
                        // The coordinator does not wait for the work in progress.
                        std::process::exit(exit::INTERRUPTED.into());
                    }
                    thread::sleep(TICK);
                }
            });
            // A panic is a defect of Assay and must not look like a crash of the driver.
            let ran = catch_unwind(AssertUnwindSafe(|| self.check(name, sender)));
            done.store(true, Ordering::Relaxed);
            ran
        });
        match ran {
            Ok(Ok(result)) => sender.event(&Event::CheckFinished(Box::new(result))),
            Ok(Err(failure)) => sender.refuse(Refusal { reason: failure.to_string(), code: failure.code }),
            Err(panic) => {
                let message = panic_message(&*panic);
                let reason = format!("{message}: this is a defect of Assay; please report it with the command line");
                sender.refuse(Refusal { reason, code: exit::INTERNAL });
            }
        }
        Ok(())
    }
}
