//! Check of a session on one device, and its reports.

use super::{
    attribution::attribute,
    execution_args::{CheckDevice, ExecutionArgs, SelectedDevice},
    isolated_check,
    subject::Subject,
};
use crate::{
    ReportOutput, command_line,
    common_args::{Api, Isolate},
    exit::{self, Failure, WithCode},
    note,
    report::write_run_page,
};
use assay_check::{Attribution, Check, Options, SessionOutput, ShaderSource};
use assay_events::{CHECK_BUDGET, CheckResult, DeviceInfo, Event, Reporter, RunInfo, SCHEMA};
use assay_reports::{Console, ConsoleOptions, JsonLines, ResultDirWriter, SharedReporter, Tally};
use jiff::Timestamp;
use std::{path::Path, time::Instant};

/// Verdict of a check on one device.
pub(super) struct DeviceVerdict {
    pub(super) device: DeviceInfo,
    /// Result; `None` if the check was interrupted.
    pub(super) result: Option<CheckResult>,
    /// Exit code for this result.
    pub(super) code: u8,
}

/// Checks on one device under the rules of an API, which the subject has, and reports the result.
pub(super) fn check_on(
    subject: Subject<'_>,
    execution: &ExecutionArgs,
    (api, selected): (Api, &CheckDevice),
    folder: Option<&Path>,
) -> Result<DeviceVerdict, Failure> {
    let started = Instant::now();
    let command = command_line();
    let output = SessionOutput { folder, command: &command };
    let selected = SelectedDevice { selector: selected.selector.clone(), wgpu: api == Api::Wgpu };
    let (device, mut result) = match execution.isolate {
        Isolate::Yes => isolated_check::run(subject, (execution.settings(), &execution.via), selected.clone(), output)?,
        Isolate::No => {
            let target = execution.settings().target(&selected)?;
            let result = match subject {
                Subject::Shader(session, check) => {
                    let other = SelectedDevice { wgpu: false, ..selected.clone() };
                    let vulkan = || Ok(execution.settings().target(&other)? as Box<dyn assay_exec::Target>);
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
        Some(result) => {
            subject.conclude(result, &device, output)?;
            if let (Isolate::Yes, Subject::Shader(session, check)) = (execution.isolate, subject) {
                let run = |shader: &ShaderSource, options: &Options| {
                    isolated_check::run_candidate(shader, options, (execution.settings(), &execution.via), &selected)
                };
                session.reduce_end(check, result, (&device, &run), output)?;
            }
        }
        None => {
            folder.map_or(Ok(()), assay_check::remove_bundles)?;
            // No result tells it.
            subject.search_note().0.iter().for_each(|found| note(found));
        }
    }
    let code = report((subject, &device, result.as_ref()), output, execution.json, started)?;
    Ok(DeviceVerdict { device, result, code })
}

/// Writes all reports of a result, and returns the exit code.
fn report(
    (subject, device, result): (Subject<'_>, &DeviceInfo, Option<&CheckResult>),
    output: SessionOutput<'_>,
    json: bool,
    started: Instant,
) -> Result<u8, Failure> {
    let tally = SharedReporter::new(Tally::new());
    let mut reporters: Vec<Box<dyn Reporter>> = vec![Box::new(tally.clone())];
    if let Some(folder) = output.folder {
        reporters.push(Box::new(ResultDirWriter::create(folder).code(exit::USAGE)?));
    }
    let stdout = ReportOutput { consequence: "the check continues".to_owned() };
    if json {
        reporters.push(Box::new(JsonLines::new(stdout)));
    } else {
        let planted = subject.planted();
        let folder = output.folder.map(Path::to_owned);
        let shown = ConsoleOptions { threads: 1, folder, planted, ..ConsoleOptions::default() };
        reporters.push(Box::new(Console::new(stdout, shown)));
    }
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
        settings: None,
        started: Timestamp::now().to_string(),
        host: assay_runner::host_name(),
        selection: String::new(),
        part: None,
    })))?;
    if let Some(result) = result {
        report(&Event::CheckFinished(Box::new(result.clone())))?;
    }
    let interrupted = result.is_none_or(|result| result.partial);
    // The search for parameters came before the device.
    let (_, search) = subject.search_note();
    report(&Event::RunFinished { interrupted, wall: search + started.elapsed().as_secs_f64() })?;
    if let Some(folder) = output.folder {
        write_run_page(folder);
    }
    Ok(tally.with(|tally| exit::of_outcome(tally.outcome(), interrupted)))
}
