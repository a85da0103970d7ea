//! Merging the result directories of the parts of a run.
//!
//! Merging is associative and commutative: results are sorted by name, and merged parts can be
//! merged again. Result lines are copied unchanged.

use crate::{
    case_table::{CaseNotes, CaseTable, NATIVE},
    causes::{CauseCollector, CauseSet, Causes, Failure},
    counted,
    deqp::{DeqpStatus, TestStatus, plain},
    end_reports::{EndedRun, result_file_names, write_end_reports},
    group_digits, journal, plural,
    read::{LocatedLine, ReadError, ResultDir},
    result_dir::{MISSING, SKIPPED, StandingLine},
    result_file::{DEVICE, PARTIAL, RESULTS, STANDINGS, with_partial, write_whole},
};
use assay_case::Partition;
use assay_events::{DeviceInfo, Event, RunInfo, RunPart, Status};
use assay_files::{OwnedFiles, input};
use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    rc::Rc,
};

/// Error of a merge.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A directory cannot be read.
    #[error(transparent)]
    Load(#[from] ReadError),
    /// The results cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The directory.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The output directory is one of the inputs, or already holds results.
    #[error("{} {what}; choose another folder with --out", path.display())]
    Out {
        /// The directory.
        path: PathBuf,
        /// The problem.
        what: &'static str,
    },
    /// Two directories do not belong to one run.
    #[error("{} and {} are not parts of one run: {what} differs ({a}, {b})", first.display(), second.display())]
    Differ {
        /// A directory.
        first: PathBuf,
        /// Another directory.
        second: PathBuf,
        /// The differing property.
        what: &'static str,
        /// Its value in the first directory.
        a: String,
        /// Its value in the second directory.
        b: String,
    },
    /// Two directories are not parts of the same list of cases.
    #[error("{} and {} are not parts of one run: the first is {a}, the second {b}", first.display(), second.display())]
    OtherCases {
        /// A directory.
        first: PathBuf,
        /// Another directory.
        second: PathBuf,
        /// Description of the first.
        a: String,
        /// Description of the second.
        b: String,
    },
    /// Two directories have results of the same cases.
    #[error(
        "{} and {} overlap: both have results of `{name}`{}", first.display(), second.display(),
        if *more > 0 { format!(" and {}", counted(more, "more case")) } else { String::new() }
    )]
    Overlap {
        /// A directory.
        first: PathBuf,
        /// Another directory.
        second: PathBuf,
        /// The first such case.
        name: String,
        /// Number of further cases.
        more: usize,
    },
    /// Results are missing.
    #[error("results are missing: {}; join the parts without them with --partial", .0.join("; "))]
    Incomplete(Vec<String>),
}

/// Result of a merge.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeSummary {
    /// Number of cases with a result.
    pub cases: usize,
    /// Missing parts and results; empty without `partial`.
    pub missing: Vec<String>,
}

/// A result: its position, and its fields for the other files.
struct ResultEntry {
    name: String,
    part: usize,
    offset: u64,
    length: usize,
    /// Status of the case, or `Missing` if the run ended during it.
    word: DeqpStatus,
    /// Status of the case; `None` if the run ended during it.
    status: Option<Status>,
    seconds: f64,
    reason: Option<String>,
    /// Path, if not native.
    path: Option<String>,
    /// Command that derives the permitted results, for a failed case.
    explain: Option<String>,
    /// Causes of a failure.
    causes: CauseSet,
}

/// Merges result directories into a new one. With `partial`, parts and results may be missing.
///
/// # Errors
/// The directories overlap, do not belong to one run, lack results, or cannot be read; or the
/// output cannot be written. All output is then removed.
pub fn merge(parts: &[ResultDir], out: &Path, partial: bool) -> Result<MergeSummary, MergeError> {
    for part in parts {
        if is_same_dir(&part.path, out) {
            return Err(MergeError::Out { path: out.to_owned(), what: "is one of the folders to join" });
        }
    }
    if out.join(RESULTS).exists() {
        return Err(MergeError::Out { path: out.to_owned(), what: "already holds results" });
    }
    let own = OwnedFiles::new(out);
    let names = || with_partial(result_file_names());
    let unwritable = |source| MergeError::Write { path: out.to_owned(), source };
    own.check(names()).map_err(unwritable)?;
    for part in &parts[1..] {
        check_same_run(&parts[0], part)?;
    }
    let (entries, causes) = entries(parts)?;
    let holes = holes(parts, &entries);
    if !holes.is_empty() && !partial {
        return Err(MergeError::Incomplete(holes));
    }
    let existed = out.exists();
    let written = fs::create_dir_all(out).and_then(|()| own.claim(names())).map_err(unwritable);
    let written = written.and_then(|()| write(parts, &entries, &causes, out));
    if let Err(error) = written {
        // Report the original error rather than one from the clean-up.
        _ = own.remove(names());
        if !existed {
            _ = fs::remove_dir(out);
        }
        return Err(error);
    }
    Ok(MergeSummary { cases: entries.len(), missing: holes })
}

fn is_same_dir(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

/// Tests that two directories belong to one run.
fn check_same_run(first: &ResultDir, second: &ResultDir) -> Result<(), MergeError> {
    let (a, b) = (&first.run, &second.run);
    let (first, second) = (first.path.clone(), second.path.clone());
    if let Some(Difference { what, a, b }) = setup_difference(a, b) {
        return Err(MergeError::Differ { first, second, what, a, b });
    }
    let divided = |info: &RunInfo| info.part.as_ref().map(|part| (part.cases, part.selection.clone()));
    if divided(a) == divided(b) {
        return Ok(());
    }
    let describe = |info: &RunInfo| match &info.part {
        None => format!("a whole run of {}", counted(info.cases, "case")),
        Some(part) => format!("part {} of {}", part.of.join(", "), counted(part.cases, "case")),
    };
    let count = |info: &RunInfo| info.part.as_ref().map(|part| part.cases);
    let same_count = count(a).is_some() && count(a) == count(b);
    let (a, mut b) = (describe(a), describe(b));
    if same_count {
        b += " of another selection";
    }
    Err(MergeError::OtherCases { first, second, a, b })
}

/// A property in which two runs differ.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// The property.
    pub what: &'static str,
    /// Its value in the first run.
    pub a: String,
    /// Its value in the second run.
    pub b: String,
}

/// Returns the first property in which two runs differ although one is to continue the other: the
/// cases, or the setup that results depend on.
pub fn find_difference(a: &RunInfo, b: &RunInfo) -> Option<Difference> {
    let selection = |info: &RunInfo| format!("{}, {}", counted(info.cases, "case"), info.selection);
    let (x, y) = (selection(a), selection(b));
    setup_difference(a, b).or((x != y).then_some(Difference { what: "the list of cases", a: x, b: y }))
}

/// Returns the first difference in the setup that results depend on: rules, inputs, device and
/// driver.
fn setup_difference(a: &RunInfo, b: &RunInfo) -> Option<Difference> {
    let (x, y) = (&a.device, &b.device);
    let text = |value: &dyn ToString| value.to_string();
    let mut pairs = vec![
        ("the version of Assay", a.version.clone(), b.version.clone()),
        ("the schema", text(&a.schema), text(&b.schema)),
        ("the specification", a.specification.clone(), b.specification.clone()),
        ("the budget", a.budget.clone(), b.budget.clone()),
        ("the seed", text(&a.seed), text(&b.seed)),
        ("the device", x.name.clone(), y.name.clone()),
        ("vendorID", text(&x.vendor_id), text(&y.vendor_id)),
        ("deviceID", text(&x.device_id), text(&y.device_id)),
        ("the driver", x.driver_name.clone(), y.driver_name.clone()),
        ("driverInfo", x.driver_info.clone(), y.driver_info.clone()),
        ("driverVersion", text(&x.driver_version), text(&y.driver_version)),
        ("apiVersion", x.api_version.clone(), y.api_version.clone()),
        ("the environment", environment(x), environment(y)),
        ("the list of features", x.features.join(" "), y.features.join(" ")),
        ("the validation layer", validation(a), validation(b)),
    ];
    // The results of a software driver depend on the processor.
    if x.kind == "cpu" {
        pairs.push(("the host's processor", x.host_cpu.clone(), y.host_cpu.clone()));
    }
    pairs.into_iter().find(|(_, a, b)| a != b).map(|(what, a, b)| Difference { what, a, b })
}

/// Describes the use of the validation layer, whose errors are results.
fn validation(info: &RunInfo) -> String {
    if info.known_settings().validation { "loaded" } else { "not loaded" }.to_owned()
}

/// Returns the environment variables that results may depend on. The thread count of a software
/// driver is excluded: results do not depend on it, and it changes when one of several concurrent
/// runs is resumed alone.
fn environment(device: &DeviceInfo) -> String {
    const THREADS: &str = "LP_NUM_THREADS";
    let those = device.environment.iter().filter(|(name, _)| *name != THREADS);
    those.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Returns the command that derives the permitted results of the worst result of a case.
fn worst_command(event: &Event) -> Option<String> {
    let Event::CaseFinished(case) = event else { return None };
    case.worst.as_ref()?.explain_command()
}

fn deqp_status(ended: Option<Status>) -> DeqpStatus {
    ended.map_or(DeqpStatus::Missing, |status| DeqpStatus::Test(TestStatus::of(status)))
}

/// Returns all results, sorted by name, and the causes of the failures.
fn entries(parts: &[ResultDir]) -> Result<(Vec<ResultEntry>, Causes), MergeError> {
    use rayon::slice::ParallelSliceMut;
    let (mut entries, mut causes) = (Vec::new(), CauseCollector::default());
    for (part, result_dir) in parts.iter().enumerate() {
        let standings = result_dir.standings()?;
        let take = |line: LocatedLine<'_>| {
            let failing = line.failing_event();
            let explain = failing.as_ref().and_then(worst_command);
            let failure = failing.as_ref().and_then(Failure::of).map(Box::new);
            let LocatedLine { brief, text, offset } = line;
            let ended = brief.final_status();
            let said = CaseNotes::of(None, &brief.path, ended);
            let path = said.path.map(str::to_owned);
            let instruction = brief.instruction.into_owned();
            let entry = ResultEntry {
                part,
                offset,
                length: text.len(),
                word: deqp_status(ended),
                status: ended,
                seconds: brief.times.wall,
                path,
                explain,
                causes: CauseSet::default(),
                reason: brief.reason.map(|reason| reason.into_owned()),
                name: brief.name.into_owned(),
            };
            (entry, instruction, failure)
        };
        result_dir.each(take, |block| {
            for (mut entry, instruction, failure) in block {
                if entry.status.is_some_and(Status::is_checked) {
                    causes.count_checked(&entry.name, &instruction, entry.path.as_deref().unwrap_or(NATIVE));
                }
                let unexpected = standings.get(&entry.name).is_none_or(|line| !line.standing.is_success());
                if let Some(failure) = failure {
                    entry.causes = causes.add(*failure, unexpected).set;
                }
                entries.push(entry);
            }
        })?;
    }
    entries.par_sort_by(|a, b| a.name.cmp(&b.name));
    let mut twice = entries.windows(2).filter(|pair| pair[0].name == pair[1].name);
    if let Some([a, b]) = twice.next() {
        let path = |entry: &ResultEntry| parts[entry.part].path.clone();
        if a.part == b.part {
            return Err(ReadError::Twice { path: parts[a.part].file(), name: a.name.clone() }.into());
        }
        let more = twice.count();
        return Err(MergeError::Overlap { first: path(a), second: path(b), name: a.name.clone(), more });
    }
    Ok((entries, causes.causes()))
}

/// Returns messages about missing parts, and missing cases of parts.
fn holes(parts: &[ResultDir], entries: &[ResultEntry]) -> Vec<String> {
    let mut holes = Vec::new();
    for (index, result_dir) in parts.iter().enumerate() {
        let whole = |entry: &&ResultEntry| entry.part == index && entry.word != DeqpStatus::Missing;
        let (has, planned) = (entries.iter().filter(whole).count(), result_dir.run.cases);
        if has < planned {
            let planned = counted(planned, "planned case");
            holes.push(format!("{} has results of {} of {planned}", result_dir.path.display(), group_digits(has)));
        }
    }
    let given: BTreeSet<String> = partitions(parts).into_iter().map(|partition| partition.to_string()).collect();
    let first = partitions(parts).into_iter().next();
    let missing = first.into_iter().flat_map(Partition::siblings).filter(|part| !given.contains(&part.to_string()));
    let missing: Vec<String> = missing.map(|part| part.to_string()).collect();
    if !missing.is_empty() {
        let (part, verb) = (plural(missing.len(), "part", "parts"), plural(missing.len(), "is", "are"));
        holes.push(format!("{part} {} {verb} missing", missing.join(", ")));
    }
    holes
}

/// Returns the partitions, sorted by number.
fn partitions(parts: &[ResultDir]) -> BTreeSet<Partition> {
    let texts = parts.iter().filter_map(|result_dir| result_dir.run.part.as_ref()).flat_map(|part| &part.of);
    texts.filter_map(|text| text.parse().ok()).collect()
}

/// Returns the description of the merged run.
fn merged_info(parts: &[ResultDir], cases: usize) -> RunInfo {
    // Use the earliest part. The further keys make the choice independent of the order of the
    // parts.
    let first = parts.iter().min_by_key(|part| (&part.run.started, &part.run.command, &part.run.device.uuid));
    let mut info = first.unwrap_or(&parts[0]).run.clone();
    let given = partitions(parts);
    let complete = given.first().is_some_and(|first| given.len() == first.count() as usize);
    info.part = info
        .part
        .filter(|_| !complete)
        .map(|part| RunPart { of: given.iter().map(ToString::to_string).collect(), ..part });
    info.cases = parts.iter().map(|part| part.run.cases).sum::<usize>().max(cases);
    // A merged part may name several hosts.
    let hosts: BTreeSet<&str> = parts.iter().flat_map(|part| part.run.host.split_whitespace()).collect();
    info.host = hosts.into_iter().collect::<Vec<_>>().join(" ");
    info
}

fn write(parts: &[ResultDir], entries: &[ResultEntry], causes: &Causes, out: &Path) -> Result<(), MergeError> {
    let failed = |source| MergeError::Write { path: out.to_owned(), source };
    let info = merged_info(parts, entries.len());
    write_device(&info.device, out).map_err(failed)?;
    let run = info.clone();
    // Both take about as long and are independent.
    let (results, others) =
        rayon::join(|| write_results(parts, entries, info, out), || write_others(parts, entries, causes, &run, out));
    results.and(others)
}

fn write_device(device: &DeviceInfo, out: &Path) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(device)?;
    text.push('\n');
    write_whole(out, DEVICE, |out| out.write_all(text.as_bytes()))
}

/// Writes `results.jsonl` with unchanged lines.
fn write_results(parts: &[ResultDir], entries: &[ResultEntry], info: RunInfo, out: &Path) -> Result<(), MergeError> {
    let failed = |source| MergeError::Write { path: out.to_owned(), source };
    let mut sources = Vec::new();
    for part in parts {
        let path = part.file();
        sources.push(input::open(&path).map_err(|source| ReadError::Read { path, source })?);
    }
    let partial = format!("{RESULTS}{PARTIAL}");
    let mut file = BufWriter::with_capacity(1 << 20, OwnedFiles::new(out).create(&partial).map_err(failed)?);
    let mut put = |bytes: &[u8]| file.write_all(bytes).map_err(failed);
    put(journal::line(&Event::RunStarted(Box::new(info))).map_err(failed)?.as_bytes())?;
    let mut text = Vec::new();
    for entry in entries {
        text.resize(entry.length, 0);
        let read = read_at(&mut sources[entry.part], &mut text, entry.offset);
        read.map_err(|source| ReadError::Read { path: parts[entry.part].file(), source })?;
        text.push(b'\n');
        put(&text)?;
    }
    let interrupted = parts.iter().any(|part| part.ended().interrupted);
    // Parts may run concurrently, so the longest part is a lower bound on the duration.
    let wall = parts.iter().map(|part| part.ended().wall).fold(0.0, f64::max);
    put(journal::line(&Event::RunFinished { interrupted, wall }).map_err(failed)?.as_bytes())?;
    let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    fs::rename(out.join(&partial), out.join(RESULTS)).map_err(failed)
}

#[cfg(unix)]
fn read_at(file: &mut File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn read_at(file: &mut File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    use io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

/// Writes the other files from those of the parts, which contain the lab's standings.
fn write_others(
    parts: &[ResultDir],
    entries: &[ResultEntry],
    causes: &Causes,
    run: &RunInfo,
    out: &Path,
) -> Result<(), MergeError> {
    let failed = |source| MergeError::Write { path: out.to_owned(), source };
    let mut standings: Vec<StandingLine> = Vec::new();
    for part in parts {
        standings.extend(part.standings()?.into_values());
    }
    standings.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    // Every part lists the cases that are skipped in all parts.
    standings.dedup();
    let mut case_table = CaseTable::new(Rc::new(entries.iter().map(|entry| &entry.name).collect()));
    for (at, entry) in entries.iter().enumerate() {
        let ResultEntry { name, word, status, seconds, reason, path, explain, causes, .. } = entry;
        let standing = standings.binary_search_by(|line| line.name.cmp(name)).ok().map(|at| &standings[at]);
        let word = standing.and_then(|line| line.word.parse().ok()).unwrap_or(*word);
        let why = standing.and_then(|line| line.why.clone());
        let reason = match (reason.clone(), why) {
            (Some(reason), Some(why)) => Some(format!("{reason}; {why}")),
            (reason, why) => reason.or(why),
        };
        let said = CaseNotes {
            reason: reason.as_deref(),
            path: path.as_deref(),
            explain: explain.as_deref(),
            status: *status,
            causes: *causes,
        };
        case_table.insert_planned(at, word, *seconds, said);
    }
    // Cases without a result have rows, too.
    let names = entries.iter().map(|entry| &entry.name);
    let renamed: BTreeSet<String> = names.filter(|name| plain(name) != **name).map(|name| plain(name)).collect();
    for part in parts {
        for row in part.rows()?.unwrap_or_default().lines() {
            let mut fields = row.split(',');
            let (Some(name), Some(Ok(word))) = (fields.next(), fields.next().map(str::parse)) else { continue };
            if !renamed.contains(name) {
                case_table.without_result(name, word, if word == DeqpStatus::Missing { MISSING } else { SKIPPED });
            }
        }
    }
    write_end_reports(out, &EndedRun { run, cases: &case_table, causes }).map_err(failed)?;
    if parts.iter().any(|part| part.path.join(STANDINGS).exists()) {
        let mut text = String::new();
        for line in &standings {
            text += &serde_json::to_string(line).map_err(|error| failed(error.into()))?;
            text.push('\n');
        }
        write_whole(out, STANDINGS, |out| out.write_all(text.as_bytes())).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Expectations, ResultDirWriter,
        test_events::{case, folder_of, run},
    };
    use assay_events::{CaseResult, Reporter};

    /// Writes the parts of a run of nine cases, each to a directory.
    fn parts(dir: &Path, count: u32) -> Vec<PathBuf> {
        let statuses = [Status::Pass, Status::Fail, Status::NotSupported];
        let all: Vec<CaseResult> = (0..9).map(|i| case(&format!("p.f32.{}", 9 - i), statuses[i % 3])).collect();
        let partition: Partition = format!("slice:1/{count}").parse().unwrap();
        let one = |part: Partition| {
            let mine: Vec<CaseResult> =
                all.iter().enumerate().filter(|(i, c)| part.holds(&c.name, *i)).map(|(_, c)| c.clone()).collect();
            let of = vec![part.to_string()];
            let info = RunInfo {
                part: Some(RunPart { of, cases: 9, selection: "00ff".to_owned() }),
                started: format!("2026-11-21T11:21:0{}Z", 9 - part.number()),
                ..run(mine.len())
            };
            folder_of(&dir.join(format!("part{}", part.number())), info, &mine, false)
        };
        partition.siblings().map(one).collect()
    }

    fn open(paths: &[&Path]) -> Vec<ResultDir> {
        paths.iter().map(|path| ResultDir::open(*path).unwrap()).collect()
    }

    fn files(path: &Path) -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut files: Vec<_> = entries.map(|path| (name(&path), fs::read(&path).unwrap())).collect();
        files.sort();
        files
    }

    #[test]
    fn merging_is_commutative_and_associative() {
        let dir = tempfile::tempdir().unwrap();
        let parts = parts(dir.path(), 3);
        let [a, b, c] = [&parts[0], &parts[1], &parts[2]].map(PathBuf::as_path);
        let joined = |name: &str, of: &[&Path], partial: bool| {
            let out = dir.path().join(name);
            merge(&open(of), &out, partial).unwrap();
            out
        };
        let whole = joined("abc", &[a, b, c], false);
        let ab = joined("ab", &[a, b], true);
        let bc = joined("bc", &[c, b], true);
        for (name, of) in [("ab-c", [ab.as_path(), c]), ("a-bc", [a, bc.as_path()]), ("c-ab", [c, ab.as_path()])] {
            let out = joined(name, &of, false);
            assert!(files(&out) == files(&whole), "{name}");
        }
        let result_dir = ResultDir::open(&whole).unwrap();
        assert_eq!((result_dir.run.cases, result_dir.run.part.as_ref()), (9, None), "a whole run again");
        let names = result_dir.results(|line| line.brief.name.to_string()).unwrap();
        assert!(names.is_sorted() && names.len() == 9);
        let csv = fs::read_to_string(whole.join("failures.csv")).unwrap();
        assert_eq!(csv, "p.f32.2,Fail\np.f32.5,Fail\np.f32.8,Fail\n");
        assert_eq!(ResultDir::open(&ab).unwrap().run.part.unwrap().of, ["slice:1/3", "slice:2/3"]);
    }

    #[test]
    fn the_thread_count_of_a_driver_does_not_distinguish_runs() {
        let with = |name: &str, value: &str| {
            let mut info = run(1);
            info.device.environment.insert(name.to_owned(), value.to_owned());
            info
        };
        assert_eq!(find_difference(&with("LP_NUM_THREADS", "1"), &run(1)), None);
        let Difference { what, a, b } = find_difference(&with("NIR_DEBUG", "1"), &run(1)).unwrap();
        assert_eq!((what, a.as_str(), b.as_str()), ("the environment", "NIR_DEBUG=1", ""));
    }

    #[test]
    fn cases_without_a_result_are_in_each_merged_file_once() {
        let dir = tempfile::tempdir().unwrap();
        let list = dir.path().join("baseline.csv");
        fs::write(&list, "q.fails,Fail\n").unwrap();
        let skipped = vec!["q.fails".to_owned(), "q.skipped".to_owned()];
        let part = |number: u32, cases: [CaseResult; 2]| {
            let baseline = crate::deqp::Baseline::read(&list).unwrap();
            let expectations =
                Expectations::new(Some(baseline), crate::deqp::Patterns::empty(), crate::Waivers::default());
            let cases = if number == 3 { &[][..] } else { &cases };
            let planned = Rc::new(cases.iter().map(|case| &case.name).collect());
            let path = dir.path().join(number.to_string());
            let folder = ResultDirWriter::create(&path).unwrap();
            let mut folder = folder.with_expectations(Rc::new(expectations.for_run(planned, skipped.clone())));
            let of = vec![format!("slice:{number}/3")];
            let part = Some(RunPart { of, cases: 4, selection: "00ff".to_owned() });
            folder.event(&Event::RunStarted(Box::new(RunInfo { part, ..run(cases.len()) }))).unwrap();
            for case in cases {
                folder.event(&Event::CaseFinished(Box::new(case.clone()))).unwrap();
            }
            folder.event(&Event::RunFinished { interrupted: number == 2, wall: 1.0 }).unwrap();
            path
        };
        let cut = CaseResult { partial: true, ..case("p.d", Status::Pass) };
        let one = part(1, [case("p.a", Status::Pass), case("p.b,c", Status::Pass)]);
        let two = part(2, [case("p.c", Status::Pass), cut]);
        // A part without cases is valid.
        let three = part(3, [case("p.x", Status::Pass), case("p.y", Status::Pass)]);
        assert_eq!(fs::read_to_string(three.join("results.csv")).unwrap().lines().count(), 2);
        let parts = open(&[&one, &two, &three]);
        let refused = merge(&parts, &dir.path().join("whole"), false).unwrap_err().to_string();
        assert!(refused.contains("has results of 1 of 2 planned cases") && !refused.contains("slice"), "{refused}");
        let out = dir.path().join("all");
        merge(&parts, &out, true).unwrap();
        let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
        let rows = "p.a,Pass,1.5\np.b_c,Pass,1.5\np.c,Pass,1.5\np.d,Missing,0\nq.fails,UnexpectedImprovement(Skip),0\n\
                    q.skipped,Skip,0\n";
        assert_eq!(read("results.csv"), rows);
        assert_eq!(read("failures.csv"), "p.d,Missing\nq.fails,UnexpectedImprovement(Skip)\n");
        let junit = read("junit.xml");
        let root = r#"tests="6" failures="1" errors="1""#;
        assert!(junit.contains(root) && junit.contains("on the list of skips"), "{junit}");
        let names = read(STANDINGS);
        let names: Vec<StandingLine> = names.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let names: Vec<&str> = names.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["p.d", "q.fails", "q.skipped"]);
        // The page shows the failure, too.
        let mut page = Vec::new();
        crate::html::Page::read(&open(&[&out]), &|_| None).unwrap().write(&mut page).unwrap();
        assert!(String::from_utf8(page).unwrap().contains("1 skipped case that the baseline expects to fail"));
    }

    #[test]
    fn a_refused_merge_leaves_no_output() {
        let dir = tempfile::tempdir().unwrap();
        let paths = parts(dir.path(), 3);
        let [a, b, c] = [&paths[0], &paths[1], &paths[2]].map(PathBuf::as_path);
        let out = dir.path().join("out");
        let refused = |parts: &[ResultDir], partial: bool| {
            let error = merge(parts, &out, partial).unwrap_err().to_string();
            assert!(!out.exists(), "{error}");
            error
        };
        let holes = refused(&open(&[a, c]), false);
        assert!(
            holes
                .contains("results are missing: part slice:2/3 is missing; join the parts without them with --partial"),
            "{holes}"
        );
        let overlap = refused(&open(&[a, b, a]), true);
        assert!(overlap.contains("part1 overlap: both have results of `p.f32.3` and 2 more cases"), "{overlap}");
        type Change = fn(&mut RunInfo);
        let changes: [(Change, &str); 6] = [
            (|info| info.version = "0.2.0".to_owned(), "the version of Assay differs (0.1.0, 0.2.0)"),
            (|info| info.seed = 1, "the seed differs (0, 1)"),
            (
                |info| info.settings.as_mut().unwrap().validation = true,
                "the validation layer differs (not loaded, loaded)",
            ),
            (|info| info.device.driver_info = "Mesa 25".to_owned(), "driverInfo differs (Mesa 22.3.6, Mesa 25)"),
            (
                |info| info.part.as_mut().unwrap().selection = "1".to_owned(),
                "the first is part slice:1/3 of 9 cases, the second part slice:2/3 of 9 cases of another selection",
            ),
            (|info| info.device.host_cpu = "another".to_owned(), "the host's processor differs"),
        ];
        for (change, said) in changes {
            let mut parts = open(&[a, b, c]);
            change(&mut parts[1].run);
            let error = refused(&parts, false);
            assert!(error.contains(said), "{said}: {error}");
        }
        assert!(merge(&open(&[a, b, c]), a, false).unwrap_err().to_string().contains("is one of the folders"));
        // An interrupted part lacks results itself.
        let mut short = open(&[a, b, c]);
        short[2].run.cases = 5;
        assert!(refused(&short, false).contains("part3 has results of 3 of 5 planned cases"));
    }
}
