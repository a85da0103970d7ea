//! The output folder of a run.
//!
//! | file | when | what |
//! |---|---|---|
//! | `device.json` | at the start | the device and what it depends on ([`assay_runner::DeviceInfo`]) |
//! | `results.jsonl` | grows as `results.jsonl.partial`, gets its name at the end | one event a line: `run_started`, a `case_finished` for each case, `run_finished` |
//! | `results.csv`, `failures.csv` | at the end | deqp-runner's form |
//!
//! A file under its final name is whole. The end of a run is also its end by Ctrl-C: the files then hold the cases
//! that ended, and `run_finished` says `"interrupted":true`. A run that was killed leaves `results.jsonl.partial`, in
//! which every line but perhaps the last is whole.

use crate::deqp;
use assay_runner::{Event, Reporter};
use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

const DEVICE: &str = "device.json";
const RESULTS: &str = "results.jsonl";
const RESULTS_CSV: &str = "results.csv";
const FAILURES_CSV: &str = "failures.csv";
const PARTIAL: &str = ".partial";

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
}

/// Writes the output folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    results: Option<File>,
    rows: deqp::Rows,
}

impl Folder {
    /// Makes the folder if need be, and makes sure that it can be written to and that there is some room. Results of an
    /// earlier run in it stay until this run starts.
    ///
    /// # Errors
    /// It cannot be made or written to.
    pub fn create(path: impl Into<PathBuf>) -> Result<Folder, FolderError> {
        let path = path.into();
        if let Err(source) = fs::create_dir_all(&path) {
            return Err(FolderError::Create { path, source });
        }
        if let Err(source) = probe(&path) {
            return Err(FolderError::Write { path, source });
        }
        Ok(Folder { path, results: None, rows: deqp::Rows::default() })
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
        for name in [RESULTS, RESULTS_CSV, FAILURES_CSV, DEVICE] {
            for name in [name.to_owned(), format!("{name}{PARTIAL}")] {
                match fs::remove_file(self.path.join(name)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        if let Event::RunStarted(run) = event {
            let mut text = serde_json::to_string_pretty(&run.device)?;
            text.push('\n');
            self.write_whole(DEVICE, &text)?;
        }
        self.rows = deqp::Rows::default();
        self.results = Some(File::create(self.path.join(format!("{RESULTS}{PARTIAL}")))?);
        self.line(event)
    }

    fn line(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_string(event)?;
        line.push('\n');
        // One write a line: what a killed run leaves ends with a whole line.
        self.results.as_mut().map_or(Ok(()), |file| file.write_all(line.as_bytes()))
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(file) = self.results.take() {
            file.sync_all()?;
            fs::rename(self.path.join(format!("{RESULTS}{PARTIAL}")), self.path.join(RESULTS))?;
            self.write_whole(RESULTS_CSV, &self.rows.results())?;
            self.write_whole(FAILURES_CSV, &self.rows.failures())?;
        }
        Ok(())
    }

    /// Writes a file under another name, then gives it its own.
    fn write_whole(&self, name: &str, text: &str) -> io::Result<()> {
        let partial = self.path.join(format!("{name}{PARTIAL}"));
        let written = File::create(&partial).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        match written.and_then(|()| fs::rename(&partial, self.path.join(name))) {
            Ok(()) => Ok(()),
            Err(error) => {
                // The error at hand matters more than one from cleaning up.
                _ = fs::remove_file(&partial);
                Err(error)
            }
        }
    }
}

impl Reporter for Folder {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let done = match event {
            Event::RunStarted(_) => self.start(event),
            Event::CaseFinished(case) => {
                self.rows.add(case);
                self.line(event)
            }
            Event::CheckFinished(check) => {
                self.rows.insert(&check.name, check.status, check.times.wall);
                self.line(event)
            }
            Event::RunFinished { .. } => self.line(event).and_then(|()| self.finish()),
            Event::CaseStarted { .. } | Event::CaseProgress { .. } => Ok(()),
        };
        done.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.path.display())))
    }
}

/// Writes and removes a file, so that a folder that cannot be written to, or a full disk, is known before a run and not after.
fn probe(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!(".assay-{}{PARTIAL}", std::process::id()));
    let written = File::create(&path).and_then(|mut file| {
        file.write_all(&[0; 1 << 20])?;
        file.sync_all()
    });
    let removed = match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    written.and(removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{case, run};
    use assay_runner::{RunInfo, Status};

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
        assert_eq!(names(folder.path()), ["device.json", "failures.csv", "results.csv", "results.jsonl"]);
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
    fn a_killed_run_leaves_nothing_under_a_final_name() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(dir.path()).unwrap();
        for event in &events()[..3] {
            folder.event(event).unwrap();
        }
        drop(folder);
        assert_eq!(names(dir.path()), ["device.json", "results.jsonl.partial"]);
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
        let mut again = Folder::create(dir.path()).unwrap();
        assert!(again.holds_results());
        again.event(&events()[0]).unwrap();
        assert_eq!(names(dir.path()), ["device.json", "results.jsonl.partial"]);
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
    fn an_error_while_writing_names_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(dir.path().join("out")).unwrap();
        fs::remove_dir(folder.path()).unwrap();
        let error = folder.event(&events()[0]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("out: "), "{error}");
    }
}
