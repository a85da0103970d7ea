//! `assay fuzz`: campaigns of random shaders.
//!
//! A campaign is a run of the programs `fuzz.SEED.INDEX`, with the workers, journal and reports of
//! `assay run`. Afterwards its failures are grouped by signature, and one of each group is reduced.

mod cause_folder;
mod mutants;

use crate::{
    common_args::{positive_seconds, whole_number},
    exit::{self, Failure, WithCode},
    lab_lists::{ListsArgs, write_case_list},
    note, output_file, print_summary, result_folders,
    run::{self, RunArgs},
};
use assay_check::{Options, ShaderSource};
use assay_events::{CheckResult, Status};
use assay_files::OwnedFiles;
use assay_fuzz::{Coverage, FailureSignature, ProgramRange};
use assay_reports::{ResultDir, counted, group_digits};
use clap::Args;
use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// End of `assay fuzz --help`.
pub(crate) const HELP: &str = "\
A program is its seed and index: `assay run fuzz.SEED.INDEX` checks it again, on any
machine. Programs use a random subset of the features of WGSL and SPIR-V, and avoid
undefined behaviour. Of twice as many as --programs, 20,000 at most, those are chosen
that reach new combinations of instructions, types and kinds of operands. A program that
is undefined or cannot be decided nevertheless is dropped and counted.

Failures are grouped by status, first wrong instruction, types and kinds of its operands,
and class. For each group DIR/causes/ holds the smallest program as a case, its bundle,
the reduced bundle and case, and a draft of a finding. A draft accuses nobody: it lists
what to verify first. --known names groups with a finding already; they are counted only.

Examples:
  assay fuzz --time 60
  assay fuzz --from shaders --programs 500 --time 10
  assay fuzz --device all --programs 20000 --seed 7 --out campaign
  assay fuzz --resume campaign --time 60

Exit code: as for `assay run`; 0 if the time limit ends a campaign that judged programs
and found no failure.";

/// Result file of a campaign.
const SUMMARY: &str = "campaign.txt";

/// Largest number of causes of undetermined elements that are shown.
const CAUSES_SHOWN: usize = 5;

/// List of the programs of a campaign.
const PROGRAMS: &str = "programs.txt";

#[derive(Debug, Args)]
pub(crate) struct FuzzArgs {
    /// Number of programs
    #[arg(long, value_name = "N", default_value = "1000", value_parser = whole_number::<u64>(1..=1 << 20))]
    programs: u64,

    /// Seed of the programs; the same seed gives the same programs on every machine
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole_number::<u64>(0..=u64::MAX))]
    seed: u64,

    /// Stop after this time, in minutes; --resume continues with the programs that are left
    #[arg(long, value_name = "MIN", value_parser = positive_seconds)]
    time: Option<f64>,

    /// Device: index in `assay devices`, part of the name, UUID, `lavapipe`, or `all`
    ///
    /// [default: the first discrete GPU, else integrated, virtual, CPU]
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,

    /// Result folder; replaces the results of an earlier run in it [default: assay-out/DATE-TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Mutants of the shaders below DIR in place of random programs, with computations of one
    /// another; a case file gives a shader its parameters, as for `assay run DIR/`
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,

    /// Resume the campaign in DIR with its original programs
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "programs", "seed", "device", "from"])]
    resume: Option<PathBuf>,

    /// Groups of failures with a finding: a TOML file with a table `known`, from a group as
    /// campaign.txt prints it to a note
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,

    /// Threads over all workers of all devices [default: one per core]
    #[arg(long, short, value_name = "N", value_parser = whole_number::<u16>(1..=u64::from(u16::MAX)))]
    jobs: Option<u16>,

    /// Time limit of one submission, in seconds, and a fifth of that of compiling a program; a
    /// worker that exceeds it is killed
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = positive_seconds)]
    timeout: f64,

    /// Do not reduce failures
    #[arg(long)]
    no_reduce: bool,
}

/// Runs a campaign.
pub(crate) fn fuzz(args: &FuzzArgs) -> Result<u8, Failure> {
    let known = args.known.as_deref().map(cause_folder::read_known).transpose()?.unwrap_or_default();
    let folder = args.resume.clone().or_else(|| args.out.clone()).unwrap_or_else(run::default_folder);
    let new = if args.resume.is_none() { Some(args.run_args(&folder)?) } else { None };
    // The programs are chosen; their time begins.
    let expired = args.time.map(stop_after);
    let ran = match new {
        Some(new) => run::run_as(&new),
        None => run::resume_as(RunArgs { jobs: args.jobs, ..RunArgs::default() }, &folder),
    }?;
    let by_time = expired.is_some_and(|expired| expired.load(Ordering::SeqCst));
    if ran == exit::INTERRUPTED && !by_time {
        return Ok(ran);
    }
    let (mut failed, mut judged) = (false, 0);
    for folder in result_folders::each_run(std::slice::from_ref(&folder)) {
        let campaign = Campaign::read(&folder)?;
        let mut text = campaign.text(&known);
        if !args.no_reduce {
            text += &cause_folder::write_all(&folder, &campaign, &known)?;
        }
        failed |= !campaign.groups.is_empty();
        judged += campaign.judged;
        OwnedFiles::new(&folder).claim([SUMMARY]).code(exit::USAGE)?;
        output_file::write(&folder.join(SUMMARY), &text)?;
        print_summary(&text);
    }
    Ok(match ran {
        exit::INTERRUPTED if failed => exit::FAILURES,
        exit::INTERRUPTED if judged == 0 => exit::NOTHING,
        exit::INTERRUPTED => exit::OK,
        ran => ran,
    })
}

impl FuzzArgs {
    /// Chooses the programs, and returns the arguments of their run.
    fn run_args(&self, folder: &Path) -> Result<RunArgs, Failure> {
        let (filter, list) = match &self.from {
            Some(from) => {
                let mutants = mutants::write_all(from, folder, self.seed, self.programs)?;
                (format!("{}/", mutants.display()), None)
            }
            None => {
                let list = write_case_list(folder, PROGRAMS, assay_fuzz::preferred(self.seed, self.programs))?;
                (format!("fuzz.{}.0-{}", self.seed, 2 * self.programs - 1), Some(list))
            }
        };
        Ok(RunArgs {
            filters: vec![filter],
            jobs: self.jobs,
            out: Some(folder.to_owned()),
            timeout: self.timeout,
            device: self.device.clone(),
            lists: ListsArgs { caselist: list, ..ListsArgs::default() },
            ..RunArgs::default()
        })
    }
}

/// Ends the run in good order after this many minutes. The flag is set when that happens.
fn stop_after(minutes: f64) -> Arc<AtomicBool> {
    let expired = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&expired);
    thread::spawn(move || {
        thread::sleep(Duration::from_secs_f64(minutes * 60.0));
        flag.store(true, Ordering::SeqCst);
        if !run::INTERRUPTED.swap(true, Ordering::SeqCst) {
            note("the time of the campaign is over; finishing the work in progress");
        }
    });
    expired
}

/// Results of a campaign on one device.
pub(crate) struct Campaign {
    pub(crate) results: ResultDir,
    judged: u64,
    dropped: BTreeMap<String, u64>,
    unsupported: u64,
    /// Failing programs that the end of the campaign left without their confirmation.
    unconfirmed: u64,
    elements: u64,
    undetermined: u64,
    /// Elements that are not determined, by the cause.
    open: BTreeMap<String, u64>,
    seconds: f64,
    coverage: Coverage,
    /// Failures by signature; the program with the fewest instructions comes first.
    pub(crate) groups: BTreeMap<FailureSignature, Vec<CheckResult>>,
}

impl Campaign {
    fn read(folder: &Path) -> Result<Campaign, Failure> {
        let results = ResultDir::open(folder).code(exit::USAGE)?;
        let (checks, seconds) = (results.checks().code(exit::USAGE)?, results.wall());
        let mut campaign = Campaign {
            results,
            judged: 0,
            dropped: BTreeMap::new(),
            unsupported: 0,
            unconfirmed: 0,
            elements: 0,
            undetermined: 0,
            open: BTreeMap::new(),
            seconds,
            coverage: Coverage::default(),
            groups: BTreeMap::new(),
        };
        for check in checks {
            campaign.add(check)?;
        }
        for group in campaign.groups.values_mut() {
            group.sort_by_key(|check| (check.instructions, check.name.clone()));
        }
        Ok(campaign)
    }

    fn add(&mut self, check: CheckResult) -> Result<(), Failure> {
        match check.status {
            Status::NotSupported => {
                self.unsupported += 1;
                return Ok(());
            }
            Status::Undetermined => {
                // Reasons begin with the file and the place in it, or end with numbers and places.
                let reason = check.reason.unwrap_or_default();
                let file = reason.split([' ', ':']).next().filter(|word| word.contains(['.', '/'])).unwrap_or_default();
                let reason = &reason[file.len()..];
                let reason = reason.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':' || c == ' ');
                let reason = reason.split(',').next().unwrap_or_default();
                *self.dropped.entry(reason.to_owned()).or_default() += 1;
                return Ok(());
            }
            _ => {}
        }
        let (checked, open) = (check.elements_checked, check.elements_undetermined);
        if !check.status.is_failure() && open > (checked + open) / 10 {
            *self.dropped.entry("more than a tenth of its elements are not determined".to_owned()).or_default() += 1;
            return Ok(());
        }
        self.judged += 1;
        if !check.status.is_failure() {
            // A failure ends a comparison early.
            self.elements += checked;
            self.undetermined += open;
            for part in &check.undetermined {
                *self.open.entry(part.cause.clone()).or_default() += part.elements;
            }
        }
        let (shader, _) = subject(&check.name)?;
        self.coverage.add(&shader.source.module);
        if check.status.is_failure() && check.partial {
            self.unconfirmed += 1;
        } else if check.status.is_failure() {
            self.groups.entry(FailureSignature::of(&shader, &check)).or_default().push(check);
        }
        Ok(())
    }

    fn text(&self, known: &BTreeMap<String, String>) -> String {
        let mut text = String::new();
        let dropped: u64 = self.dropped.values().sum();
        let all = self.judged + dropped + self.unsupported;
        let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
        _ = writeln!(
            text,
            "\n{} judged on {} in {:.0} s ({:.1} a second)",
            counted(self.judged, "program"),
            self.results.run.device.name,
            self.seconds,
            self.judged as f64 / self.seconds.max(0.001)
        );
        _ = writeln!(
            text,
            "{} checked, {} not determined ({:.3} %)",
            counted(self.elements, "element"),
            group_digits(self.undetermined),
            percent(self.undetermined, self.elements + self.undetermined)
        );
        let mut open: Vec<(&String, &u64)> = self.open.iter().collect();
        open.sort_by_key(|(_, elements)| std::cmp::Reverse(**elements));
        for (cause, elements) in open.into_iter().take(CAUSES_SHOWN) {
            _ = writeln!(text, "    {:>6} {cause}", group_digits(*elements));
        }
        _ = writeln!(
            text,
            "{} dropped ({:.2} %), {} need what the device lacks",
            counted(dropped, "program"),
            percent(dropped, all),
            group_digits(self.unsupported)
        );
        for (reason, programs) in &self.dropped {
            _ = writeln!(text, "    {:>6} {reason}", group_digits(*programs));
        }
        _ = writeln!(text, "reached {}", self.coverage);
        let failing: usize = self.groups.values().map(Vec::len).sum();
        _ = writeln!(
            text,
            "{} in {}",
            counted(failing as u64, "failing program"),
            counted(self.groups.len() as u64, "group")
        );
        if self.unconfirmed > 0 {
            let waiting = counted(self.unconfirmed, "failing program");
            _ = writeln!(text, "{waiting} without confirmation: --resume runs them again");
        }
        for (signature, checks) in &self.groups {
            let note = known.get(&signature.to_string()).map(|note| format!(" (known: {note})")).unwrap_or_default();
            _ = writeln!(text, "    {:>6} {signature}{note}", group_digits(checks.len() as u64));
            _ = writeln!(text, "           {}", checks[0].name);
        }
        text
    }
}

/// Returns the shader of a program, which a seed and an index or a case file names, and its options.
pub(crate) fn subject(name: &str) -> Result<(ShaderSource, Options), Failure> {
    if !ProgramRange::is_meant(name) {
        return mutants::read(name);
    }
    let range: ProgramRange = name.parse().code(exit::USAGE)?;
    let program = range.programs().next().expect("a range is not empty").program();
    Ok((ShaderSource::read(&format!("{name}.{}", program.ending), program.text.as_bytes())?, program.options))
}
