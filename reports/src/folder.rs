//! The output folder of a run.
//!
//! | file | when | what |
//! |---|---|---|
//! | `device.json` | at the start | the device and what it depends on ([`assay_runner::DeviceInfo`]) |
//! | `results.jsonl` | grows as `results.jsonl.partial`, gets its name at the end | one event a line, each with its checksum: `run_started`, a `case_finished` for each case, `run_finished` |
//! | `results.csv`, `failures.csv` | at the end | deqp-runner's form |
//! | `junit.xml` | at the end | for CI systems |
//! | `pictures/CASE.png` | as cases end, of the first 200 | of a failing case whose result is an image: expected, got, difference |
//! | `standings.jsonl` | at the end, if the lab gave lists or a case is flaky | how each case stands to them, where it is not simply as it should be |
//! | `waivers.txt` | at the end, if there is something to say | a line for each waiver that the run had no use for |
//!
//! A file under its final name is whole. The end of a run is also its end by Ctrl-C: the files then hold the cases
//! that ended, and `run_finished` says `"interrupted":true`. A run that was killed leaves `results.jsonl.partial`, in
//! which every line but perhaps the last is whole. Either can be continued ([`Folder::resume`]).
//!
//! The folder itself is locked as long as somebody writes to it. `assay-files.json` lists the files in it that Assay
//! wrote: no others are overwritten or removed ([`Owned`]).

use crate::{
    deqp::{Did, Word},
    expect::{Expectations, Judged, Standing, WaiversUsed},
    journal::{self, Journal, Sifted},
    junit,
    ledger::{Ledger, Said},
    load::LoadError,
};
use assay_files::{Owned, sweep};
use assay_runner::{Event, Picture, Reporter, RunInfo};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File, TryLockError},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    rc::Rc,
    time::{Duration, Instant},
};

pub(crate) const DEVICE: &str = "device.json";
pub(crate) const RESULTS: &str = "results.jsonl";
pub(crate) const RESULTS_CSV: &str = "results.csv";
pub(crate) const FAILURES_CSV: &str = "failures.csv";
pub(crate) const JUNIT: &str = "junit.xml";
pub(crate) const STANDINGS: &str = "standings.jsonl";
pub(crate) const WAIVERS_LEFT: &str = "waivers.txt";
/// The page, which is not written here but goes with the results that it is of.
pub(crate) const PAGE: &str = "report.html";
pub(crate) const PARTIAL: &str = ".partial";

/// The files of a run whose names are fixed.
const FILES: [&str; 8] = [RESULTS, RESULTS_CSV, FAILURES_CSV, JUNIT, STANDINGS, WAIVERS_LEFT, PAGE, DEVICE];

/// These names, each also as that of a file which is not whole yet.
pub(crate) fn with_partial<'a>(names: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = String> {
    names.into_iter().flat_map(|name| [name.to_owned(), format!("{name}{PARTIAL}")])
}

/// Why a planned case has no result.
pub(crate) const MISSING: &str = "planned, and without a result: the run ended before it";
/// Why a case was not planned.
pub(crate) const SKIPPED: &str = "left out by the list of skips";

/// A line of `standings.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StandingLine {
    pub(crate) name: String,
    pub(crate) standing: Standing,
    /// deqp-runner's word.
    pub(crate) word: String,
    pub(crate) why: Option<String>,
}

/// Why an output folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It is not there and cannot be made.
    #[error("cannot create the output folder {}: {source}", path.display())]
    Create {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It cannot be written to, or its disk is full.
    #[error("cannot write to the output folder {}: {source}", path.display())]
    Write {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process is writing to it.
    #[error("another `assay` is writing to {}: wait for its end, or name another folder", .0.display())]
    Busy(PathBuf),
    /// It holds no run that can be continued.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// Pictures that are written in a run; the page and `results.jsonl` have those of all failing images.
const PICTURES: usize = 200;

const PICTURE_FOLDER: &str = "pictures";

/// Bytes that are written before the disk is asked to keep them are lost with the power; they are of this time at most.
const SYNC: Duration = Duration::from_secs(1);

/// Writes the output folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    own: Owned,
    /// The folder, locked.
    _lock: File,
    results: Option<File>,
    synced: Instant,
    /// The journal of a run that was begun before, until this one starts, which continues it.
    continued: Option<Sifted>,
    /// Results that will be told and are in the journal already.
    written: usize,
    ledger: Ledger,
    standings: Option<Partial>,
    /// The run, once it has started.
    run: Option<Box<RunInfo>>,
    expectations: Rc<Expectations>,
    waivers: WaiversUsed,
    /// Pictures that were written.
    pictures: usize,
}

impl Folder {
    /// Makes the folder if need be, and makes sure that it can be written to and that there is some room. Results of an
    /// earlier run in it stay until this run starts.
    ///
    /// # Errors
    /// It cannot be made or written to, or a file that Assay did not write has a name that a run needs.
    pub fn create(path: impl Into<PathBuf>) -> Result<Folder, FolderError> {
        let folder = Folder::open(path.into())?;
        folder.must_be_free(FILES)?;
        Ok(folder)
    }

    /// Makes sure that these names, and that of the folder of pictures, are free or those of Assay's own files.
    fn must_be_free<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<(), FolderError> {
        let names = with_partial(names).chain([format!("{PICTURE_FOLDER}/")]);
        self.own.check(names).map_err(|source| FolderError::Write { path: self.path.clone(), source })
    }

    fn open(path: PathBuf) -> Result<Folder, FolderError> {
        if let Err(source) = fs::create_dir_all(&path) {
            return Err(FolderError::Create { path, source });
        }
        if let Err(source) = probe(&path) {
            return Err(FolderError::Write { path, source });
        }
        let lock = lock(&path)?;
        sweep(&path);
        Ok(Folder {
            own: Owned::of(&path),
            path,
            _lock: lock,
            results: None,
            synced: Instant::now(),
            continued: None,
            written: 0,
            ledger: Ledger::default(),
            standings: None,
            run: None,
            expectations: Rc::default(),
            waivers: WaiversUsed::default(),
            pictures: 0,
        })
    }

    /// Opens the folder of a run that was killed or interrupted, to go on with it. The first events that it is then told
    /// have to be the start of the run and the results of the journal ([`Journal::replay`]), which it does not write again.
    /// Until that start everything in it stays as it is.
    ///
    /// # Errors
    /// There is no such run in it, another process is at it, or it cannot be written to.
    pub fn resume(path: impl Into<PathBuf>) -> Result<(Folder, Journal), FolderError> {
        let path = path.into();
        if !path.is_dir() {
            return Err(LoadError::NoResults(path).into());
        }
        let folder = Folder::open(path)?;
        let (journal, sifted) = Journal::open(&folder.path)?;
        // The journal is Assay's, as its lines say.
        folder.must_be_free(FILES.into_iter().filter(|name| *name != RESULTS))?;
        let (continued, written) = (Some(sifted), journal.results);
        Ok((Folder { continued, written, ..folder }, journal))
    }

    /// Whether a run was begun in a folder, ended or not, so that it can be gone on with.
    pub fn is_begun(path: &Path) -> bool {
        path.join(RESULTS).exists() || path.join(format!("{RESULTS}{PARTIAL}")).exists()
    }

    /// Holds the results against what the lab expects.
    #[must_use]
    pub fn expecting(self, expectations: Rc<Expectations>) -> Folder {
        Folder { expectations, ..self }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it holds the results of an earlier run, which this one will replace.
    pub fn holds_results(&self) -> bool {
        self.path.join(RESULTS).exists()
    }

    fn start(&mut self, event: &Event) -> io::Result<()> {
        // All at once, so that files of two runs never lie side by side.
        let continued = self.continued.take();
        if let Some(journal) = &continued {
            with_partial([RESULTS]).try_for_each(|name| self.own.adopt(&name))?;
            self.results = Some(journal.place()?);
            let kept = [RESULTS, DEVICE];
            self.own.remove(with_partial(FILES.into_iter().filter(|name| !kept.contains(name))))?;
        } else {
            self.own.remove(with_partial(FILES))?;
            self.own.remove_folder(PICTURE_FOLDER)?;
        }
        if let Event::RunStarted(run) = event {
            let mut text = serde_json::to_string_pretty(&run.device)?;
            text.push('\n');
            write_whole(&self.path, DEVICE, |out| out.write_all(text.as_bytes()))?;
            self.run = Some(run.clone());
        }
        self.ledger = Ledger::new(Rc::clone(self.expectations.planned()));
        self.standings = None;
        self.waivers = WaiversUsed::default();
        if continued.is_some() {
            return Ok(());
        }
        self.own.claim(with_partial([RESULTS]))?;
        self.results = Some(self.own.create(&format!("{RESULTS}{PARTIAL}"))?);
        self.line(event)
    }

    /// Writes the picture of a case, under its name.
    fn picture(&mut self, name: &str, picture: Option<&Picture>) -> io::Result<()> {
        // Names of cases of one's own may be anything.
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
        if self.written > 0 && event.ended().is_some() {
            self.written -= 1;
            return Ok(());
        }
        let Some(file) = &mut self.results else { return Ok(()) };
        // One write a line: what a killed run leaves ends with a whole line.
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
            let ledger = &self.ledger;
            write_whole(&self.path, RESULTS_CSV, |out| ledger.write_results(out))?;
            write_whole(&self.path, FAILURES_CSV, |out| ledger.write_failures(out))?;
            if let Some(run) = &self.run {
                write_whole(&self.path, JUNIT, |out| junit::write(out, run, || ledger.rows()))?;
            }
            match self.standings.take() {
                Some(standings) => standings.finish()?,
                None if self.expectations.are_any() => write_whole(&self.path, STANDINGS, |_| Ok(()))?,
                None => {}
            }
            let left = self.waivers.useless(&self.expectations);
            if !left.is_empty() {
                write_whole(&self.path, WAIVERS_LEFT, |out| left.iter().try_for_each(|line| writeln!(out, "{line}")))?;
            }
        }
        Ok(())
    }

    /// Takes in how a case came out.
    fn add(&mut self, name: &str, judged: Judged, seconds: f64, said: Said<'_>) -> io::Result<()> {
        let reason = said.reason;
        let both = reason.zip(judged.why.as_deref()).map(|(reason, why)| format!("{reason}; {why}"));
        let reason = both.as_deref().or(reason).or(judged.why.as_deref());
        self.ledger.insert(name, judged.word, seconds, Said { reason, ..said });
        self.stand(name, judged)
    }

    /// Says how a case stands to the lists, where that is worth a line.
    fn stand(&mut self, name: &str, judged: Judged) -> io::Result<()> {
        let Judged { standing, word, why } = judged;
        // Without lists the status says it all, but of what differs from run to run.
        let told = self.expectations.are_any() && !(word == Word::Did(Did::Pass) && standing == Standing::Expected);
        if told || standing == Standing::Flaky {
            let line = StandingLine { name: name.to_owned(), standing, word: word.to_string(), why };
            let file = match &mut self.standings {
                Some(file) => file,
                none => none.insert(Partial::create(&self.path, STANDINGS)?),
            };
            writeln!(file.out, "{}", serde_json::to_string(&line)?)?;
        }
        Ok(())
    }

    /// Takes in the cases that were to run and have no result, and those that were left out.
    fn without_result(&mut self) -> io::Result<()> {
        let expectations = Rc::clone(&self.expectations);
        for at in self.ledger.missing() {
            let name = expectations.planned().get(at);
            self.ledger.without_result(name, Word::Missing, MISSING);
            self.stand(name, Judged { standing: Standing::Missing, word: Word::Missing, why: None })?;
        }
        for name in expectations.skipped() {
            let judged = expectations.judge_skipped(name);
            if self.ledger.without_result(name, judged.word, SKIPPED) {
                self.stand(name, judged)?;
            }
        }
        Ok(())
    }
}

/// A file of a folder that is written under another name until it is whole.
#[derive(Debug)]
pub(crate) struct Partial {
    partial: PathBuf,
    path: PathBuf,
    pub(crate) out: BufWriter<File>,
}

impl Partial {
    /// Begins it, once it is recorded as Assay's.
    pub(crate) fn create(folder: &Path, name: &str) -> io::Result<Partial> {
        let own = Owned::of(folder);
        own.claim(with_partial([name]))?;
        let name_of_partial = format!("{name}{PARTIAL}");
        let out = BufWriter::with_capacity(1 << 16, own.create(&name_of_partial)?);
        let partial = folder.join(name_of_partial);
        Ok(Partial { partial, path: folder.join(name), out })
    }

    /// Gives it its own name.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let written = self.out.flush().and_then(|()| self.out.get_ref().sync_all());
        match written.and_then(|()| fs::rename(&self.partial, &self.path)) {
            Ok(()) => Ok(()),
            Err(error) => {
                // The error at hand matters more than one from cleaning up.
                _ = fs::remove_file(&self.partial);
                Err(error)
            }
        }
    }
}

/// Locks a folder, as long as the result is kept.
fn lock(path: &Path) -> Result<File, FolderError> {
    let failed = |source| FolderError::Write { path: path.to_owned(), source };
    let folder = File::open(path).map_err(failed)?;
    match folder.try_lock() {
        Ok(()) => Ok(folder),
        Err(TryLockError::WouldBlock) => Err(FolderError::Busy(path.to_owned())),
        // Some network file systems have no locks: whoever uses them has to see to it.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(folder),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Writes a file of a folder under another name, then gives it its own.
pub(crate) fn write_whole(
    folder: &Path,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = Partial::create(folder, name)?;
    match write(&mut file.out) {
        Ok(()) => file.finish(),
        Err(error) => {
            _ = fs::remove_file(&file.partial);
            Err(error)
        }
    }
}

impl Reporter for Folder {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let done = match event {
            Event::RunStarted(_) => self.start(event),
            Event::CaseFinished(case) => {
                let judged = self.expectations.judge(case);
                self.waivers.add(&self.expectations, case);
                let said = Said::of(case.reason.as_deref(), &case.path, Some(case.status));
                let explain = case.worst.as_ref().map(|worst| worst.explain.as_str());
                let said = said.explained(Some(case.status), explain);
                let added = self.add(&case.name, judged, case.times.wall, said);
                added.and_then(|()| self.picture(&case.name, case.picture.as_deref())).and_then(|()| self.line(event))
            }
            Event::CheckFinished(check) => {
                let judged = self.expectations.judge_check(check);
                let said = Said { reason: check.reason.as_deref(), ..Said::default() };
                let added = self.add(&check.name, judged, check.times.wall, said);
                added.and_then(|()| self.line(event))
            }
            Event::RunFinished { .. } => self.line(event).and_then(|()| self.finish()),
            Event::CaseStarted { .. } | Event::CaseProgress { .. } => Ok(()),
        };
        done.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.path.display())))
    }
}

/// Writes and removes a file, so that a folder that cannot be written to, or a full disk, is known before a run and not after.
fn probe(folder: &Path) -> io::Result<()> {
    let (mut file, path) = assay_files::scratch(folder)?;
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
    use crate::testing::{case, check, run};
    use assay_runner::{CaseResult, CheckResult, OneRun, Repeat, Repeated, RunInfo, Status};

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
    fn a_finished_run_leaves_whole_files() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(dir.path().join("new/out")).unwrap();
        assert!(names(folder.path()).is_empty());
        for event in events() {
            folder.event(&event).unwrap();
        }
        assert_eq!(
            names(folder.path()),
            ["assay-files.json", "device.json", "failures.csv", "junit.xml", "results.csv", "results.jsonl"]
        );
        let text = fs::read_to_string(folder.path().join(RESULTS)).unwrap();
        let read: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let kept: Vec<Event> = events().into_iter().filter(|e| !matches!(e, Event::CaseStarted { .. })).collect();
        assert_eq!(read, kept);
        // A reader that knows nothing of events can take the lines for what they are.
        let first: RunInfo = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(first.schema, assay_runner::SCHEMA);
        let device = fs::read_to_string(folder.path().join(DEVICE)).unwrap();
        assert_eq!(serde_json::from_str::<assay_runner::DeviceInfo>(&device).unwrap(), first.device);
        assert_eq!(fs::read_to_string(folder.path().join(FAILURES_CSV)).unwrap(), "p.b,Fail\n");
    }

    #[test]
    fn files_of_somebody_else_are_refused_and_stay() {
        for theirs in ["pictures/holiday.png", "junit.xml", "results.jsonl.partial", "report.html", "device.json"] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(theirs);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "theirs").unwrap();
            let error = Folder::create(dir.path()).unwrap_err().to_string();
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
    fn recorded_names_that_became_links_do_not_lead_a_run_to_other_files() {
        let begun = |path: &Path| {
            let mut folder = Folder::create(path).unwrap();
            events()[..3].iter().for_each(|event| folder.event(event).unwrap());
        };
        for name in ["device.json.partial", "device.json", "junit.xml.partial", "results.csv"] {
            let dir = tempfile::tempdir().unwrap();
            let (out, victim) = (dir.path().join("out"), dir.path().join("victim"));
            begun(&out);
            fs::write(&victim, "theirs").unwrap();
            Owned::of(&out).adopt(name).unwrap();
            _ = fs::remove_file(out.join(name));
            std::os::unix::fs::symlink("../victim", out.join(name)).unwrap();
            for error in [Folder::resume(&out).unwrap_err(), Folder::create(&out).unwrap_err()] {
                let error = error.to_string();
                assert!(error.contains(&format!("{name} is in the way")), "{name}: {error}");
            }
            assert_eq!(fs::read_to_string(&victim).unwrap(), "theirs", "{name}");
        }
        // The journal is copied beside itself, and the copy takes its place.
        let dir = tempfile::tempdir().unwrap();
        let (out, victim) = (dir.path().join("out"), dir.path().join("victim"));
        begun(&out);
        for name in [".assay-journal.partial", ".assay-1-0.partial"] {
            fs::write(&victim, "theirs").unwrap();
            std::os::unix::fs::symlink("../victim", out.join(name)).unwrap();
        }
        drop(Folder::resume(&out).unwrap());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "theirs");
        assert!(out.join(".assay-journal.partial").is_symlink(), "it is not of the form of files written aside");
    }

    /// A report that is written while a run begins has its page beside its place for a moment.
    #[test]
    fn files_that_living_processes_write_aside_stay() {
        let dir = tempfile::tempdir().unwrap();
        let (_file, page) = assay_files::scratch(dir.path()).unwrap();
        drop(Folder::create(dir.path()).unwrap());
        assert!(page.exists());
    }

    #[test]
    fn files_beside_those_of_a_run_outlive_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let theirs = dir.path().join("notes.txt");
        fs::write(&theirs, "theirs").unwrap();
        for _ in 0..2 {
            let mut folder = Folder::create(dir.path()).unwrap();
            events().iter().for_each(|event| folder.event(event).unwrap());
        }
        assert!(theirs.exists() && dir.path().join(RESULTS).exists());
        // One that comes to lie there while the run goes on.
        let mut folder = Folder::create(dir.path()).unwrap();
        folder.event(&events()[0]).unwrap();
        fs::write(dir.path().join(JUNIT), "theirs").unwrap();
        let error = events()[1..].iter().find_map(|event| folder.event(event).err()).unwrap().to_string();
        assert!(error.contains("junit.xml is in the way"), "{error}");
        assert_eq!(fs::read_to_string(dir.path().join(JUNIT)).unwrap(), "theirs");
    }

    #[test]
    fn failing_images_are_drawn_into_a_folder_that_goes_with_the_run() {
        let texels = assay_runner::Texels {
            width: 2,
            expected: vec![[0.0; 4], [1.0; 4]],
            got: vec![[1.0; 4]; 2],
            wrong: vec![true, false],
        };
        let drawn = |name: &str| {
            let picture = texels.picture("attachment 0").map(Box::new);
            Event::CaseFinished(Box::new(assay_runner::CaseResult { picture, ..case(name, Status::Fail) }))
        };
        let dir = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(dir.path()).unwrap();
        folder.event(&events()[0]).unwrap();
        for name in ["tile.a", "../outside", "p. q"] {
            folder.event(&drawn(name)).unwrap();
        }
        folder.event(&events()[4]).unwrap();
        assert_eq!(names(&dir.path().join(PICTURE_FOLDER)), ["tile.a.png"]);
        let png = fs::read(dir.path().join("pictures/tile.a.png")).unwrap();
        assert_eq!(png[1..4], *b"PNG");
        // The page has it too.
        let run = crate::load::Opened::open(dir.path().to_owned()).unwrap();
        let mut page = Vec::new();
        crate::html::Page::read(&[run], &|_| None).unwrap().write(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains("data:image/png;base64,iVBOR") && page.contains("attachment 0; dark to bright"));
        let mut again = Folder { pictures: PICTURES, ..folder };
        again.event(&events()[0]).unwrap();
        again.event(&drawn("tile.b")).unwrap();
        assert!(!dir.path().join(PICTURE_FOLDER).exists(), "the earlier run's are gone, and there are enough");
    }

    #[test]
    fn a_killed_run_leaves_nothing_under_a_final_name() {
        let dir = tempfile::tempdir().unwrap();
        // One that was killed while it looked whether it can write.
        let mut killed = std::process::Command::new("true").spawn().unwrap();
        killed.wait().unwrap();
        fs::write(dir.path().join(format!(".assay-{}-0.partial", killed.id())), "").unwrap();
        let mut folder = Folder::create(dir.path()).unwrap();
        for event in &events()[..3] {
            folder.event(event).unwrap();
        }
        drop(folder);
        assert_eq!(names(dir.path()), ["assay-files.json", "device.json", "results.jsonl.partial"]);
        let text = fs::read_to_string(dir.path().join("results.jsonl.partial")).unwrap();
        assert_eq!(text.lines().filter(|line| serde_json::from_str::<Event>(line).is_ok()).count(), 2);
    }

    #[test]
    fn results_of_an_earlier_run_go_when_the_next_one_starts() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(dir.path()).unwrap();
        for event in events() {
            folder.event(&event).unwrap();
        }
        let busy = Folder::create(dir.path()).unwrap_err().to_string();
        assert!(busy.contains("another `assay` is writing to"), "{busy}");
        drop(folder);
        let mut again = Folder::create(dir.path()).unwrap();
        assert!(again.holds_results());
        again.event(&events()[0]).unwrap();
        assert_eq!(names(dir.path()), ["assay-files.json", "device.json", "results.jsonl.partial"]);
    }

    #[test]
    fn a_folder_that_cannot_be_made_or_written_is_an_error_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Folder::create(file.join("out")).unwrap_err().to_string();
        assert!(error.starts_with("cannot create the output folder") && error.contains("file/out"), "{error}");
        let error = Folder::create(&file).unwrap_err().to_string();
        assert!(error.starts_with("cannot create the output folder"), "{error}");
    }

    #[test]
    fn results_stand_to_what_was_expected_and_nothing_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let list = dir.path().join("baseline.csv");
        fs::write(&list, "p.b,Fail\np.a,Crash\n").unwrap();
        let baseline = crate::deqp::Baseline::read(&list).unwrap();
        let expectations = Expectations::new(Some(baseline), crate::deqp::Patterns::none(), crate::Waivers::default());
        let planned = Rc::new(["p.a", "p.b", "p.c"].iter().collect());
        let expectations = Rc::new(expectations.of_run(planned, vec!["p.d".to_owned()]));
        let mut folder = Folder::create(dir.path().join("out")).unwrap().expecting(expectations);
        for event in events() {
            folder.event(&event).unwrap();
        }
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let rows = "p.a,UnexpectedImprovement(Pass),1.5\np.b,ExpectedFail,1.5\np.c,Missing,0\np.d,Skip,0\n";
        assert_eq!(read(RESULTS_CSV), rows);
        assert_eq!(read(FAILURES_CSV), "p.a,UnexpectedImprovement(Pass)\np.c,Missing\n");
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
        assert!(read(JUNIT).contains("left out by the list of skips"));
    }

    #[test]
    fn waivers_without_use_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let (list, out) = (dir.path().join("w.toml"), dir.path().join("out"));
        let waiver = |case: &str| format!("[[waiver]]\ncases = [\"{case}\"]\nissue = \"I1\"\nexpires = 2027-01-01\n");
        fs::write(&list, ["p.a", "p.b", "p.gone"].map(waiver).concat()).unwrap();
        let today = jiff::civil::Date::new(2026, 11, 21).unwrap();
        let run_with = |second: Status| {
            let waivers = crate::Waivers::read(&list).unwrap().of_run(&run(2).device, today);
            let expectations = Expectations::new(None, crate::deqp::Patterns::none(), waivers);
            let mut folder = Folder::create(&out).unwrap().expecting(Rc::new(expectations));
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
            told.contains("waiver 2 (I1) is not needed any more") && told.contains("waiver 3 (I1) is about none"),
            "{told}"
        );
        assert_eq!((told.lines().count(), run_with(Status::Fail).lines().count()), (2, 1));
        let opened = [crate::load::Opened::open(out).unwrap()];
        let mut page = Vec::new();
        crate::html::Page::read(&opened, &|_| None).unwrap().write(&mut page).unwrap();
        assert!(String::from_utf8(page).unwrap().contains("is about none of the cases that ran"));
    }

    #[test]
    fn what_is_flaky_is_told_even_without_lists() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(dir.path()).unwrap();
        let run_again = |status| OneRun { after: 0, inputs: 0, status, reason: None };
        let runs = vec![run_again(Status::Fail), run_again(Status::Pass)];
        let repeat = Some(Box::new(Repeat { verdict: Repeated::Flaky, runs, after: Vec::new() }));
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
        assert!(fs::read_to_string(dir.path().join(RESULTS_CSV)).unwrap().contains("p.b,Flake,"));
    }

    #[test]
    fn an_error_while_writing_names_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(dir.path().join("out")).unwrap();
        fs::remove_dir(folder.path()).unwrap();
        let error = folder.event(&events()[0]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("out: "), "{error}");
    }
}
