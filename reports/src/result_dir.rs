//! The result directory of a run.
//!
//! | file | written | contents |
//! |---|---|---|
//! | `device.json` | at the start | [`assay_events::DeviceInfo`] |
//! | `results.jsonl` | during the run | one event per line, see below |
//! | [`crate::end_reports`] | at the end | reports on all cases |
//! | `pictures/CASE.png` | during the run | failing images: expected, got, difference |
//! | `standings.jsonl` | at the end | [`Standing`]s other than an expected Pass |
//! | `waivers.txt` | at the end | a line for each waiver that was not needed |
//!
//! `results.jsonl` holds `run_started`, one `case_finished` or `check_finished` for each case, and
//! `run_finished`, each with a checksum. Until the end of the run its name is
//! `results.jsonl.partial`. There are at most 200 pictures. `standings.jsonl` is written if the lab
//! gave lists or a case is flaky, and `waivers.txt` if it has lines.
//!
//! A file with its final name is complete. Ctrl-C also ends a run properly: the files then hold the
//! finished cases, and `run_finished` has `"interrupted":true`. A killed run leaves
//! `results.jsonl.partial`, of which only the last line can be damaged. Both can be resumed
//! ([`ResultDirWriter::resume`]).
//!
//! The directory is locked while a process writes to it. `assay-files.json` lists the files that
//! Assay wrote; it does not overwrite or remove others ([`OwnedFiles`]).

use crate::{
    case_table::{CaseNotes, CaseTable},
    causes::{CauseCollector, CauseSet},
    deqp::{DeqpStatus, TestStatus},
    end_reports::{EndedRun, result_file_names, write_end_reports},
    expectations::{Assessment, Expectations, Standing, WaiverUse},
    journal::{self, CleanJournal, Journal},
    read::ReadError,
    result_file::{DEVICE, PARTIAL, PartialFile, RESULTS, STANDINGS, WAIVERS_LEFT, with_partial, write_whole},
};
use assay_events::{Event, Example, Picture, Reporter, RunInfo};
use assay_files::{OwnedFiles, remove_stale_temporaries};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    rc::Rc,
    time::{Duration, Instant},
};

/// Reason of a planned case without a result.
pub(crate) const MISSING: &str = "no result: the run ended before this case";
/// Reason of a skipped case.
pub(crate) const SKIPPED: &str = "on the list of skips";

/// Line of `standings.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StandingLine {
    pub(crate) name: String,
    pub(crate) standing: Standing,
    /// Status in deqp-runner's files.
    pub(crate) word: String,
    pub(crate) why: Option<String>,
}

/// Error of a result directory.
#[derive(Debug, thiserror::Error)]
pub enum ResultDirError {
    /// The directory does not exist and cannot be created.
    #[error("cannot create the result folder {}: {source}", path.display())]
    Create {
        /// The directory.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The directory cannot be written to, or its disk is full.
    #[error("cannot write to the result folder {}: {source}", path.display())]
    Write {
        /// The directory.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// Another process writes to the directory.
    #[error("another `assay` process is writing to {}; wait for it to end, or choose another folder with --out", .0.display())]
    Busy(PathBuf),
    /// The directory holds no run to resume.
    #[error(transparent)]
    Load(#[from] ReadError),
}

/// Largest number of pictures written in a run. The page and `results.jsonl` contain those of all
/// failing images.
const PICTURES: usize = 200;

const PICTURE_FOLDER: &str = "pictures";

/// Interval between calls of `fsync`: a power failure loses at most the results of this time.
const SYNC: Duration = Duration::from_secs(1);

/// Writes a result directory.
#[derive(Debug)]
pub struct ResultDirWriter {
    path: PathBuf,
    own: OwnedFiles,
    /// Handle that holds the lock on the directory.
    _lock: File,
    results: Option<File>,
    synced: Instant,
    /// Cleaned journal of the run to resume, until the run starts.
    continued: Option<CleanJournal>,
    /// Number of results yet to be replayed that are already in the journal.
    written: usize,
    case_table: CaseTable,
    causes: CauseCollector,
    standings: Option<PartialFile>,
    /// The run, after its start.
    run: Option<Box<RunInfo>>,
    expectations: Rc<Expectations>,
    waivers: WaiverUse,
    /// Number of pictures written.
    pictures: usize,
}

impl ResultDirWriter {
    /// Creates the directory if necessary, and tests that it is writable and has some space.
    /// Results of an earlier run stay until this run starts.
    ///
    /// # Errors
    /// The directory cannot be created or written to, or a file that Assay did not write has a name
    /// that a run needs.
    pub fn create(path: impl Into<PathBuf>) -> Result<ResultDirWriter, ResultDirError> {
        let folder = ResultDirWriter::open(path.into())?;
        folder.must_be_free(result_file_names())?;
        Ok(folder)
    }

    /// Tests that the names and the directory of pictures are unused or belong to Assay.
    fn must_be_free<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<(), ResultDirError> {
        let names = with_partial(names).chain([format!("{PICTURE_FOLDER}/")]);
        self.own.check(names).map_err(|source| ResultDirError::Write { path: self.path.clone(), source })
    }

    fn open(path: PathBuf) -> Result<ResultDirWriter, ResultDirError> {
        if let Err(source) = fs::create_dir_all(&path) {
            return Err(ResultDirError::Create { path, source });
        }
        if let Err(source) = probe(&path) {
            return Err(ResultDirError::Write { path, source });
        }
        let lock = lock(&path)?;
        remove_stale_temporaries(&path);
        Ok(ResultDirWriter {
            own: OwnedFiles::new(&path),
            path,
            _lock: lock,
            results: None,
            synced: Instant::now(),
            continued: None,
            written: 0,
            case_table: CaseTable::default(),
            causes: CauseCollector::default(),
            standings: None,
            run: None,
            expectations: Rc::default(),
            waivers: WaiverUse::default(),
            pictures: 0,
        })
    }

    /// Opens the directory of an interrupted run to resume it. The first events must then be the
    /// start of the run and the results of the journal ([`Journal::replay`]), which are not written
    /// again. Until the start all files stay unchanged.
    ///
    /// # Errors
    /// There is no run to resume, another process uses the directory, or it cannot be written to.
    pub fn resume(path: impl Into<PathBuf>) -> Result<(ResultDirWriter, Journal), ResultDirError> {
        let path = path.into();
        if !path.is_dir() {
            return Err(ReadError::NoResults(path).into());
        }
        let folder = ResultDirWriter::open(path)?;
        let (journal, clean) = Journal::open(&folder.path)?;
        // The lines of the journal prove that Assay wrote it.
        folder.must_be_free(result_file_names().filter(|name| *name != RESULTS))?;
        let (continued, written) = (Some(clean), journal.kept_results);
        Ok((ResultDirWriter { continued, written, ..folder }, journal))
    }

    /// Returns true if the directory holds a run, finished or not, that can be resumed. A run that
    /// was killed before the first line of its journal was written had not begun.
    pub fn has_run(path: &Path) -> bool {
        path.join(RESULTS).exists() || journal::has_first_line(&path.join(format!("{RESULTS}{PARTIAL}")))
    }

    /// Compares the results with a lab's expectations.
    #[must_use]
    pub fn with_expectations(self, expectations: Rc<Expectations>) -> ResultDirWriter {
        ResultDirWriter { expectations, ..self }
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the directory holds results of an earlier run, which this run will replace.
    pub fn holds_results(&self) -> bool {
        self.path.join(RESULTS).exists()
    }

    fn start(&mut self, event: &Event) -> io::Result<()> {
        // Remove all earlier files at once, so that the directory never mixes two runs.
        let continued = self.continued.take();
        if let Some(journal) = &continued {
            with_partial([RESULTS]).try_for_each(|name| self.own.adopt(&name))?;
            self.results = Some(journal.place()?);
            let kept = [RESULTS, DEVICE];
            self.own.remove(with_partial(result_file_names().filter(|name| !kept.contains(name))))?;
        } else {
            self.own.remove(with_partial(result_file_names()))?;
            self.own.remove_folder(PICTURE_FOLDER)?;
        }
        if let Event::RunStarted(run) = event {
            let mut text = serde_json::to_string_pretty(&run.device)?;
            text.push('\n');
            write_whole(&self.path, DEVICE, |out| out.write_all(text.as_bytes()))?;
            self.run = Some(run.clone());
        }
        self.case_table = CaseTable::new(Rc::clone(self.expectations.planned()));
        self.causes = CauseCollector::default();
        self.standings = None;
        self.waivers = WaiverUse::default();
        if continued.is_some() {
            return Ok(());
        }
        self.own.claim(with_partial([RESULTS]))?;
        self.results = Some(self.own.create(&format!("{RESULTS}{PARTIAL}"))?);
        self.line(event)
    }

    /// Writes the picture of a case.
    fn picture(&mut self, name: &str, picture: Option<&Picture>) -> io::Result<()> {
        // Names of a user's own cases may contain any character.
        let plain = |c: char| c.is_ascii_alphanumeric() || ['.', '_', '-'].contains(&c);
        let named = name.chars().all(plain) && !name.starts_with('.') && name.len() <= 200;
        let Some(png) = picture.filter(|_| named && self.pictures < PICTURES).and_then(Picture::png) else {
            return Ok(());
        };
        self.pictures += 1;
        self.own.claim([format!("{PICTURE_FOLDER}/")])?;
        fs::create_dir_all(self.path.join(PICTURE_FOLDER))?;
        write_whole(&self.path, &format!("{PICTURE_FOLDER}/{name}.png"), |file| file.write_all(&png))
    }

    fn line(&mut self, event: &Event) -> io::Result<()> {
        if self.written > 0 && event.case_end().is_some() {
            self.written -= 1;
            return Ok(());
        }
        let Some(file) = &mut self.results else { return Ok(()) };
        // One write per line, so that a killed run leaves whole lines.
        file.write_all(journal::line(event)?.as_bytes())?;
        if self.synced.elapsed() > SYNC {
            file.sync_data()?;
            self.synced = Instant::now();
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(file) = self.results.take() {
            file.sync_all()?;
            fs::rename(self.path.join(format!("{RESULTS}{PARTIAL}")), self.path.join(RESULTS))?;
            self.without_result()?;
            if let Some(run) = &self.run {
                let ended = EndedRun { run, cases: &self.case_table, causes: &self.causes.causes() };
                write_end_reports(&self.path, &ended)?;
            }
            match self.standings.take() {
                Some(standings) => standings.finish()?,
                None if self.expectations.has_lists() => write_whole(&self.path, STANDINGS, |_| Ok(()))?,
                None => {}
            }
            let left = self.waivers.useless(&self.expectations);
            if !left.is_empty() {
                write_whole(&self.path, WAIVERS_LEFT, |out| left.iter().try_for_each(|line| writeln!(out, "{line}")))?;
            }
        }
        Ok(())
    }

    /// Adds an event to the causes, and returns those of its case.
    fn cause(&mut self, event: &Event, standing: Standing) -> CauseSet {
        self.causes.add_event(event, !standing.is_success()).map(|added| added.set).unwrap_or_default()
    }

    /// Adds the result of a case.
    fn add(&mut self, name: &str, judged: Assessment, seconds: f64, said: CaseNotes<'_>) -> io::Result<()> {
        let reason = said.reason;
        let both = reason.zip(judged.why.as_deref()).map(|(reason, why)| format!("{reason}; {why}"));
        let reason = both.as_deref().or(reason).or(judged.why.as_deref());
        self.case_table.insert(name, judged.word, seconds, CaseNotes { reason, ..said });
        self.stand(name, judged)
    }

    /// Writes a line to `standings.jsonl` if the standing adds information to the status.
    fn stand(&mut self, name: &str, judged: Assessment) -> io::Result<()> {
        let Assessment { standing, word, why } = judged;
        // Without lists only a flaky result has such a standing.
        let told = self.expectations.has_lists()
            && !(word == DeqpStatus::Test(TestStatus::Pass) && standing == Standing::Expected);
        if told || standing == Standing::Flaky {
            let line = StandingLine { name: name.to_owned(), standing, word: word.to_string(), why };
            let file = match &mut self.standings {
                Some(file) => file,
                none => none.insert(PartialFile::create(&self.path, STANDINGS)?),
            };
            writeln!(file.out, "{}", serde_json::to_string(&line)?)?;
        }
        Ok(())
    }

    /// Adds planned cases without a result, and skipped cases.
    fn without_result(&mut self) -> io::Result<()> {
        let expectations = Rc::clone(&self.expectations);
        for at in self.case_table.missing() {
            let name = expectations.planned().get(at);
            self.case_table.without_result(name, DeqpStatus::Missing, MISSING);
            self.stand(name, Assessment { standing: Standing::Missing, word: DeqpStatus::Missing, why: None })?;
        }
        for name in expectations.skipped() {
            let judged = expectations.judge_skipped(name);
            if self.case_table.without_result(name, judged.word, SKIPPED) {
                self.stand(name, judged)?;
            }
        }
        Ok(())
    }
}

/// Locks a directory for the lifetime of the returned handle.
fn lock(path: &Path) -> Result<File, ResultDirError> {
    let failed = |source| ResultDirError::Write { path: path.to_owned(), source };
    let folder = File::open(path).map_err(failed)?;
    match folder.try_lock() {
        Ok(()) => Ok(folder),
        Err(TryLockError::WouldBlock) => Err(ResultDirError::Busy(path.to_owned())),
        // Some network file systems do not support locks. The user then has to prevent concurrent
        // runs.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(folder),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

impl Reporter for ResultDirWriter {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let done = match event {
            Event::RunStarted(_) => self.start(event),
            Event::CaseFinished(case) => {
                let judged = self.expectations.judge(case);
                self.waivers.add(&self.expectations, case);
                let said = CaseNotes::of(case.reason.as_deref(), &case.path, Some(case.status));
                let failing = case.worst.as_ref().filter(|_| case.status.is_failure());
                let explain = failing.and_then(Example::explain_command);
                let said = said.explained(explain.as_deref()).caused(self.cause(event, judged.standing));
                let added = self.add(&case.name, judged, case.times.wall, said);
                added.and_then(|()| self.picture(&case.name, case.picture.as_deref())).and_then(|()| self.line(event))
            }
            Event::CheckFinished(check) => {
                let judged = self.expectations.judge_check(check);
                let said = CaseNotes::of(check.reason.as_deref(), "", Some(check.status));
                let said = said.caused(self.cause(event, judged.standing));
                let added = self.add(&check.name, judged, check.times.wall, said);
                added.and_then(|()| self.line(event))
            }
            Event::RunFinished { .. } => self.line(event).and_then(|()| self.finish()),
            Event::CaseStarted { .. } | Event::CaseProgress { .. } => Ok(()),
        };
        done.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.path.display())))
    }
}

/// Writes and removes a file, to detect a read-only directory or a full disk before the run.
fn probe(folder: &Path) -> io::Result<()> {
    let (mut file, path) = assay_files::create_temporary(folder)?;
    let written = file.write_all(&[0; 1 << 20]).and_then(|()| file.sync_all());
    let removed = match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    written.and(removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_events::{case, check, run};
    use assay_events::{CaseResult, CheckResult, Repeat, RepeatRun, RepeatVerdict, RunInfo, Status};

    fn events() -> Vec<Event> {
        vec![
            Event::RunStarted(Box::new(run(2))),
            Event::CaseStarted { name: "p.a".to_owned(), inputs: 8 },
            Event::CaseFinished(Box::new(case("p.b", Status::Fail))),
            Event::CaseFinished(Box::new(case("p.a", Status::Pass))),
            Event::RunFinished { interrupted: false, wall: 3.0 },
        ]
    }

    fn names(path: &Path) -> Vec<String> {
        let entries = fs::read_dir(path).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_finished_run_leaves_complete_files() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = ResultDirWriter::create(dir.path().join("new/out")).unwrap();
        assert!(names(folder.path()).is_empty());
        for event in events() {
            folder.event(&event).unwrap();
        }
        assert_eq!(
            names(folder.path()),
            [
                "assay-files.json",
                "causes.json",
                "device.json",
                "failures.csv",
                "junit.xml",
                "results.csv",
                "results.jsonl"
            ]
        );
        let text = fs::read_to_string(folder.path().join(RESULTS)).unwrap();
        let read: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let kept: Vec<Event> = events().into_iter().filter(|e| !matches!(e, Event::CaseStarted { .. })).collect();
        assert_eq!(read, kept);
        // A reader that does not know events can parse the lines.
        let first: RunInfo = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(first.schema, assay_events::SCHEMA);
        let device = fs::read_to_string(folder.path().join(DEVICE)).unwrap();
        assert_eq!(serde_json::from_str::<assay_events::DeviceInfo>(&device).unwrap(), first.device);
        assert_eq!(fs::read_to_string(folder.path().join("failures.csv")).unwrap(), "p.b,Fail\n");
    }

    #[test]
    fn files_that_assay_did_not_write_are_not_overwritten() {
        for theirs in ["pictures/holiday.png", "junit.xml", "results.jsonl.partial", "report.html", "device.json"] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(theirs);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "theirs").unwrap();
            let error = ResultDirWriter::create(dir.path()).unwrap_err().to_string();
            let first = theirs.split('/').next().unwrap();
            assert!(error.contains(&format!("{first} is in the way")), "{theirs}: {error}");
            assert!(error.contains("name another folder"), "{theirs}: {error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
            assert_eq!(names(dir.path()), [first], "nothing else is left");
        }
    }

    /// `run --resume` wrote through `device.json.partial`, a name that every run records.
    #[test]
    #[cfg(unix)]
    fn a_run_does_not_follow_links_at_recorded_names() {
        let begun = |path: &Path| {
            let mut folder = ResultDirWriter::create(path).unwrap();
            events()[..3].iter().for_each(|event| folder.event(event).unwrap());
        };
        for name in ["device.json.partial", "device.json", "junit.xml.partial", "results.csv"] {
            let dir = tempfile::tempdir().unwrap();
            let (out, victim) = (dir.path().join("out"), dir.path().join("victim"));
            begun(&out);
            fs::write(&victim, "theirs").unwrap();
            OwnedFiles::new(&out).adopt(name).unwrap();
            _ = fs::remove_file(out.join(name));
            std::os::unix::fs::symlink("../victim", out.join(name)).unwrap();
            for error in [ResultDirWriter::resume(&out).unwrap_err(), ResultDirWriter::create(&out).unwrap_err()] {
                let error = error.to_string();
                assert!(error.contains(&format!("{name} is in the way")), "{name}: {error}");
            }
            assert_eq!(fs::read_to_string(&victim).unwrap(), "theirs", "{name}");
        }
        // The journal is replaced by a copy, which is a temporary file in the same directory.
        let dir = tempfile::tempdir().unwrap();
        let (out, victim) = (dir.path().join("out"), dir.path().join("victim"));
        begun(&out);
        for name in [".assay-journal.partial", ".assay-1-0.partial"] {
            fs::write(&victim, "theirs").unwrap();
            std::os::unix::fs::symlink("../victim", out.join(name)).unwrap();
        }
        drop(ResultDirWriter::resume(&out).unwrap());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "theirs");
        assert!(out.join(".assay-journal.partial").is_symlink(), "it does not have the name of a temporary file");
    }

    /// A report that is being written while a run starts has a temporary file in its directory.
    #[test]
    fn temporary_files_of_live_processes_stay() {
        let dir = tempfile::tempdir().unwrap();
        let (_file, page) = assay_files::create_temporary(dir.path()).unwrap();
        drop(ResultDirWriter::create(dir.path()).unwrap());
        assert!(page.exists());
    }

    #[test]
    fn unrelated_files_survive_the_next_run() {
        let dir = tempfile::tempdir().unwrap();
        let theirs = dir.path().join("notes.txt");
        fs::write(&theirs, "theirs").unwrap();
        for _ in 0..2 {
            let mut folder = ResultDirWriter::create(dir.path()).unwrap();
            events().iter().for_each(|event| folder.event(event).unwrap());
        }
        assert!(theirs.exists() && dir.path().join(RESULTS).exists());
        // A file that appears during the run.
        let mut folder = ResultDirWriter::create(dir.path()).unwrap();
        folder.event(&events()[0]).unwrap();
        fs::write(dir.path().join("junit.xml"), "theirs").unwrap();
        let error = events()[1..].iter().find_map(|event| folder.event(event).err()).unwrap().to_string();
        assert!(error.contains("junit.xml is in the way"), "{error}");
        assert_eq!(fs::read_to_string(dir.path().join("junit.xml")).unwrap(), "theirs");
    }

    #[test]
    fn pictures_of_failing_images_are_removed_with_the_run() {
        let texels = assay_events::TexelGrid {
            width: 2,
            expected: vec![[0.0; 4], [1.0; 4]],
            got: vec![[1.0; 4]; 2],
            wrong: vec![true, false],
            channels: 4,
            ..Default::default()
        };
        let drawn = |name: &str| {
            let picture = texels.picture("attachment 0").map(Box::new);
            Event::CaseFinished(Box::new(assay_events::CaseResult { picture, ..case(name, Status::Fail) }))
        };
        let dir = tempfile::tempdir().unwrap();
        let mut folder = ResultDirWriter::create(dir.path()).unwrap();
        folder.event(&events()[0]).unwrap();
        for name in ["tile.a", "../outside", "p. q"] {
            folder.event(&drawn(name)).unwrap();
        }
        folder.event(&events()[4]).unwrap();
        assert_eq!(names(&dir.path().join(PICTURE_FOLDER)), ["tile.a.png"]);
        let png = fs::read(dir.path().join("pictures/tile.a.png")).unwrap();
        assert_eq!(png[1..4], *b"PNG");
        // The page contains the picture, too.
        let run = crate::read::ResultDir::open(dir.path().to_owned()).unwrap();
        let mut page = Vec::new();
        crate::html::Page::read(&[run], &|_| None).unwrap().write(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains("data:image/png;base64,iVBOR") && page.contains("attachment 0; dark to bright"));
        let mut again = ResultDirWriter { pictures: PICTURES, ..folder };
        again.event(&events()[0]).unwrap();
        again.event(&drawn("tile.b")).unwrap();
        assert!(
            !dir.path().join(PICTURE_FOLDER).exists(),
            "the earlier run's pictures are removed, and the limit is reached"
        );
    }

    #[test]
    fn a_killed_run_leaves_nothing_under_a_final_name() {
        let dir = tempfile::tempdir().unwrap();
        // Left by a process that was killed during its write test.
        let mut killed = std::process::Command::new("true").spawn().unwrap();
        killed.wait().unwrap();
        fs::write(dir.path().join(format!(".assay-{}-0.partial", killed.id())), "").unwrap();
        let mut folder = ResultDirWriter::create(dir.path()).unwrap();
        for event in &events()[..3] {
            folder.event(event).unwrap();
        }
        drop(folder);
        assert_eq!(names(dir.path()), ["assay-files.json", "device.json", "results.jsonl.partial"]);
        let text = fs::read_to_string(dir.path().join("results.jsonl.partial")).unwrap();
        assert_eq!(text.lines().filter(|line| serde_json::from_str::<Event>(line).is_ok()).count(), 2);
    }

    #[test]
    fn results_of_an_earlier_run_are_removed_when_the_next_one_starts() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = ResultDirWriter::create(dir.path()).unwrap();
        for event in events() {
            folder.event(&event).unwrap();
        }
        let busy = ResultDirWriter::create(dir.path()).unwrap_err().to_string();
        assert!(busy.contains("another `assay` process is writing to"), "{busy}");
        drop(folder);
        let mut again = ResultDirWriter::create(dir.path()).unwrap();
        assert!(again.holds_results());
        again.event(&events()[0]).unwrap();
        assert_eq!(names(dir.path()), ["assay-files.json", "device.json", "results.jsonl.partial"]);
    }

    #[test]
    fn an_unusable_directory_is_an_error_before_the_run() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = ResultDirWriter::create(file.join("out")).unwrap_err().to_string();
        assert!(error.starts_with("cannot create the result folder") && error.contains("file/out"), "{error}");
        let error = ResultDirWriter::create(&file).unwrap_err().to_string();
        assert!(error.starts_with("cannot create the result folder"), "{error}");
    }

    #[test]
    fn standings_cover_missing_and_skipped_cases() {
        let dir = tempfile::tempdir().unwrap();
        let list = dir.path().join("baseline.csv");
        fs::write(&list, "p.b,Fail\np.a,Crash\n").unwrap();
        let baseline = crate::deqp::Baseline::read(&list).unwrap();
        let expectations = Expectations::new(Some(baseline), crate::deqp::Patterns::empty(), crate::Waivers::default());
        let planned = Rc::new(["p.a", "p.b", "p.c"].iter().collect());
        let expectations = Rc::new(expectations.for_run(planned, vec!["p.d".to_owned()]));
        let mut folder = ResultDirWriter::create(dir.path().join("out")).unwrap().with_expectations(expectations);
        for event in events() {
            folder.event(&event).unwrap();
        }
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let rows = "p.a,UnexpectedImprovement(Pass),1.5\np.b,ExpectedFail,1.5\np.c,Missing,0\np.d,Skip,0\n";
        assert_eq!(read("results.csv"), rows);
        assert_eq!(read("failures.csv"), "p.a,UnexpectedImprovement(Pass)\np.c,Missing\n");
        let standings: Vec<StandingLine> =
            read(STANDINGS).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let standings: Vec<_> = standings.iter().map(|line| (line.name.as_str(), line.standing)).collect();
        assert_eq!(
            standings,
            [
                ("p.b", Standing::Expected),
                ("p.a", Standing::Fixed),
                ("p.c", Standing::Missing),
                ("p.d", Standing::Expected)
            ]
        );
        assert!(read("junit.xml").contains("on the list of skips"));
    }

    #[test]
    fn unneeded_waivers_are_written_to_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let (list, out) = (dir.path().join("w.toml"), dir.path().join("out"));
        let waiver = |case: &str| format!("[[waiver]]\ncases = [\"{case}\"]\nissue = \"I1\"\nexpires = 2027-01-01\n");
        fs::write(&list, ["p.a", "p.b", "p.gone"].map(waiver).concat()).unwrap();
        let today = jiff::civil::Date::new(2026, 11, 21).unwrap();
        let run_with = |second: Status| {
            let waivers = crate::Waivers::read(&list).unwrap().for_run(&run(2).device, today);
            let expectations = Expectations::new(None, crate::deqp::Patterns::empty(), waivers);
            let mut folder = ResultDirWriter::create(&out).unwrap().with_expectations(Rc::new(expectations));
            for event in [
                Event::RunStarted(Box::new(run(2))),
                Event::CaseFinished(Box::new(case("p.a", Status::Fail))),
                Event::CaseFinished(Box::new(case("p.b", second))),
                Event::RunFinished { interrupted: false, wall: 1.0 },
            ] {
                folder.event(&event).unwrap();
            }
            drop(folder);
            fs::read_to_string(out.join(WAIVERS_LEFT)).unwrap()
        };
        let told = run_with(Status::Pass);
        assert!(
            told.contains("waiver 2 (I1) is no longer needed") && told.contains("waiver 3 (I1) names none"),
            "{told}"
        );
        assert_eq!((told.lines().count(), run_with(Status::Fail).lines().count()), (2, 1));
        let result_dir = [crate::read::ResultDir::open(out).unwrap()];
        let mut page = Vec::new();
        crate::html::Page::read(&result_dir, &|_| None).unwrap().write(&mut page).unwrap();
        assert!(String::from_utf8(page).unwrap().contains("names none of the cases that ran"));
    }

    #[test]
    fn flaky_results_have_a_standing_without_lists() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = ResultDirWriter::create(dir.path()).unwrap();
        let run_again = |status| RepeatRun { after: 0, inputs: 0, status, reason: None };
        let runs = vec![run_again(Status::Fail), run_again(Status::Pass)];
        let repeat = Some(Box::new(Repeat { verdict: RepeatVerdict::Flaky, runs, after: Vec::new() }));
        let check = CheckResult { repeat: repeat.clone(), ..check(Status::Fail) };
        let name = check.name.clone();
        for event in [
            Event::RunStarted(Box::new(run(4))),
            Event::CaseFinished(Box::new(case("p.a", Status::Fail))),
            Event::CaseFinished(Box::new(CaseResult { repeat, ..case("p.b", Status::Fail) })),
            Event::CaseFinished(Box::new(case("p.c", Status::Pass))),
            Event::CheckFinished(Box::new(check)),
            Event::RunFinished { interrupted: false, wall: 1.0 },
        ] {
            folder.event(&event).unwrap();
        }
        let text = fs::read_to_string(dir.path().join(STANDINGS)).unwrap();
        let lines: Vec<StandingLine> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let lines: Vec<_> = lines.iter().map(|line| (line.name.as_str(), line.standing, line.word.as_str())).collect();
        assert_eq!(lines, [("p.b", Standing::Flaky, "Flake"), (name.as_str(), Standing::Flaky, "Flake")]);
        assert!(fs::read_to_string(dir.path().join("results.csv")).unwrap().contains("p.b,Flake,"));
        // The page has the text of the check.
        let mut page = Vec::new();
        let run = crate::read::ResultDir::open(dir.path().to_owned()).unwrap();
        crate::html::Page::read(&[run], &|_| None).unwrap().write(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        let text = "\\n  dispatch  main with 4 x 2 x 1 workgroups of 8 x 8 x 1, 2 rounds\\n";
        assert!(page.contains(text), "{page}");
    }

    #[test]
    fn an_error_while_writing_names_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = ResultDirWriter::create(dir.path().join("out")).unwrap();
        fs::remove_dir(folder.path()).unwrap();
        let error = folder.event(&events()[0]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("out: "), "{error}");
    }
}
