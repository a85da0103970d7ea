//! Planning of a run (before the device is open) and its reporting session.

use super::{
    INTERRUPTED, RunArgs, concurrent_devices::ConcurrentRun, default_folder, resume_advice, run_worker::CaseData,
};
use crate::{
    ReportOutput, cases,
    common_args::Api,
    exit::{self, Failure, WithCode, usage},
    lab_lists::{ExpectationLists, ListsArgs},
    note,
    preparation_progress::PreparationProgress,
    print,
    report::write_run_page,
};
use assay_events::{CaseEnd, CaseResult, DeviceInfo, Event, Reporter, RunInfo, Status};
use assay_isolate::Cases;
use assay_reports::{
    Console, ConsoleOptions, Journal, JsonLines, Progress, ResultDirWriter, SharedReporter, Standing, Tally, counted,
    merge, plural,
};
use assay_runner::{CaseRequest, Plan, PlanError, RunOptions, Selection};
use assay_suite::{AnyCase, Case as Program, RunPath, ShaderOptions};
use serde_json::Value;
use std::{
    collections::HashSet,
    io,
    path::PathBuf,
    rc::Rc,
    sync::{Mutex, PoisonError, atomic::Ordering},
    thread,
    time::Instant,
};

/// Selected cases and settings of a run, known before the device is open.
pub(super) struct PlannedRun {
    pub(super) plan: Plan,
    pub(super) programs: Vec<Program>,
    pub(super) options: RunOptions,
    pub(super) path: Option<RunPath>,
    lists: Option<(ExpectationLists, Vec<String>)>,
}

impl PlannedRun {
    /// Selects the cases of a run.
    ///
    /// # Errors
    /// The arguments are invalid, or no case remains.
    pub(super) fn new(args: &RunArgs, command: Vec<String>, started: String) -> Result<PlannedRun, Failure> {
        let (all, patterns) = cases::load_with(&args.filters)?;
        let filters = cases::filters(&patterns, &all)?;
        let (lists, chosen) = args.lists.read(all, &filters)?;
        let options = args.run_options(command, started);
        let refused = |error: PlanError| Failure {
            code: match error {
                PlanError::NoMatch { .. } => exit::NOTHING,
                PlanError::Range { .. } => exit::USAGE,
            },
            error: error.into(),
        };
        let Selection { cases, thinned, part } =
            assay_runner::choose(chosen.cases, &filters, options.budget, options.partition);
        let (cases, programs) = AnyCase::split(cases);
        let mut plan = Plan::from_selection(Selection { cases, thinned, part }, &options).map_err(refused)?;
        // If this is one part of a partitioned run, another part may have cases that run through
        // wgpu.
        let needs_case = plan.part.is_none() && programs.iter().all(|case| !is_wgsl(case));
        if let Some(reason) = translate_to_wgsl(&mut plan, args.api).filter(|_| needs_case) {
            return Err(Failure {
                code: exit::NOTHING,
                error: anyhow::anyhow!("no matching case can run through wgpu: {reason}"),
            });
        }
        plan.programs = programs.iter().map(|case| case.name.clone()).collect();
        // One part of a partitioned run may have no cases.
        if plan.is_empty() && plan.part.as_ref().is_none_or(|part| part.cases == 0) {
            let error = anyhow::anyhow!(
                "the quick budget leaves out every matching case ({} in all); give a case's full name, or --budget sampled",
                assay_reports::group_digits(plan.thinned)
            );
            return Err(Failure { code: exit::NOTHING, error });
        }
        Ok(PlannedRun { plan, programs, options, path: args.path, lists: Some((lists, chosen.skipped)) })
    }

    /// Notes the number of cases that the quick budget leaves out.
    fn note_thinned(&self) {
        if self.plan.thinned > 0 {
            note(&format!(
                "the quick budget leaves out {} of the matching cases; --budget sampled runs all of them",
                assay_reports::group_digits(self.plan.thinned)
            ));
        }
    }

    /// Returns true if there are shaders of the user.
    pub(super) fn has_shaders(&self) -> bool {
        self.programs.iter().any(|program| program.shader_file().is_some())
    }

    /// Reads and compiles the shaders of the user among these cases, so that workers do not depend
    /// on their files. `portable` as for [`PreparedShader::of_file`](assay_suite::PreparedShader).
    pub(super) fn prepare_shaders(&mut self, todo: &[u32], args: &RunArgs, portable: bool) {
        let compile = args.compile.options();
        let options = ShaderOptions { compile: &compile, seed: args.seed };
        let first = self.plan.cases.len();
        let todo: HashSet<usize> = todo.iter().filter_map(|&case| (case as usize).checked_sub(first)).collect();
        let mut shaders: Vec<&mut Program> = self
            .programs
            .iter_mut()
            .enumerate()
            .filter(|(at, program)| program.shader_file().is_some() && todo.contains(at))
            .map(|(_, program)| program)
            .collect();
        if shaders.is_empty() {
            return;
        }
        let progress = PreparationProgress::new(shaders.len(), args.quiet);
        let queue = Mutex::new(shaders.iter_mut());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        thread::scope(|scope| {
            for _ in 0..self.options.jobs.max(1) {
                scope.spawn(|| {
                    while let (false, Some(program)) = (INTERRUPTED.load(Ordering::Relaxed), next()) {
                        program.prepare(options, portable);
                        progress.advance();
                    }
                });
            }
        });
    }

    /// Removes the cases that have a result.
    pub(super) fn remove_finished(&mut self, finished: &HashSet<String>) {
        if finished.is_empty() {
            return;
        }
        self.plan.cases.retain(|planned| !finished.contains(&planned.case.name));
        self.programs.retain(|case| !finished.contains(&case.name));
        self.plan.programs.retain(|name| !finished.contains(name));
    }
}

/// Prints the names of the cases that a run with these arguments has.
pub(super) fn print_planned(args: &RunArgs, command: Vec<String>) -> Result<u8, Failure> {
    let planned_run = PlannedRun::new(args, command, String::new())?;
    planned_run.note_thinned();
    let names: String = planned_run.plan.names().map(|name| format!("{name}\n")).collect();
    print(names.as_bytes())
}

/// Translates the precision cases to WGSL if the API is wgpu. Cases that cannot be translated stay
/// in the plan as they are. Returns the reason if no case was translated.
pub(super) fn translate_to_wgsl(plan: &mut Plan, api: Api) -> Option<String> {
    if api != Api::Wgpu {
        return None;
    }
    let mut reason = None;
    let mut translated = 0;
    for planned in &mut plan.cases {
        match assay_wgpu_exec::to_wgsl(&planned.case) {
            Ok(case) => {
                planned.case = case;
                translated += 1;
            }
            Err(error) => reason = reason.or_else(|| Some(error.to_string())),
        }
    }
    if plan.cases.is_empty() {
        reason = Some("SPIR-V suites cannot run through wgpu (it takes WGSL only)".to_owned());
    }
    reason.filter(|_| translated == 0)
}

/// Returns true if a program is WGSL, as some programs of the `compute` suite are.
fn is_wgsl(case: &Program) -> bool {
    case.subject.types == "WGSL"
}

impl Cases for PlannedRun {
    fn name(&self, case: u32) -> &str {
        let case = case as usize;
        match self.plan.cases.get(case) {
            Some(planned) => &planned.case.name,
            None => &self.programs[case - self.plan.cases.len()].name,
        }
    }

    fn data(&self, case: u32) -> Option<Value> {
        let case = case as usize;
        let data = match self.plan.cases.get(case) {
            Some(planned) => CaseData::Precision(CaseRequest::of(&planned.case)),
            // Programs of suites and random programs are made from their names.
            None => CaseData::Shader(self.programs[case - self.plan.cases.len()].prepared_shader()?.clone()),
        };
        serde_json::to_value(data).ok()
    }

    fn not_run(&self, case: u32, status: Status, reason: String) -> Event {
        let RunOptions { seed, ref range, .. } = self.options;
        let case = case as usize;
        match self.plan.cases.get(case) {
            Some(planned) => {
                let result = assay_runner::not_run(&planned.case, status, reason, (seed, range.as_ref()));
                Event::CaseFinished(Box::new(result))
            }
            None => {
                let program = &self.programs[case - self.plan.cases.len()];
                assay_suite::not_run(program, self.path.unwrap_or(RunPath::Native), status, reason, seed)
            }
        }
    }
}

/// Reporters and progress of a run.
pub(super) struct Session {
    tally: SharedReporter<Tally>,
    reporters: Rc<std::cell::RefCell<Vec<Box<dyn Reporter>>>>,
    folder: PathBuf,
    journal: Option<Journal>,
    info: RunInfo,
    /// Cases with a result from before the run was resumed.
    pub(super) finished: HashSet<String>,
    max_fail: Option<u64>,
    started: Instant,
}

/// Handle to a session's reporters that drops the run's start and end events, which the session
/// itself reports.
pub(super) struct ReporterHandle {
    reporters: Rc<std::cell::RefCell<Vec<Box<dyn Reporter>>>>,
    /// API of the run.
    api: String,
    tally: SharedReporter<Tally>,
    max_fail: Option<u64>,
}

impl Reporter for ReporterHandle {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::RunStarted(_) | Event::RunFinished { .. } => Ok(()),
            // The producer of a result does not know the API.
            Event::CaseFinished(result) if result.api != self.api && result.path != RunPath::Reference.name() => {
                let result = CaseResult { api: self.api.clone(), ..(**result).clone() };
                self.report(&Event::CaseFinished(Box::new(result)))
            }
            event => self.report(event),
        }
    }
}

impl ReporterHandle {
    fn report(&self, event: &Event) -> io::Result<()> {
        self.reporters.borrow_mut().iter_mut().try_for_each(|reporter| reporter.event(event))?;
        if is_failure_limit(self.max_fail, &self.tally) && !INTERRUPTED.swap(true, Ordering::SeqCst) {
            note("the number of failing cases reached --max-fail; finishing the work in progress");
        }
        Ok(())
    }
}

/// Returns whether as many cases failed as `--max-fail` permits.
fn is_failure_limit(max_fail: Option<u64>, tally: &SharedReporter<Tally>) -> bool {
    let failing = || tally.with(|tally| tally.standing(Standing::Regression) + tally.standing(Standing::Flaky));
    max_fail.is_some_and(|limit| failing() >= limit)
}

impl Session {
    /// Opens the result folder and the other reporters. `workers` is 0 for a run in this process.
    pub(super) fn new(
        args: &RunArgs,
        planned_run: &mut PlannedRun,
        device: &DeviceInfo,
        workers: usize,
        resumed: Option<(ResultDirWriter, Journal)>,
        concurrent: Option<&ConcurrentRun>,
    ) -> Result<Session, Failure> {
        let info = planned_run.plan.info(device.clone(), &planned_run.options);
        if let Some((folder, journal)) = &resumed
            && let Some(merge::Difference { what, a: then, b: now }) = merge::find_difference(&journal.info, &info)
        {
            let folder = folder.path().display();
            return Err(usage(format!("cannot resume {folder}: {what} differs (it was {then}, and is now {now})")));
        }
        let planned = Rc::new(planned_run.plan.names().collect());
        let (lists, skipped) = planned_run.lists.take().expect("a session is made once");
        let expectations = Rc::new(ListsArgs::expect(lists, device, planned, skipped));
        let (folder, journal) = match resumed {
            Some((folder, journal)) => (folder, Some(journal)),
            None => (ResultDirWriter::create(args.out.clone().unwrap_or_else(default_folder)).code(exit::USAGE)?, None),
        };
        let path = folder.path().to_owned();
        let folder = folder.with_expectations(Rc::clone(&expectations));
        if journal.is_none() && folder.holds_results() {
            note(&format!("replacing the results of an earlier run in {}", path.display()));
        }
        planned_run.note_thinned();
        if args.range.is_some() && !planned_run.programs.is_empty() {
            let programs = counted(planned_run.programs.len(), "case");
            let verb = plural(planned_run.programs.len(), "runs", "run");
            note(&format!("--range applies to precision cases only: {programs} of suites {verb} without it"));
        }
        let tally = SharedReporter::new(Tally::new().with_expectations(Rc::clone(&expectations)));
        let earlier = journal.as_ref().map_or(0, |journal| journal.kept_results);
        let progress = if args.quiet { Progress::hidden() } else { Progress::stderr(workers, earlier) };
        let progress = match concurrent {
            Some(concurrent) => progress.labelled(&concurrent.bars, &concurrent.label),
            None => progress,
        };
        let shown = ConsoleOptions {
            verbose: args.verbose,
            quiet: args.quiet,
            threads: planned_run.options.jobs,
            folder: Some(path.clone()),
            replayed: earlier,
            label: concurrent.map(|concurrent| concurrent.label.clone()),
            planted: None,
        };
        let resume = resume_advice(&path);
        let consequence =
            format!("the run continues and writes its results to {}; if it ends early, {resume}", path.display());
        let output = ReportOutput { consequence };
        let console: Box<dyn Reporter> = if args.json {
            Box::new(JsonLines::new(output).with_progress(&progress))
        } else {
            Box::new(Console::new(output, shown).with_progress(&progress).with_expectations(expectations))
        };
        // The folder comes before the console, so that the files exist when the console announces
        // them.
        let reporters: Vec<Box<dyn Reporter>> =
            vec![Box::new(tally.clone()), Box::new(progress), Box::new(folder), console];
        let info = journal.as_ref().map_or(info, |journal| journal.info.clone());
        Ok(Session {
            tally,
            reporters: Rc::new(std::cell::RefCell::new(reporters)),
            folder: path,
            journal,
            info,
            finished: HashSet::new(),
            max_fail: args.max_fail,
            started: Instant::now(),
        })
    }

    fn report(&self, event: &Event) -> io::Result<()> {
        self.reporters.borrow_mut().iter_mut().try_for_each(|reporter| reporter.event(event))
    }

    /// Returns a reporter for the events between the run's start and end.
    pub(super) fn reporter(&self) -> ReporterHandle {
        ReporterHandle {
            reporters: Rc::clone(&self.reporters),
            api: self.info.device.api.clone(),
            tally: self.tally.clone(),
            max_fail: self.max_fail,
        }
    }

    /// Reports the start of the run, then replays the journal of a resumed run.
    pub(super) fn start(&mut self, planned_run: &PlannedRun) -> Result<(), Failure> {
        self.try_start(planned_run).inspect_err(|_| self.note_resume_advice())
    }

    fn try_start(&mut self, planned_run: &PlannedRun) -> Result<(), Failure> {
        self.report(&Event::RunStarted(Box::new(self.info.clone()))).code(exit::USAGE)?;
        let Some(journal) = &self.journal else { return Ok(()) };
        let mut finished = HashSet::new();
        let mut replay = |event: &Event| {
            if let Some(CaseEnd { name, .. }) = event.case_end() {
                finished.insert(name.to_owned());
            }
            self.report(event)
        };
        journal.replay(&mut replay).code(exit::USAGE)?;
        let known: HashSet<&str> = planned_run.plan.names().collect();
        if let Some(name) = finished.iter().find(|name| !known.contains(name.as_str())) {
            let folder = self.folder.display();
            return Err(usage(format!(
                "cannot resume {folder}: it has a result of `{name}`, which is not a case of this run"
            )));
        }
        let mut message = format!("{} from the earlier run", counted(finished.len(), "result"));
        if journal.partial_results > 0 {
            let cases = counted(journal.partial_results, "case");
            let verb = plural(journal.partial_results, "was", "were");
            message += &format!("; {cases} that {verb} interrupted or not confirmed will run again");
        }
        if journal.damaged_lines > 0 {
            let lines = counted(journal.damaged_lines, "damaged line");
            message += &format!("; {lines} of the journal {} ignored", plural(journal.damaged_lines, "is", "are"));
        }
        note(&message);
        if journal.complete {
            note("the run is complete; writing its reports again");
        }
        self.finished = finished;
        Ok(())
    }

    /// Reports the end of the run and returns the exit code. `ran` is true if the run was
    /// interrupted.
    pub(super) fn end(self, ran: Result<bool, Failure>) -> Result<u8, Failure> {
        let finished = ran.and_then(|interrupted| {
            let wall = self.started.elapsed().as_secs_f64() + self.journal.as_ref().map_or(0.0, |journal| journal.wall);
            let interrupted = interrupted || INTERRUPTED.load(Ordering::Relaxed) && self.has_missing_cases();
            self.report(&Event::RunFinished { interrupted, wall }).code(exit::USAGE)?;
            Ok(interrupted)
        });
        match finished {
            Ok(interrupted) => {
                write_run_page(&self.folder);
                if interrupted {
                    note(&format!("the run was interrupted; {}", resume_advice(&self.folder)));
                }
                if is_failure_limit(self.max_fail, &self.tally) {
                    return Ok(exit::FAILURES);
                }
                Ok(self.tally.with(|tally| exit::of_outcome(tally.outcome(), tally.interrupted())))
            }
            Err(failure) => {
                self.note_resume_advice();
                Err(failure)
            }
        }
    }

    /// Notes how to resume a run that ended with an error, if its folder has results.
    fn note_resume_advice(&self) {
        if ResultDirWriter::has_run(&self.folder) {
            note(&format!("the results so far are kept; {}", resume_advice(&self.folder)));
        }
    }

    /// Returns true if fewer cases have finished than were planned.
    fn has_missing_cases(&self) -> bool {
        self.tally.with(|tally| tally.finished() < tally.planned())
    }
}
