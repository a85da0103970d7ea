//! Steps of a check: preparing the shader, running it on a device, diagnosing a failure, and
//! reporting.

use super::{CheckArgs, CheckDevice, ExecutionArgs, ReproArgs, attribution::attribute, isolated_check};
use crate::{
    ReportOutput,
    args::{Api, Isolate},
    exit::{self, Failure, WithCode},
    note,
    run::write_page,
};
use assay_check::{
    BundleDestination, CaseFile, Check, CheckError, ChosenParameters, MutatingTarget, Mutation, Options, PlantedError,
    ReductionLimits, ShaderSource, bundle, reduce, write_case,
};
use assay_events::{CHECK_BUDGET, CheckResult, DeviceInfo, Event, Reporter, RunInfo, SCHEMA, Status};
use assay_exec::Target;
use assay_oracle::Place as At;
use assay_precision::Specification;
use assay_reports::{Console, ConsoleOptions, ResultDirWriter, SharedReporter, Tally};
use assay_spirv::module::InstructionIndex;
use jiff::Timestamp;
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Limits of a reduction.
const REDUCTION_EFFORT: ReductionLimits = ReductionLimits { candidates: 500, time: Duration::from_secs(300) };

/// Subfolders of `--out` for the bundle of a failure and of its reduction.
pub(super) const BUNDLE_FOLDER: &str = "bundle";
const REDUCED_FOLDER: &str = "reduced";

/// Subfolder of `--out` for the case file with the parameters that a search chose.
const CASE_FOLDER: &str = "case";

/// Opens the Vulkan device beneath a device of wgpu.
pub(super) type OpenVulkan<'a> = &'a dyn Fn() -> Result<Box<dyn Target + 'a>, Failure>;

/// Command that requests a check.
#[derive(Clone, Copy)]
pub(super) enum CheckRequest<'a> {
    Check {
        args: &'a CheckArgs,
        /// The case file, if the arguments name one.
        case: Option<&'a CaseFile>,
        /// The shader that the arguments or the case file name.
        shader: &'a ShaderSource,
        /// Parameters that a search chose, if it did.
        chosen: Option<&'a ChosenParameters>,
    },
    Repro(&'a ReproArgs),
}

/// Verdict of a check on one device.
pub(super) struct DeviceVerdict {
    pub(super) device: DeviceInfo,
    /// Result; `None` if the check was interrupted.
    pub(super) result: Option<CheckResult>,
    /// Exit code for this result.
    pub(super) code: u8,
}

/// Prepared check and the steps to take on each device.
pub(super) struct CheckPlan<'a> {
    pub(super) check: &'a Check<'a>,
    pub(super) options: Options,
    /// Purpose of the case file (its `why`).
    pub(super) purpose: Option<String>,
    /// Parameters that a search chose.
    pub(super) chosen: Option<&'a ChosenParameters>,
    /// True if the check is that of a bundle.
    pub(super) is_bundle: bool,
    trace: bool,
    explain: bool,
    reduce: bool,
    mutation: Option<Mutation>,
}

/// Prepares the requested check under the rules of an API, and calls `work` with it.
pub(super) fn with_plan<R>(
    request: CheckRequest<'_>,
    api: Api,
    work: impl FnOnce(CheckPlan<'_>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    match request {
        CheckRequest::Check { args, case, shader: subject, chosen } => {
            let with_line = |error| match case {
                Some(case) => case.with_line(error),
                None => error,
            };
            let mut options = case.map(|case| case.options.clone()).unwrap_or_default();
            args.dispatch.apply(&mut options)?;
            options.rules = if api == Api::Wgpu { Specification::Wgsl } else { Specification::Vulkan };
            if subject.wgsl().is_some() {
                // They are constants in the module.
                options.specs.clear();
            }
            let check = Check::new(subject, &options).map_err(with_line)?;
            args.dispatch.refuse_duplicates(&check)?;
            let with_chosen = chosen.map(|chosen| -> Result<_, Failure> {
                chosen.apply(&mut options)?;
                Ok(Check::new(subject, &options)?)
            });
            let check = with_chosen.transpose()?.unwrap_or(check);
            let purpose = case.and_then(|case| case.why.clone());
            work(CheckPlan {
                check: &check,
                options,
                purpose,
                chosen,
                is_bundle: false,
                trace: args.trace || args.explain || !args.no_trace,
                explain: args.explain,
                reduce: args.reduce,
                mutation: args.mutate.clone(),
            })
        }
        CheckRequest::Repro(args) => {
            let bundle = bundle::read(&args.folder, args.patience)?;
            let check = Check::new(&bundle.shader, &bundle.options)?;
            let mutation = bundle.manifest.mutation.as_deref().map(str::parse::<Mutation>).transpose()?;
            let options = bundle.options.clone();
            work(CheckPlan {
                check: &check,
                options,
                purpose: None,
                chosen: None,
                is_bundle: true,
                trace: true,
                explain: false,
                reduce: false,
                mutation,
            })
        }
    }
}

/// Returns this process's command line, for reports.
pub(super) fn command() -> Vec<String> {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// Removes the bundles of an earlier check from a folder.
fn remove_bundles(folder: &Path) -> Result<(), Failure> {
    Ok([BUNDLE_FOLDER, REDUCED_FOLDER].iter().try_for_each(|name| bundle::remove(&folder.join(name)))?)
}

/// Refuses a folder in which files that Assay did not write have the names of the bundles.
pub(super) fn refuse_foreign_bundles(folder: &Path) -> Result<(), Failure> {
    let all = [BUNDLE_FOLDER, REDUCED_FOLDER, CASE_FOLDER];
    Ok(all.iter().try_for_each(|name| bundle::check_free(&folder.join(name)))?)
}

impl CheckPlan<'_> {
    /// Checks that the inputs of the options can be read and fit their bindings, before a device is
    /// opened. They are the same in every round.
    pub(super) fn must_have_inputs(&self) -> Result<(), Failure> {
        if !self.options.inputs.is_empty() || self.options.push.is_some() {
            self.check.setup.dispatch(0)?;
        }
        Ok(())
    }

    /// Returns the error to plant and its instruction, if `--mutate` is given.
    fn planted(&self) -> Result<Option<(&Mutation, PlantedError)>, Failure> {
        let Some(mutation) = &self.mutation else { return Ok(None) };
        let planted = mutation.plant(&self.check.shader.source.module, &self.check.setup.entry)?;
        Ok(Some((mutation, planted)))
    }

    /// Returns a description of the planted error and its location.
    fn describe_planted(&self, mutation: &Mutation, planted: &PlantedError) -> String {
        let place = self.check.shader.location(At { instruction: InstructionIndex(planted.instruction), line: None });
        let exact = mutation.at_word(planted.word);
        let option = if *mutation == exact { String::new() } else { format!(" (--mutate '{exact}')") };
        format!("planted {mutation} in the module that the device receives, at {place}{option}")
    }

    /// Notes the planted error, if there is one.
    pub(super) fn announce_mutation(&self) -> Result<(), Failure> {
        if let Some((mutation, planted)) = self.planted()? {
            note(&self.describe_planted(mutation, &planted));
        }
        Ok(())
    }

    /// Checks on one device, and reports the result.
    pub(super) fn check_on(
        &self,
        execution: &ExecutionArgs,
        api: Api,
        selected: &CheckDevice,
        folder: Option<&Path>,
    ) -> Result<DeviceVerdict, Failure> {
        let started = Instant::now();
        let selector = selected.selector.as_deref();
        let (device, mut result) = match execution.isolate {
            Isolate::Yes => isolated_check::run(self, execution, (api, selector), folder)?,
            Isolate::No => {
                let target = execution.target(api, selector)?;
                let vulkan = || execution.target(Api::Vulkan, selector);
                let vulkan: Option<OpenVulkan<'_>> = if api == Api::Wgpu { Some(&vulkan) } else { None };
                let result = self.examine(&*target, vulkan, (folder, &command()), &|_| ())?;
                (target.info().clone(), Some(result))
            }
        };
        if let Some(result) = &mut result {
            result.notes.extend(self.chosen.map(ChosenParameters::note));
        }
        if let (Some((mutation, planted)), Some(result)) = (self.planted()?, &mut result) {
            result
                .notes
                .push(format!("{}; this is not a fault of the device", self.describe_planted(mutation, &planted)));
            if result.mismatches.is_empty() && matches!(result.status, Status::Pass | Status::Undetermined) {
                let module = &self.check.shader.source.module;
                let others = mutation.alternatives(module, &self.check.setup.entry, Some(&planted));
                let others = others.map_or_else(
                    || "it applies to no other instruction".to_owned(),
                    |options| format!("to plant it in another instruction, give {options}"),
                );
                result.notes.push(format!("the planted error changes no checked element; {others}"));
            }
            // Some reports show only the reason, without the notes.
            result.reason = result.reason.take().map(|reason| format!("{reason}, with {mutation} planted"));
        }
        if let Some(folder) = folder
            && result.as_ref().is_none_or(|result| result.mismatches.is_empty())
        {
            remove_bundles(folder)?;
        }
        if let (Some(folder), Some(result)) = (folder, &result) {
            let bundle = folder.join(BUNDLE_FOLDER);
            let ended = matches!(result.status, Status::Crash | Status::Timeout | Status::DeviceLost);
            // The driver ended before the bundle was written, or no element could be compared.
            if ended || (result.status == Status::Fail && !bundle.exists()) {
                let to = BundleDestination { folder: &bundle, command: &command(), mutation: self.mutation.as_ref() };
                self.check.write_failure_bundle(&to, result, &device)?;
            }
        }
        if let (Some(folder), Some(result)) = (folder, &mut result) {
            self.write_case(&folder.join(CASE_FOLDER), result)?;
        }
        let code = self.report(&device, result.as_ref(), folder, started)?;
        Ok(DeviceVerdict { device, result, code })
    }

    /// Writes a case file with the parameters that a search chose, if it did, in place of that of an
    /// earlier check.
    fn write_case(&self, folder: &Path, result: &mut CheckResult) -> Result<(), Failure> {
        bundle::remove(folder)?;
        let Some(chosen) = self.chosen else { return Ok(()) };
        if let Some(file) = write_case(folder, self.check.shader, &self.options, &chosen.note())? {
            let file = file.display();
            result.notes.push(format!("`assay check {file}` repeats the check with these parameters"));
        }
        Ok(())
    }

    /// Runs the check on a target and diagnoses a failure.
    ///
    /// `vulkan` is set if the target runs through wgpu. `preliminary` receives a failure before
    /// each diagnostic step, which may crash the driver or take long.
    pub(super) fn examine(
        &self,
        target: &dyn Target,
        vulkan: Option<OpenVulkan<'_>>,
        out: (Option<&Path>, &[String]),
        preliminary: &dyn Fn(&CheckResult),
    ) -> Result<CheckResult, Failure> {
        let Some((_, planted)) = self.planted()? else { return self.diagnose(target, vulkan, out, preliminary) };
        // A planted error needs no attribution.
        self.diagnose(&MutatingTarget::new(target, planted), None, out, preliminary)
    }

    fn diagnose(
        &self,
        target: &dyn Target,
        vulkan: Option<OpenVulkan<'_>>,
        (folder, command): (Option<&Path>, &[String]),
        preliminary: &dyn Fn(&CheckResult),
    ) -> Result<CheckResult, Failure> {
        let mut result = self.check.run(target)?;
        if let (Some(folder), false) = (folder, result.mismatches.is_empty()) {
            remove_bundles(folder)?;
        }
        if result.status == Status::Fail {
            preliminary(&result);
        }
        if let (Some(vulkan), Status::Fail, false) = (vulkan, result.status, result.fails_only_the_case()) {
            result.notes.push(attribute(self.check, &self.options, target.info(), vulkan));
        }
        if self.trace && result.status == Status::Fail {
            self.check.explain(&mut result, target, self.explain);
        }
        if let Some(folder) = folder
            && matches!(result.status, Status::Fail | Status::QualityWarning)
            && !result.mismatches.is_empty()
        {
            let to =
                BundleDestination { folder: &folder.join(BUNDLE_FOLDER), command, mutation: self.mutation.as_ref() };
            self.check.write_bundle(&to, &result, target)?;
            let bundle = to.folder.display();
            result.notes.push(format!("bundle in {bundle}; reproduce with `assay repro {bundle}`"));
        }
        if self.reduce && result.status == Status::Fail {
            preliminary(&result);
            self.add_reduction(&mut result, target, folder, command)?;
        }
        Ok(result)
    }

    /// Writes all reports of a result, and returns the exit code.
    fn report(
        &self,
        device: &DeviceInfo,
        result: Option<&CheckResult>,
        folder: Option<&Path>,
        started: Instant,
    ) -> Result<u8, Failure> {
        let tally = SharedReporter::new(Tally::new());
        let mut reporters: Vec<Box<dyn Reporter>> = vec![Box::new(tally.clone())];
        if let Some(folder) = folder {
            reporters.push(Box::new(ResultDirWriter::create(folder).code(exit::USAGE)?));
        }
        let planted = self.mutation.as_ref().map(ToString::to_string);
        let folder_shown = folder.map(Path::to_owned);
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
            seed: self.check.setup.seed(),
            cases: 1,
            command: command(),
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
        if let Some(folder) = folder {
            write_page(folder);
        }
        Ok(tally.with(|tally| exit::of_outcome(tally.outcome(), interrupted)))
    }

    /// Reduces the failing shader, and writes the reduced bundle beside the original one.
    fn add_reduction(
        &self,
        result: &mut CheckResult,
        target: &dyn Target,
        folder: Option<&Path>,
        command: &[String],
    ) -> Result<(), Failure> {
        let reduced = match reduce(self.check, result, target, REDUCTION_EFFORT) {
            Ok(reduced) => reduced,
            // A failure that cannot be reduced is still reported.
            Err(error) => {
                result.notes.push(format!("not reduced: {error}"));
                return Ok(());
            }
        };
        let [before, after] = reduced.instructions;
        let [x, y, z] = reduced.result.workgroups;
        let mut note = format!(
            "reduced from {before} to {after} instructions and {x} x {y} x {z} workgroups, {} candidates tried",
            reduced.tried
        );
        if let Some(reason) = &reduced.stopped {
            note += &format!("; the reduction stopped early: {reason}");
        }
        if let Some(folder) = folder {
            let small = Check::new(&reduced.shader, &reduced.options)?;
            // Locates the planted error in the reduced module.
            let (whole, part) = (&self.check.shader.source.module, &reduced.shader.source.module);
            let planted = |mutation: &Mutation| {
                let planted = mutation.plant(whole, &self.check.setup.entry)?;
                let anywhere = || Mutation { at: None, ..mutation.clone() };
                Ok::<_, CheckError>(planted.find(part).map_or_else(anywhere, |i| mutation.at_word(i.at)))
            };
            let mutation = self.mutation.as_ref().map(planted).transpose()?;
            let to = BundleDestination { folder: &folder.join(REDUCED_FOLDER), command, mutation: mutation.as_ref() };
            small.write_bundle(&to, &reduced.result, target)?;
            note += &format!("; bundle in {}", to.folder.display());
        } else {
            note += "; give --out to keep it";
        }
        result.notes.push(note);
        Ok(())
    }
}
