//! What is done with a shader on a device, and what is told of it.

use super::{CheckArgs, OnArgs, Place, ReproArgs, blame::blame, isolated};
use crate::{
    Stdout,
    args::{Api, Isolate},
    exit::{self, Failure, WithCode},
    note,
    run::write_page,
};
use assay_check::{
    BundleTo, CaseFile, Check, CheckError, Effort, Mutating, Mutation, Options, Planted, Subject, Target, bundle,
    reduce,
};
use assay_oracle::Place as At;
use assay_precision::Rules;
use assay_reports::{Console, ConsoleOptions, Folder, Shared, Tally};
use assay_runner::{CHECK_BUDGET, CheckResult, DeviceInfo, Event, Reporter, RunInfo, SCHEMA, Status};
use assay_spirv::module::Index;
use jiff::Timestamp;
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// What a reduction may take.
const EFFORT: Effort = Effort { candidates: 500, time: Duration::from_secs(300) };

/// The folders in that of `--out` for the bundle of a failure, and of a smaller one.
pub(super) const BUNDLE: &str = "bundle";
const REDUCED: &str = "reduced";

/// Opens the Vulkan device that a device of wgpu's is.
pub(super) type Vulkan<'a> = &'a dyn Fn() -> Result<Box<dyn Target + 'a>, Failure>;

/// Who asks.
#[derive(Clone, Copy)]
pub(super) enum Asked<'a> {
    /// With the case file, if the arguments name one.
    Check(&'a CheckArgs, Option<&'a CaseFile>),
    Repro(&'a ReproArgs),
}

/// What came of a check on a device.
pub(super) struct Judged {
    pub(super) device: DeviceInfo,
    /// `None` where it was interrupted.
    pub(super) result: Option<CheckResult>,
    /// The exit code that it calls for.
    pub(super) code: u8,
}

/// What is done on each device.
pub(super) struct Plan<'a> {
    pub(super) check: &'a Check<'a>,
    pub(super) options: Options,
    /// What a case file is for.
    pub(super) why: Option<String>,
    trace: bool,
    explain: bool,
    reduce: bool,
    mutation: Option<Mutation>,
}

/// Makes ready what is asked, judged by the rules of that API, and does something with it.
pub(super) fn prepared<R>(
    asked: Asked<'_>,
    api: Api,
    work: impl FnOnce(Plan<'_>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    match asked {
        Asked::Check(args, case) => {
            let placed = |error| match case {
                Some(case) => case.placed(error),
                None => error,
            };
            let shader = case.map_or(&args.file, |case| &case.shader);
            let mut options = case.map(|case| case.options.clone()).unwrap_or_default();
            args.given.apply(&mut options)?;
            options.rules = if api == Api::Wgpu { Rules::Wgsl } else { Rules::Vulkan };
            let subject = Subject::load_for(shader, &mut options.specs, args.given.target_env).map_err(placed)?;
            let check = Check::new(&subject, &options).map_err(placed)?;
            args.given.each_once(&check)?;
            let why = case.and_then(|case| case.why.clone());
            work(Plan {
                check: &check,
                options,
                why,
                trace: args.trace || args.explain || !args.no_trace,
                explain: args.explain,
                reduce: args.reduce,
                mutation: args.mutate.clone(),
            })
        }
        Asked::Repro(args) => {
            let bundle = bundle::read(&args.folder, args.patience)?;
            let check = Check::new(&bundle.subject, &bundle.options)?;
            let mutation = bundle.manifest.mutation.as_deref().map(str::parse::<Mutation>).transpose()?;
            let options = bundle.options.clone();
            work(Plan { check: &check, options, why: None, trace: true, explain: false, reduce: false, mutation })
        }
    }
}

/// The command line, as it is told.
pub(super) fn command() -> Vec<String> {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// Removes the bundles that an earlier check left in a folder.
fn clear(folder: &Path) -> Result<(), Failure> {
    Ok([BUNDLE, REDUCED].iter().try_for_each(|name| bundle::remove(&folder.join(name)))?)
}

/// Makes sure that nothing of somebody else is where the bundles of a folder go.
pub(super) fn bundles_must_be_free(folder: &Path) -> Result<(), Failure> {
    Ok([BUNDLE, REDUCED].iter().try_for_each(|name| bundle::check_free(&folder.join(name)))?)
}

impl Plan<'_> {
    /// The error that is planted, if one is, and the instruction that it is planted in.
    fn planted(&self) -> Result<Option<(&Mutation, Planted)>, Failure> {
        let Some(mutation) = &self.mutation else { return Ok(None) };
        let planted = mutation.plant(&self.check.subject.source.module, &self.check.setup.entry)?;
        Ok(Some((mutation, planted)))
    }

    /// Which error is planted, and where.
    fn where_planted(&self, mutation: &Mutation, planted: &Planted) -> String {
        let place = self.check.subject.place(At { instruction: Index(planted.instruction), line: None });
        let exact = mutation.at_word(planted.word);
        let names = if *mutation == exact { String::new() } else { format!(" ('{exact}' names it)") };
        format!("planted {mutation} in what the device is given, at {place}{names}")
    }

    /// Says where an error is planted, if one is.
    pub(super) fn announce_mutation(&self) -> Result<(), Failure> {
        if let Some((mutation, planted)) = self.planted()? {
            note(&self.where_planted(mutation, &planted));
        }
        Ok(())
    }

    /// Checks on one device, and tells what was found.
    pub(super) fn on(&self, on: &OnArgs, api: Api, place: &Place, folder: Option<&Path>) -> Result<Judged, Failure> {
        let started = Instant::now();
        let (device, mut result) = match on.isolate {
            Isolate::Yes => isolated::run(self, on, (api, place.selector.as_deref()), folder)?,
            Isolate::No => {
                let selector = place.selector.as_deref();
                let target = on.target(api, selector)?;
                let vulkan = || on.target(Api::Vulkan, selector);
                let vulkan: Option<Vulkan<'_>> = if api == Api::Wgpu { Some(&vulkan) } else { None };
                let result = self.judge(&*target, vulkan, (folder, &command()), &|_| ())?;
                (target.info().clone(), Some(result))
            }
        };
        if let (Some((mutation, planted)), Some(result)) = (self.planted()?, &mut result) {
            result.notes.push(format!("{}: no fault of the device's", self.where_planted(mutation, &planted)));
            if result.mismatches.is_empty() && matches!(result.status, Status::Pass | Status::Undetermined) {
                let module = &self.check.subject.source.module;
                let elsewhere = mutation.elsewhere(module, &self.check.setup.entry, Some(&planted));
                let elsewhere = elsewhere.map_or_else(
                    || "there is no other place for it".to_owned(),
                    |places| format!("`assay check {places}` plants it elsewhere"),
                );
                result.notes.push(format!("the planted error shows in no element that was checked; {elsewhere}"));
            }
            // Some reports have this only.
            result.reason = result.reason.take().map(|reason| format!("{reason}, with {mutation} planted"));
        }
        if let Some(folder) = folder
            && result.as_ref().is_none_or(|result| result.mismatches.is_empty())
        {
            clear(folder)?;
        }
        if let (Some(folder), Some(result)) = (folder, &result) {
            let bundle = folder.join(BUNDLE);
            let ended = matches!(result.status, Status::Crash | Status::Timeout | Status::DeviceLost);
            // The driver ended before it was written, or there is nothing that could be compared.
            if ended || (result.status == Status::Fail && !bundle.exists()) {
                let to = BundleTo { folder: &bundle, command: &command(), mutation: self.mutation.as_ref() };
                self.check.evidence(&to, result, &device)?;
            }
        }
        let code = self.tell(&device, result.as_ref(), folder, started)?;
        Ok(Judged { device, result, code })
    }

    /// Finds out what is to be said of a device; `vulkan` is given where it is one of wgpu's. `tell` hears of a failure before variants
    /// of the shader are run to show more of it, which may end the driver or take long.
    pub(super) fn judge(
        &self,
        target: &dyn Target,
        vulkan: Option<Vulkan<'_>>,
        out: (Option<&Path>, &[String]),
        tell: &dyn Fn(&CheckResult),
    ) -> Result<CheckResult, Failure> {
        let Some((_, planted)) = self.planted()? else { return self.found(target, vulkan, out, tell) };
        // Who is at fault for a planted error is known.
        self.found(&Mutating::new(target, planted), None, out, tell)
    }

    fn found(
        &self,
        target: &dyn Target,
        vulkan: Option<Vulkan<'_>>,
        (folder, command): (Option<&Path>, &[String]),
        tell: &dyn Fn(&CheckResult),
    ) -> Result<CheckResult, Failure> {
        let mut result = self.check.run(target)?;
        if let (Some(folder), false) = (folder, result.mismatches.is_empty()) {
            clear(folder)?;
        }
        if result.status == Status::Fail {
            tell(&result);
        }
        if let (Some(vulkan), Status::Fail) = (vulkan, result.status) {
            result.notes.push(blame(self.check, &self.options, target.info(), vulkan));
        }
        if self.trace && result.status == Status::Fail {
            self.check.explain(&mut result, target, self.explain);
        }
        if let Some(folder) = folder
            && matches!(result.status, Status::Fail | Status::QualityWarning)
            && !result.mismatches.is_empty()
        {
            let to = BundleTo { folder: &folder.join(BUNDLE), command, mutation: self.mutation.as_ref() };
            self.check.bundle(&to, &result, target)?;
            result.notes.push(format!("bundle in {}: assay repro shows it again", to.folder.display()));
        }
        if self.reduce && result.status == Status::Fail {
            tell(&result);
            self.reduced(&mut result, target, folder, command)?;
        }
        Ok(result)
    }

    /// Tells what was found, and gives the exit code that it calls for.
    fn tell(
        &self,
        device: &DeviceInfo,
        result: Option<&CheckResult>,
        folder: Option<&Path>,
        started: Instant,
    ) -> Result<u8, Failure> {
        let tally = Shared::new(Tally::new());
        let mut reporters: Vec<Box<dyn Reporter>> = vec![Box::new(tally.clone())];
        if let Some(folder) = folder {
            reporters.push(Box::new(Folder::create(folder).code(exit::USAGE)?));
        }
        let planted = self.mutation.as_ref().map(ToString::to_string);
        let folder_shown = folder.map(Path::to_owned);
        let shown = ConsoleOptions { threads: 1, folder: folder_shown, planted, ..ConsoleOptions::default() };
        reporters.push(Box::new(Console::new(Stdout { otherwise: "the check goes on".to_owned() }, shown)));
        let mut tell = |event: &Event| -> Result<(), Failure> {
            reporters.iter_mut().try_for_each(|reporter| reporter.event(event)).code(exit::USAGE)
        };
        tell(&Event::RunStarted(Box::new(RunInfo {
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
            tell(&Event::CheckFinished(Box::new(result.clone())))?;
        }
        let interrupted = result.is_none_or(|result| result.partial);
        tell(&Event::RunFinished { interrupted, wall: started.elapsed().as_secs_f64() })?;
        if let Some(folder) = folder {
            write_page(folder);
        }
        Ok(tally.with(|tally| exit::of_outcome(tally.outcome(), interrupted)))
    }

    /// Makes the failure smaller, and writes the smaller one beside the bundle of the whole.
    fn reduced(
        &self,
        result: &mut CheckResult,
        target: &dyn Target,
        folder: Option<&Path>,
        command: &[String],
    ) -> Result<(), Failure> {
        let reduced = match reduce(self.check, result, target, EFFORT) {
            Ok(reduced) => reduced,
            // A failure that cannot be made smaller is still a failure, and is reported as one.
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
        if let Some(why) = &reduced.stopped {
            note += &format!("; not as small as may be: {why}");
        }
        if let Some(folder) = folder {
            let small = Check::new(&reduced.subject, &reduced.options)?;
            // Where the planted error is in the smaller module.
            let (whole, part) = (&self.check.subject.source.module, &reduced.subject.source.module);
            let planted = |mutation: &Mutation| {
                let planted = mutation.plant(whole, &self.check.setup.entry)?;
                let anywhere = || Mutation { at: None, ..mutation.clone() };
                Ok::<_, CheckError>(planted.find(part).map_or_else(anywhere, |i| mutation.at_word(i.at)))
            };
            let mutation = self.mutation.as_ref().map(planted).transpose()?;
            let to = BundleTo { folder: &folder.join(REDUCED), command, mutation: mutation.as_ref() };
            small.bundle(&to, &reduced.result, target)?;
            note += &format!("; bundle in {}", to.folder.display());
        } else {
            note += "; give --out to have it";
        }
        result.notes.push(note);
        Ok(())
    }
}
