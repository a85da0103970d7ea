//! Check of a session on one device, and its reports.

use super::{CheckDevice, ExecutionArgs, attribution::attribute, isolated_check};
use crate::{
    ReportOutput,
    args::{Api, Isolate},
    exit::{self, Failure, WithCode},
    run::write_page,
};
use assay_check::{
    Attribution, Check, CheckError, CheckSession, SequenceRequest, SequenceSession, SessionOutput, SessionRequest,
};
use assay_events::{CHECK_BUDGET, CheckResult, DeviceInfo, Event, Reporter, RunInfo, SCHEMA, Status};
use assay_exec::Target;
use assay_precision::Specification;
use assay_reports::{Console, ConsoleOptions, ResultDirWriter, SharedReporter, Tally};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::{path::Path, time::Instant};

/// Opens the Vulkan device beneath a device of wgpu.
pub(super) type OpenVulkan<'a> = &'a dyn Fn() -> Result<Box<dyn Target + 'a>, Failure>;

/// Subject of a check: a shader, or a sequence of dispatches.
#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    /// A shader. The check is that of the session.
    Shader(&'a CheckSession, &'a Check<'a>),
    Sequence(&'a SequenceSession),
}

/// A subject in a form that is sent to another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum SubjectRequest {
    Shader(Box<SessionRequest>),
    Sequence(Box<SequenceRequest>),
}

impl Subject<'_> {
    pub(super) fn request(self) -> SubjectRequest {
        match self {
            Subject::Shader(session, _) => SubjectRequest::Shader(Box::new(session.request())),
            Subject::Sequence(session) => SubjectRequest::Sequence(Box::new(session.request())),
        }
    }

    /// As [`Subject::request`], with the contents of input files in place of their paths.
    pub(super) fn portable_request(self) -> Result<SubjectRequest, CheckError> {
        match self {
            Subject::Shader(session, _) => Ok(SubjectRequest::Shader(Box::new(session.portable_request()?))),
            // Its memory is data.
            Subject::Sequence(_) => Ok(self.request()),
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Subject::Shader(_, check) => &check.shader.name,
            Subject::Sequence(session) => &session.sequence.name,
        }
    }

    /// Returns the result for a target that gave none.
    pub(super) fn not_run(self, status: Status, reason: String) -> CheckResult {
        match self {
            Subject::Shader(_, check) => check.not_run(status, reason),
            Subject::Sequence(session) => session.not_run(status, reason),
        }
    }

    /// Returns the planted error, if there is one.
    fn planted(self) -> Option<String> {
        let mutation = match self {
            Subject::Shader(session, _) => &session.mutation,
            Subject::Sequence(session) => &session.mutation,
        };
        mutation.as_ref().map(ToString::to_string)
    }

    fn seed(self) -> u64 {
        match self {
            Subject::Shader(_, check) => check.setup.seed(),
            Subject::Sequence(session) => session.options.seed,
        }
    }

    fn conclude(
        self,
        result: &mut CheckResult,
        device: &DeviceInfo,
        output: SessionOutput<'_>,
    ) -> Result<(), CheckError> {
        match self {
            Subject::Shader(session, check) => session.conclude(check, result, device, output),
            Subject::Sequence(session) => session.conclude(result, output),
        }
    }
}

/// Verdict of a check on one device.
pub(super) struct DeviceVerdict {
    pub(super) device: DeviceInfo,
    /// Result; `None` if the check was interrupted.
    pub(super) result: Option<CheckResult>,
    /// Exit code for this result.
    pub(super) code: u8,
}

/// Device of a check, and the API through which it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SelectedDevice {
    /// Argument of `--device` that selects it.
    pub(super) selector: Option<String>,
    pub(super) wgpu: bool,
}

/// Returns the specification that judges an API.
pub(super) fn rules(api: Api) -> Specification {
    if api == Api::Wgpu { Specification::Wgsl } else { Specification::Vulkan }
}

/// Returns this process's command line, for reports.
fn command() -> Vec<String> {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// Checks on one device under the rules of an API, which the subject has, and reports the result.
pub(super) fn check_on(
    subject: Subject<'_>,
    execution: &ExecutionArgs,
    (api, selected): (Api, &CheckDevice),
    folder: Option<&Path>,
) -> Result<DeviceVerdict, Failure> {
    let started = Instant::now();
    let command = command();
    let output = SessionOutput { folder, command: &command };
    let selected = SelectedDevice { selector: selected.selector.clone(), wgpu: api == Api::Wgpu };
    let (device, mut result) = match execution.isolate {
        Isolate::Yes => isolated_check::run(subject, (execution.settings(), &execution.via), selected, output)?,
        Isolate::No => {
            let target = execution.settings().target(&selected)?;
            let result = match subject {
                Subject::Shader(session, check) => {
                    let vulkan = || execution.settings().target(&SelectedDevice { wgpu: false, ..selected.clone() });
                    let attributed = |check: &Check<'_>| attribute(check, &session.options, target.info(), &vulkan);
                    let attribution: Option<Attribution<'_>> = if selected.wgpu { Some(&attributed) } else { None };
                    session.run(check, &*target, attribution, output, &|_| ())?
                }
                Subject::Sequence(session) => session.run(&*target, output, &|_| ())?,
            };
            (target.info().clone(), Some(result))
        }
    };
    match &mut result {
        Some(result) => subject.conclude(result, &device, output)?,
        None => folder.map_or(Ok(()), assay_check::remove_bundles)?,
    }
    let code = report(subject, &device, result.as_ref(), output, started)?;
    Ok(DeviceVerdict { device, result, code })
}

/// Writes all reports of a result, and returns the exit code.
fn report(
    subject: Subject<'_>,
    device: &DeviceInfo,
    result: Option<&CheckResult>,
    output: SessionOutput<'_>,
    started: Instant,
) -> Result<u8, Failure> {
    let tally = SharedReporter::new(Tally::new());
    let mut reporters: Vec<Box<dyn Reporter>> = vec![Box::new(tally.clone())];
    if let Some(folder) = output.folder {
        reporters.push(Box::new(ResultDirWriter::create(folder).code(exit::USAGE)?));
    }
    let planted = subject.planted();
    let folder_shown = output.folder.map(Path::to_owned);
    let shown = ConsoleOptions { threads: 1, folder: folder_shown, planted, ..ConsoleOptions::default() };
    reporters.push(Box::new(Console::new(ReportOutput { consequence: "the check continues".to_owned() }, shown)));
    let mut report = |event: &Event| -> Result<(), Failure> {
        reporters.iter_mut().try_for_each(|reporter| reporter.event(event)).code(exit::USAGE)
    };
    report(&Event::RunStarted(Box::new(RunInfo {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        specification: device.specification().to_owned(),
        device: device.clone(),
        budget: CHECK_BUDGET.to_owned(),
        seed: subject.seed(),
        cases: 1,
        command: output.command.to_vec(),
        started: Timestamp::now().to_string(),
        host: assay_runner::host_name(),
        selection: String::new(),
        part: None,
    })))?;
    if let Some(result) = result {
        report(&Event::CheckFinished(Box::new(result.clone())))?;
    }
    let interrupted = result.is_none_or(|result| result.partial);
    report(&Event::RunFinished { interrupted, wall: started.elapsed().as_secs_f64() })?;
    if let Some(folder) = output.folder {
        write_page(folder);
    }
    Ok(tally.with(|tally| exit::of_outcome(tally.outcome(), interrupted)))
}
