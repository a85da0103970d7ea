//! What is run, and who is told of it.

use super::{INTERRUPTED, among::Among, default_folder, how_to_resume, write_page};
use crate::{
    Stdout,
    args::{Api, RunArgs},
    cases,
    exit::{self, Failure, WithCode, usage},
    lists::{Lists, ListsArgs},
    note,
};
use assay_isolate::Cases;
use assay_reports::{Console, ConsoleOptions, Folder, Journal, Progress, Shared, Tally, counted, merge, plural};
use assay_runner::{CaseResult, DeviceInfo, Event, Plan, PlanError, Reporter, RunInfo, RunOptions, Selection, Status};
use assay_suite::{Case as Program, RunPath, RunWith, Unit};
use std::{
    collections::HashSet, io, num::NonZero, path::PathBuf, rc::Rc, sync::atomic::Ordering, thread, time::Instant,
};

/// The cases of a run and what is done with them: known without a device.
pub(super) struct Work {
    pub(super) plan: Plan,
    pub(super) programs: Vec<Program>,
    pub(super) options: RunOptions,
    pub(super) path: Option<RunPath>,
    lists: Option<(Lists, Vec<String>)>,
}

/// The options that all kinds of runs share.
pub(super) fn options(args: &RunArgs, command: Vec<String>, started: String) -> RunOptions {
    RunOptions {
        budget: args.budget,
        seed: args.seed,
        range: args.range.clone(),
        partition: args.partition,
        jobs: jobs(args),
        command,
        started,
    }
}

/// Threads that a run has, of all devices together.
pub(super) fn jobs(args: &RunArgs) -> usize {
    args.jobs.map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), usize::from)
}

/// How programs are run on a device.
pub(super) fn run_with(args: &RunArgs, options: &RunOptions, device: &DeviceInfo) -> RunWith {
    // The layer says what it objects to about the device, not about a case: one at a time, then.
    let jobs = if args.validation { 1 } else { options.jobs };
    let again = assay_runner::again(&options.command, device, &options.budget.to_string(), options.seed);
    RunWith { path: args.path, seed: args.seed, jobs, again }
}

impl Work {
    /// Chooses cases.
    pub(super) fn new(args: &RunArgs, command: Vec<String>, started: String) -> Result<Work, Failure> {
        let (all, patterns) = cases::load_with(&args.filters)?;
        let filters = cases::filters(&patterns, &all)?;
        let (lists, chosen) = args.lists.read(all, &filters)?;
        let options = options(args, command, started);
        let refused = |error: PlanError| Failure {
            code: match error {
                PlanError::NoMatch { .. } => exit::NOTHING,
                PlanError::Range { .. } => exit::USAGE,
            },
            error: error.into(),
        };
        let Selection { cases, thinned, part } =
            assay_runner::choose(chosen.cases, &filters, options.budget, options.partition);
        let (cases, programs) = Unit::split(cases);
        let mut plan = Plan::chosen(Selection { cases, thinned, part }, &options).map_err(refused)?;
        // Of a part that holds none of what can be run so, another may.
        let alone = plan.part.is_none() && programs.iter().all(|case| !may_be_wgsl(case));
        if let Some(why) = translate(&mut plan, args.api).filter(|_| alone) {
            return Err(Failure {
                code: exit::NOTHING,
                error: anyhow::anyhow!("nothing that matches can be run through wgpu: {why}"),
            });
        }
        plan.programs = programs.iter().map(|case| case.name.clone()).collect();
        // A part into which no case falls is one, too: the others have them.
        if plan.is_empty() && plan.part.as_ref().is_none_or(|part| part.cases == 0) {
            let error = anyhow::anyhow!(
                "the quick budget leaves out every case that matches ({} in all); name one in full, or give --budget sampled",
                assay_reports::count(plan.thinned)
            );
            return Err(Failure { code: exit::NOTHING, error });
        }
        Ok(Work { plan, programs, options, path: args.path, lists: Some((lists, chosen.skipped)) })
    }

    /// Leaves out cases that have a result.
    pub(super) fn keep(&mut self, done: &HashSet<String>) {
        if done.is_empty() {
            return;
        }
        self.plan.cases.retain(|planned| !done.contains(&planned.case.name));
        self.programs.retain(|case| !done.contains(&case.name));
        self.plan.programs.retain(|name| !done.contains(name));
    }
}

/// Has precision cases judged as WGSL where they can be, if they are run through wgpu. Why not, if none can be.
pub(super) fn translate(plan: &mut Plan, api: Api) -> Option<String> {
    if api != Api::Wgpu {
        return None;
    }
    let mut why = None;
    let mut translated = 0;
    for planned in &mut plan.cases {
        match assay_portable::translated(&planned.case) {
            Ok(case) => {
                planned.case = case;
                translated += 1;
            }
            Err(error) => why = why.or_else(|| Some(error.to_string())),
        }
    }
    if plan.cases.is_empty() {
        why = Some("programs of SPIR-V are none of WebGPU's".to_owned());
    }
    why.filter(|_| translated == 0)
}

/// Whether a program is WGSL: those of `compute` say so.
fn may_be_wgsl(case: &Program) -> bool {
    case.about.types == "WGSL"
}

impl Cases for Work {
    fn name(&self, case: u32) -> &str {
        let case = case as usize;
        match self.plan.cases.get(case) {
            Some(planned) => &planned.case.name,
            None => &self.programs[case - self.plan.cases.len()].name,
        }
    }

    fn blank(&self, case: u32, status: Status, reason: String) -> Event {
        let RunOptions { seed, ref range, .. } = self.options;
        let case = case as usize;
        Event::CaseFinished(Box::new(match self.plan.cases.get(case) {
            Some(planned) => assay_runner::blank(&planned.case, status, reason, (seed, range.as_ref())),
            None => {
                let program = &self.programs[case - self.plan.cases.len()];
                assay_suite::blank(program, self.path.unwrap_or(RunPath::Native), status, reason, seed)
            }
        }))
    }
}

/// Those who are told, and how the run stands.
pub(super) struct Session {
    tally: Shared<Tally>,
    reporters: Rc<std::cell::RefCell<Vec<Box<dyn Reporter>>>>,
    folder: PathBuf,
    journal: Option<Journal>,
    info: RunInfo,
    /// Cases that have a result from before.
    pub(super) done: HashSet<String>,
    began: Instant,
}

/// A handle on the reporters of a session that keeps the beginning and the end of the run to itself.
pub(super) struct Told {
    reporters: Rc<std::cell::RefCell<Vec<Box<dyn Reporter>>>>,
    /// What results come through.
    api: String,
}

impl Reporter for Told {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::RunStarted(_) | Event::RunFinished { .. } => Ok(()),
            // Who makes a result knows the case; what it came through is known here.
            Event::CaseFinished(result) if result.api != self.api && result.path != RunPath::Reference.name() => {
                let result = CaseResult { api: self.api.clone(), ..(**result).clone() };
                self.tell(&Event::CaseFinished(Box::new(result)))
            }
            event => self.tell(event),
        }
    }
}

impl Told {
    fn tell(&self, event: &Event) -> io::Result<()> {
        self.reporters.borrow_mut().iter_mut().try_for_each(|reporter| reporter.event(event))
    }
}

impl Session {
    /// Opens the folder and the other reports, once it is known what the cases run on, and how many workers there are (0: it runs
    /// in this process).
    pub(super) fn new(
        args: &RunArgs,
        work: &mut Work,
        device: &DeviceInfo,
        workers: usize,
        resumed: Option<(Folder, Journal)>,
        among: Option<&Among>,
    ) -> Result<Session, Failure> {
        let info = work.plan.info(device.clone(), &work.options);
        if let Some((folder, journal)) = &resumed
            && let Some((what, then, now)) = merge::differing(&journal.info, &info)
        {
            let folder = folder.path().display();
            return Err(usage(format!("cannot go on with {folder}: {what} differs ({then} then, {now} now)")));
        }
        let planned = Rc::new(work.plan.names().collect());
        let (lists, skipped) = work.lists.take().expect("a session is made once");
        let expectations = Rc::new(ListsArgs::expect(lists, device, planned, skipped));
        let (folder, journal) = match resumed {
            Some((folder, journal)) => (folder, Some(journal)),
            None => (Folder::create(args.out.clone().unwrap_or_else(default_folder)).code(exit::USAGE)?, None),
        };
        let path = folder.path().to_owned();
        let folder = folder.expecting(Rc::clone(&expectations));
        if journal.is_none() && folder.holds_results() {
            note(&format!("replacing the results of an earlier run in {}", path.display()));
        }
        if work.plan.thinned > 0 {
            note(&format!(
                "the quick budget leaves out {} of the cases that match; --budget sampled runs them all",
                assay_reports::count(work.plan.thinned)
            ));
        }
        if args.range.is_some() && !work.programs.is_empty() {
            let programs = counted(work.programs.len(), "case");
            let verb = plural(work.programs.len(), "runs", "run");
            note(&format!("--range is for the operands of precision cases: {programs} of suites {verb} without it"));
        }
        let tally = Shared::new(Tally::new().expecting(Rc::clone(&expectations)));
        let earlier = journal.as_ref().map_or(0, |journal| journal.results);
        let progress = if args.quiet { Progress::hidden() } else { Progress::stderr(workers, earlier) };
        let progress = match among {
            Some(among) => progress.among(&among.bars, &among.which),
            None => progress,
        };
        let shown = ConsoleOptions {
            verbose: args.verbose,
            quiet: args.quiet,
            threads: work.options.jobs,
            folder: Some(path.clone()),
            earlier,
            which: among.map(|among| among.which.clone()),
            planted: None,
        };
        let resume = how_to_resume(&path);
        let otherwise = format!("the run goes on, its results go to {}; should it end early, {resume}", path.display());
        let console = Console::new(Stdout { otherwise }, shown).beside(&progress).expecting(expectations);
        // The folder first: what the console says at the end is then already there.
        let reporters: Vec<Box<dyn Reporter>> =
            vec![Box::new(tally.clone()), Box::new(progress), Box::new(folder), Box::new(console)];
        let info = journal.as_ref().map_or(info, |journal| journal.info.clone());
        Ok(Session {
            tally,
            reporters: Rc::new(std::cell::RefCell::new(reporters)),
            folder: path,
            journal,
            info,
            done: HashSet::new(),
            began: Instant::now(),
        })
    }

    fn tell(&self, event: &Event) -> io::Result<()> {
        self.reporters.borrow_mut().iter_mut().try_for_each(|reporter| reporter.event(event))
    }

    /// A reporter for the events between the beginning and the end.
    pub(super) fn reporter(&self) -> Told {
        Told { reporters: Rc::clone(&self.reporters), api: self.info.device.api.clone() }
    }

    /// Tells of the beginning, and of what was done before.
    pub(super) fn start(&mut self, work: &Work) -> Result<(), Failure> {
        self.try_start(work).inspect_err(|_| self.say_how_to_resume())
    }

    fn try_start(&mut self, work: &Work) -> Result<(), Failure> {
        self.tell(&Event::RunStarted(Box::new(self.info.clone()))).code(exit::USAGE)?;
        let Some(journal) = &self.journal else { return Ok(()) };
        let mut done = HashSet::new();
        let mut take = |event: &Event| {
            if let Some((name, ..)) = event.ended() {
                done.insert(name.to_owned());
            }
            self.tell(event)
        };
        journal.replay(&mut take).code(exit::USAGE)?;
        let known: HashSet<&str> = work.plan.names().collect();
        if let Some(name) = done.iter().find(|name| !known.contains(name.as_str())) {
            return Err(usage(format!("{} has a result of `{name}`, which is not planned", self.folder.display())));
        }
        let mut said = format!("{} from before", counted(done.len(), "result"));
        if journal.partial > 0 {
            let cases = counted(journal.partial, "case");
            let verb = plural(journal.partial, "was", "were");
            said += &format!("; {cases} that {verb} cut short or not confirmed will run again");
        }
        if journal.damaged > 0 {
            let lines = counted(journal.damaged, "damaged line");
            said += &format!("; {lines} of the journal {} left out", plural(journal.damaged, "is", "are"));
        }
        note(&said);
        if journal.complete {
            note("the run is complete: its reports are written again");
        }
        self.done = done;
        Ok(())
    }

    /// Tells of the end, and says what the exit code is.
    pub(super) fn end(self, ran: Result<bool, Failure>) -> Result<u8, Failure> {
        let finished = ran.and_then(|interrupted| {
            let wall = self.began.elapsed().as_secs_f64() + self.journal.as_ref().map_or(0.0, |journal| journal.wall);
            let interrupted = interrupted || INTERRUPTED.load(Ordering::Relaxed) && self.is_short();
            self.tell(&Event::RunFinished { interrupted, wall }).code(exit::USAGE)?;
            Ok(interrupted)
        });
        match finished {
            Ok(interrupted) => {
                write_page(&self.folder);
                if interrupted {
                    note(&format!("interrupted: {}", how_to_resume(&self.folder)));
                }
                Ok(self.tally.with(|tally| exit::of_outcome(tally.outcome(), tally.interrupted())))
            }
            Err(failure) => {
                self.say_how_to_resume();
                Err(failure)
            }
        }
    }

    /// Says how to continue a run that ends with an error, if its folder has anything.
    fn say_how_to_resume(&self) {
        if Folder::is_begun(&self.folder) {
            note(&format!("the results so far are kept: {}", how_to_resume(&self.folder)));
        }
    }

    fn is_short(&self) -> bool {
        self.tally.with(|tally| tally.finished() < tally.planned())
    }
}
