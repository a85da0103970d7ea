//! A run of cases with faults, with the reporters of `assay run`.

use crate::FaultyCases;
use anyhow::{Context, bail};
use assay_events::{Event, Reporter, RunInfo, SCHEMA};
use assay_isolate::{Coordinator, CoordinatorSettings, Launch, WorkerLimits};
use assay_reports::{
    Console, ConsoleOptions, Expectations, NameIndex, Progress, ResultDirWriter, Tally, Waivers, deqp::Patterns,
};
use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
    rc::Rc,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

/// Options of a run.
#[derive(Clone, Debug, clap::Args)]
pub struct FaultRunArgs {
    /// Number of cases
    #[arg(long, default_value_t = 1_000)]
    pub cases: u32,
    /// Give one case in this many a fault
    #[arg(long, default_value_t = 50)]
    pub each: u32,
    /// Seed that chooses the faults
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Number of concurrent worker processes
    #[arg(long, default_value_t = 2)]
    pub workers: usize,
    /// Time limit for a call into the driver, in milliseconds
    #[arg(long, default_value_t = 1_000)]
    pub patience: u64,
    /// Memory limit of a worker, in MiB
    #[arg(long, default_value_t = 128)]
    pub memory: u64,
    /// Result directory
    #[arg(long)]
    pub out: PathBuf,
}

/// Runs the cases, or resumes their run, and prints the time.
///
/// # Errors
/// The result directory cannot be used, or the run was aborted.
pub fn run(args: &FaultRunArgs, resume: bool) -> anyhow::Result<()> {
    let cases = FaultyCases::random(args.cases, args.each, args.seed);
    let limits = WorkerLimits {
        call: Duration::from_millis(args.patience),
        compile: Duration::from_millis(args.patience),
        start: Duration::from_secs(60),
        memory: Some(args.memory << 20),
        output: 1 << 20,
    };
    let settings = CoordinatorSettings { workers: args.workers, batch: 256, limits, confirm: true };
    let launch = Launch { program: std::env::current_exe()?, arguments: vec!["worker".into()], ..Launch::default() };
    let coordinator = Coordinator::start(launch, settings)?;
    let mut info = RunInfo {
        schema: SCHEMA,
        version: "0".to_owned(),
        specification: "none".to_owned(),
        device: coordinator.device().clone(),
        budget: "quick".to_owned(),
        seed: args.seed,
        cases: cases.names().len(),
        command: vec!["assay-fault-injection".to_owned()],
        settings: None,
        started: "2026-11-21T00:00:00Z".to_owned(),
        host: String::new(),
        selection: format!("{} {} {}", args.cases, args.each, args.seed),
        part: None,
    };
    let began = Instant::now();
    let (folder, journal) = match resume {
        true => ResultDirWriter::resume(&args.out).map(|(folder, journal)| (folder, Some(journal)))?,
        false => (ResultDirWriter::create(&args.out)?, None),
    };
    if let Some(journal) = &journal {
        if journal.info.selection != info.selection {
            bail!("{} is a run of other cases", args.out.display());
        }
        info = journal.info.clone();
    }
    let expectations = Expectations::new(None, Patterns::empty(), Waivers::default());
    let expectations = Rc::new(expectations.for_run(Rc::clone(cases.names()), Vec::new()));
    let shown = ConsoleOptions { quiet: true, ..ConsoleOptions::default() };
    let mut reporters: Vec<Box<dyn Reporter>> = vec![
        Box::new(Tally::new().with_expectations(Rc::clone(&expectations))),
        Box::new(Progress::hidden()),
        Box::new(folder.with_expectations(Rc::clone(&expectations))),
        Box::new(Console::new(io::sink(), shown).with_expectations(expectations)),
    ];
    let mut tell = |event: &Event| reporters.iter_mut().try_for_each(|reporter| reporter.event(event));
    tell(&Event::RunStarted(Box::new(info)))?;
    let mut done = vec![false; cases.names().len()];
    if let Some(journal) = &journal {
        let index = NameIndex::new(cases.names());
        journal.replay(&mut |event| {
            if let Some(case) = event.case_end().and_then(|end| index.find(cases.names(), end.name)) {
                done[case] = true;
            }
            tell(event)
        })?;
    }
    let todo: Vec<u32> = (0..args.cases).filter(|&case| !done[case as usize]).collect();
    drop(done);
    let (count, resumed) = (todo.len(), began.elapsed().as_secs_f64());
    let began = Instant::now();
    let ended = coordinator.run(&cases, todo, &mut tell, &AtomicBool::new(false))?;
    let took = began.elapsed().as_secs_f64();
    tell(&Event::RunFinished { interrupted: ended.interrupted, wall: took })?;
    let memory = peak_memory().map_or_else(String::new, |kib| format!(", at most {} MiB in this process", kib >> 10));
    let rate = count as f64 / took;
    let earlier = journal.map_or_else(String::new, |journal| {
        format!(", {} results of the earlier run read in {resumed:.1} s", journal.kept_results)
    });
    print_line(&format!(
        "{count} cases in {took:.1} s ({rate:.0} a second), {} processes{memory}{earlier}",
        ended.processes
    ));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is the output of the tool")]
pub(crate) fn print_line(text: &str) {
    println!("{text}");
}

/// Returns the peak resident memory of this process in KiB.
fn peak_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.parse().ok()
}

/// Checks that the result directory contains exactly one result of each case, that it is correct,
/// and that there are no others.
///
/// # Errors
/// The first problem found.
pub fn verify(args: &FaultRunArgs, folder: &Path) -> anyhow::Result<()> {
    let cases = FaultyCases::random(args.cases, args.each, args.seed);
    let mut missing: HashSet<&str> = cases.names().iter().collect();
    let text = std::fs::read_to_string(folder.join("results.jsonl")).context("no results")?;
    for line in text.lines() {
        let event: Event = serde_json::from_str(line)?;
        let Event::CaseFinished(case) = event else { continue };
        if !missing.remove(case.name.as_str()) {
            bail!("{} is not planned, or has two results", case.name);
        }
        let fault = crate::Fault::of(&case.name).context("a case without a fault")?;
        let repeated = case.repeat.as_ref().map(|repeat| repeat.verdict);
        if !fault.permits(case.status, repeated) || case.partial {
            bail!("{} came out as {:?} {repeated:?}: {:?}", case.name, case.status, case.repeat);
        }
    }
    if let Some(name) = missing.iter().min() {
        bail!("{} cases have no result, {name} among them", missing.len());
    }
    Ok(())
}
