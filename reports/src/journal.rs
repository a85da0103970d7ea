//! The journal of a run: `results.jsonl` while it grows.
//!
//! Each line is an event whose last member is a checksum, `"crc":"89abcdef"`: the CRC-32 of the
//! line without that member. Lines are only appended, each with one write. After a crash, a power
//! failure or a full disk, whole lines can therefore be distinguished from damaged ones, and each
//! result is either intact or absent.

use crate::{
    read::ReadError,
    result_file::{PARTIAL, RESULTS},
};
use assay_events::{Event, RunInfo, SCHEMA};
use assay_files::{create_temporary, input};
use serde::Deserialize;
use std::{
    collections::HashSet,
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, RandomState},
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

/// Text before the checksum, and the length of the text with all that follows.
const MEMBER: &str = ",\"crc\":\"";
const SEAL: usize = MEMBER.len() + 8 + "\"}".len();

/// Formats an event as a line with its checksum and a line feed.
///
/// # Errors
/// The event cannot be serialized.
pub(crate) fn line(event: &Event) -> io::Result<String> {
    let mut line = serde_json::to_string(event)?;
    let sum = crc32fast::hash(line.as_bytes());
    line.pop();
    line += &format!("{MEMBER}{sum:08x}\"}}\n");
    Ok(line)
}

/// Verifies the checksum of a line without its line feed; `None` if the line has none.
pub(crate) fn is_whole(line: &[u8]) -> Option<bool> {
    let (json, seal) = line.split_at_checked(line.len().checked_sub(SEAL)?)?;
    let sum = seal.strip_prefix(MEMBER.as_bytes())?.strip_suffix(b"\"}")?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(json);
    hasher.update(b"}");
    Some(sum == format!("{:08x}", hasher.finalize()).as_bytes())
}

/// Contents of the journal of an unfinished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    path: PathBuf,
    /// The run that was started.
    pub info: RunInfo,
    /// Number of results to keep.
    pub kept_results: usize,
    /// Number of results to repeat: cut short by an interruption, or not confirmed.
    pub partial_results: usize,
    /// Number of damaged lines.
    pub damaged_lines: usize,
    /// Set if the run was finished and no result is missing.
    pub complete: bool,
    /// Known duration so far, in seconds.
    pub wall: f64,
}

/// Copy of a journal without damaged and partial results. It is deleted on drop unless it has
/// replaced the journal.
#[derive(Debug)]
pub(crate) struct CleanJournal {
    copy: PathBuf,
    partial: PathBuf,
    done: PathBuf,
}

impl CleanJournal {
    /// Replaces the journal with the copy and opens it for appending.
    pub(crate) fn place(&self) -> io::Result<File> {
        fs::rename(&self.copy, &self.partial)?;
        match fs::remove_file(&self.done) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        OpenOptions::new().append(true).open(&self.partial)
    }
}

impl Drop for CleanJournal {
    fn drop(&mut self) {
        // Fails harmlessly after the copy has replaced the journal.
        _ = fs::remove_file(&self.copy);
    }
}

impl Journal {
    /// Reads the journal of a directory and copies its whole results. The journal itself stays
    /// unchanged. The caller holds the lock on the directory.
    ///
    /// # Errors
    /// There is no journal, its first line is damaged, a later version wrote it, or it cannot be
    /// read or copied.
    pub(crate) fn open(folder: &Path) -> Result<(Journal, CleanJournal), ReadError> {
        let (partial, done) = (folder.join(format!("{RESULTS}{PARTIAL}")), folder.join(RESULTS));
        let source = if partial.exists() { partial.clone() } else { done.clone() };
        if !source.exists() {
            return Err(ReadError::NoResults(folder.to_owned()));
        }
        let failed = |error| ReadError::Read { path: source.clone(), source: error };
        let reader = BufReader::with_capacity(1 << 20, input::open(&source).map_err(failed)?);
        let (file, copy) =
            create_temporary(folder).map_err(|source| ReadError::Write { path: folder.to_owned(), source })?;
        let clean = CleanJournal { copy, partial, done };
        let unwritten = |source| ReadError::Write { path: clean.copy.clone(), source };
        let mut out = BufWriter::new(file);
        let journal = copy_whole_lines(reader, &source, &clean, &mut out)?;
        let out = out.into_inner().map_err(|error| unwritten(error.into_error()))?;
        out.sync_all().map_err(unwritten)?;
        Ok((journal, clean))
    }

    /// Passes every result to `take`.
    ///
    /// # Errors
    /// The journal cannot be read, or `take` fails.
    pub fn replay(&self, take: &mut dyn FnMut(&Event) -> io::Result<()>) -> io::Result<()> {
        let reader = BufReader::with_capacity(1 << 20, input::open(&self.path)?);
        let mut left = self.kept_results;
        for line in reader.split(b'\n').skip(1) {
            if left == 0 {
                break;
            }
            let changed = || io::Error::other(format!("{} changed while being read", self.path.display()));
            take(&whole_event(&[line?, b"\n".to_vec()].concat()).ok_or_else(changed)?)?;
            left -= 1;
        }
        Ok(())
    }
}

/// Returns true if the file of a journal has a whole first line, or cannot be read. False if there is
/// no such file.
pub(crate) fn has_first_line(path: &Path) -> bool {
    let mut line = Vec::new();
    let read =
        File::open(path).and_then(|file| input::read_line(&mut BufReader::new(file), &mut line, input::MAX_LINE_BYTES));
    read.map_or_else(|error| error.kind() != io::ErrorKind::NotFound, |_| line.ends_with(b"\n"))
}

/// Copies the lines to keep, and returns a summary.
fn copy_whole_lines(
    mut reader: impl BufRead,
    source: &Path,
    to: &CleanJournal,
    out: &mut impl Write,
) -> Result<Journal, ReadError> {
    let failed = |error| ReadError::Read { path: source.to_owned(), source: error };
    let unwritten = |error| ReadError::Write { path: to.copy.clone(), source: error };
    let no_beginning = || ReadError::NoBeginning(source.to_owned());
    let mut line = Vec::new();
    input::read_line(&mut reader, &mut line, input::MAX_LINE_BYTES).map_err(failed)?;
    let mut journal = begin(source, &to.partial, &line)?.ok_or_else(no_beginning)?;
    out.write_all(&line).map_err(unwritten)?;
    // Hashes of names take less memory than names. A collision only causes one case to run again.
    let (hasher, mut names) = (RandomState::new(), HashSet::new());
    loop {
        line.clear();
        if input::read_line(&mut reader, &mut line, input::MAX_LINE_BYTES).map_err(failed)? == 0 {
            break;
        }
        let event = whole_event(&line);
        let kept = match &event {
            None => {
                journal.damaged_lines += 1;
                false
            }
            Some(Event::RunFinished { interrupted, wall }) => {
                (journal.complete, journal.wall) = (!interrupted, *wall);
                false
            }
            Some(event) if event.is_partial() => {
                journal.partial_results += 1;
                false
            }
            // Keep the first result of a case.
            Some(event) => event.case_end().is_some_and(|end| names.insert(hasher.hash_one(end.name))),
        };
        if kept {
            journal.kept_results += 1;
            out.write_all(&line).map_err(unwritten)?;
        }
    }
    // A run with missing results is not complete, even if its last line says so.
    journal.complete &= journal.kept_results >= journal.info.cases;
    Ok(journal)
}

/// Parses the event of a line; `None` if the line is damaged.
fn whole_event(line: &[u8]) -> Option<Event> {
    let line = line.strip_suffix(b"\n")?;
    is_whole(line).filter(|&whole| whole)?;
    serde_json::from_slice(line).ok()
}

/// Parses the first line; `None` if it is damaged.
fn begin(source: &Path, path: &Path, line: &[u8]) -> Result<Option<Journal>, ReadError> {
    #[derive(Deserialize)]
    struct Schema {
        schema: u32,
    }
    if let Ok(Schema { schema }) = serde_json::from_slice(line)
        && schema > SCHEMA
    {
        return Err(ReadError::Newer { path: source.to_owned(), schema });
    }
    let Some(Event::RunStarted(info)) = whole_event(line) else { return Ok(None) };
    let path = path.to_owned();
    Ok(Some(Journal {
        path,
        info: *info,
        kept_results: 0,
        partial_results: 0,
        damaged_lines: 0,
        complete: false,
        wall: 0.0,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ResultDirWriter,
        test_events::{case, run},
    };
    use assay_events::{Reporter, Status};

    const CASES: [(&str, Status); 4] =
        [("p.a", Status::Pass), ("p.\"b\",\n", Status::Fail), ("p.c", Status::NotSupported), ("p.d", Status::Pass)];

    /// Returns the journal of a run that was killed before its last case ended.
    fn killed(dir: &Path) -> Vec<u8> {
        let mut folder = ResultDirWriter::create(dir).unwrap();
        folder.event(&Event::RunStarted(Box::new(run(4)))).unwrap();
        for (name, status) in &CASES[..3] {
            folder.event(&Event::CaseFinished(Box::new(case(name, *status)))).unwrap();
        }
        drop(folder);
        fs::read(dir.join("results.jsonl.partial")).unwrap()
    }

    fn put(dir: &Path, bytes: &[u8]) {
        _ = fs::remove_file(dir.join(RESULTS));
        fs::write(dir.join("results.jsonl.partial"), bytes).unwrap();
    }

    /// Resumes and finishes a run; returns the replayed events.
    fn resume(dir: &Path) -> Result<Vec<Event>, String> {
        let (mut folder, journal) = ResultDirWriter::resume(dir).map_err(|error| error.to_string())?;
        let mut events = Vec::new();
        folder.event(&Event::RunStarted(Box::new(journal.info.clone()))).unwrap();
        let mut take = |event: &Event| {
            events.push(event.clone());
            folder.event(event)
        };
        journal.replay(&mut take).unwrap();
        let has = |name: &str| events.iter().any(|event| event.case_end().is_some_and(|end| end.name == name));
        let missing: Vec<_> = CASES.iter().filter(|(name, _)| !has(name)).collect();
        for (name, status) in missing {
            folder.event(&Event::CaseFinished(Box::new(case(name, *status)))).unwrap();
        }
        folder.event(&Event::RunFinished { interrupted: false, wall: 1.0 }).unwrap();
        Ok(events)
    }

    /// Asserts that a directory holds exactly one, correct result for each case.
    fn assert_whole(dir: &Path) {
        let text = fs::read_to_string(dir.join(RESULTS)).unwrap();
        let events: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut ended: Vec<(String, Status)> =
            events.iter().filter_map(Event::case_end).map(|end| (end.name.to_owned(), end.status)).collect();
        ended.sort();
        let mut wanted: Vec<(String, Status)> = CASES.iter().map(|(name, s)| ((*name).to_owned(), *s)).collect();
        wanted.sort();
        assert_eq!(ended, wanted);
        assert!(text.lines().all(|line| is_whole(line.as_bytes()) == Some(true)));
        assert!(matches!(events.last(), Some(Event::RunFinished { .. })));
        let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert_eq!(names.filter(|name| name.ends_with(PARTIAL)).count(), 0);
        assert_eq!(fs::read_to_string(dir.join("results.csv")).unwrap().lines().count(), 4);
    }

    /// Returns the events kept from a journal, or the error.
    fn kept(bytes: &[u8]) -> Result<Vec<Event>, String> {
        let mut out = Vec::new();
        let [copy, partial, done] = ["copy", "partial", "done"].map(PathBuf::from);
        let journal = copy_whole_lines(bytes, Path::new("j"), &CleanJournal { copy, partial, done }, &mut out)
            .map_err(|error| error.to_string())?;
        let events: Vec<Event> = out.split_inclusive(|&byte| byte == b'\n').map(|l| whole_event(l).unwrap()).collect();
        assert_eq!(journal.kept_results + 1, events.len());
        Ok(events)
    }

    fn events() -> Vec<Event> {
        let ended = CASES[..3].iter().map(|(name, status)| Event::CaseFinished(Box::new(case(name, *status))));
        [Event::RunStarted(Box::new(run(4)))].into_iter().chain(ended).collect()
    }

    #[test]
    fn a_truncated_journal_keeps_exactly_its_whole_lines() {
        let dir = tempfile::tempdir().unwrap();
        let (bytes, events) = (killed(dir.path()), events());
        let ends: Vec<usize> =
            bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        for end in 0..=bytes.len() {
            match kept(&bytes[..end]) {
                Ok(kept) => assert_eq!(kept, events[..ends.iter().filter(|&&line| line <= end).count()], "at {end}"),
                Err(error) => {
                    assert!(
                        end < ends[0] && error.contains("its first line (run settings) is damaged"),
                        "at {end}: {error}"
                    );
                }
            }
        }
        // A run without its first line is started anew, and replaces what is left of the line.
        for end in [0, 1, ends[0] - 1] {
            put(dir.path(), &bytes[..end]);
            assert!(!ResultDirWriter::has_run(dir.path()), "at {end}");
            assert_eq!(killed(dir.path()), bytes);
            assert!(ResultDirWriter::has_run(dir.path()));
        }
        // The same through the directory, up to a finished run.
        for end in [ends[0], ends[0] + 1, ends[1] - 1, ends[1], ends[2] + 100, bytes.len() - 1, bytes.len()] {
            put(dir.path(), &bytes[..end]);
            resume(dir.path()).unwrap();
            assert_whole(dir.path());
        }
    }

    #[test]
    fn a_damaged_byte_loses_only_its_own_line() {
        let dir = tempfile::tempdir().unwrap();
        let (bytes, events) = (killed(dir.path()), events());
        let first = bytes.iter().position(|&byte| byte == b'\n').unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            match kept(&damaged) {
                Ok(kept) => {
                    assert!((2..=3).contains(&kept.len()), "byte {at}");
                    assert!(kept.iter().all(|event| events.contains(event)), "byte {at}");
                }
                Err(error) => assert!(at <= first, "byte {at}: {error}"),
            }
        }
        let mut damaged = bytes.clone();
        damaged[first + 10] ^= 1;
        put(dir.path(), &damaged);
        assert_eq!(resume(dir.path()).unwrap().len(), 2);
        assert_whole(dir.path());
    }

    #[test]
    fn a_resumed_run_repeats_partial_results_only() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = ResultDirWriter::create(dir.path()).unwrap();
        folder.event(&Event::RunStarted(Box::new(run(4)))).unwrap();
        folder.event(&Event::CaseFinished(Box::new(case("p.a", Status::Pass)))).unwrap();
        let mut cut = case("p.d", Status::Fail);
        cut.partial = true;
        folder.event(&Event::CaseFinished(Box::new(cut))).unwrap();
        folder.event(&Event::RunFinished { interrupted: true, wall: 7.5 }).unwrap();
        let busy = ResultDirWriter::resume(dir.path()).unwrap_err().to_string();
        assert!(busy.contains("another `assay` process is writing to"), "{busy}");
        drop(folder);
        let (folder, journal) = ResultDirWriter::resume(dir.path()).unwrap();
        assert_eq!((journal.kept_results, journal.partial_results, journal.complete, journal.wall), (1, 1, false, 7.5));
        assert_eq!(journal.info, run(4));
        drop(folder);
        assert_eq!(resume(dir.path()).unwrap().len(), 1);
        assert_whole(dir.path());
        // Resuming a complete run loses nothing.
        let (folder, journal) = ResultDirWriter::resume(dir.path()).unwrap();
        assert!(journal.complete && journal.kept_results == 4);
        drop(folder);
        assert_eq!(resume(dir.path()).unwrap().len(), 4);
        assert_whole(dir.path());
    }

    #[test]
    fn resuming_changes_no_file_before_the_run_starts() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), &killed(dir.path()));
        resume(dir.path()).unwrap();
        assay_files::OwnedFiles::new(dir.path()).claim(["report.html"]).unwrap();
        fs::write(dir.path().join("report.html"), "a page").unwrap();
        let files = || {
            let paths = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
            let mut files: Vec<_> = paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
            files.sort();
            files
        };
        let before = files();
        assert_eq!(before.len(), 8);
        drop(ResultDirWriter::resume(dir.path()).unwrap());
        assert!(files() == before);
    }

    #[test]
    fn errors_explain_why_a_run_cannot_be_resumed() {
        let dir = tempfile::tempdir().unwrap();
        let error = |dir: &Path| ResultDirWriter::resume(dir).unwrap_err().to_string();
        assert!(error(dir.path()).contains("no results.jsonl in"));
        let gone = dir.path().join("gone");
        assert!(error(&gone).contains("gone") && !gone.exists(), "nothing is made");
        let bytes = killed(dir.path());
        let later = String::from_utf8(bytes).unwrap().replacen(&format!("\"schema\":{SCHEMA}"), "\"schema\":99", 1);
        put(dir.path(), later.as_bytes());
        assert!(error(dir.path()).contains("newer than this Assay supports"));
    }
}
