//! The journal of a run: `results.jsonl` while it grows.
//!
//! Every line is an event with a checksum of its own as the last member, `"crc":"89abcdef"`: the CRC-32 of the line as it
//! would be without that member. Lines are only ever appended, each with one write. So whatever ends a run (kill -9, a
//! loss of power, a full disk), the lines that are whole can be told from what is not, and a result is either there as it
//! was or not there at all.

use crate::{
    folder::{PARTIAL, RESULTS},
    load::LoadError,
};
use assay_files::{input, scratch};
use assay_runner::{Event, RunInfo, SCHEMA};
use serde::Deserialize;
use std::{
    collections::HashSet,
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, RandomState},
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

/// What stands before the checksum, and its length with all that follows.
const MEMBER: &str = ",\"crc\":\"";
const SEAL: usize = MEMBER.len() + 8 + "\"}".len();

/// The line of an event, with its checksum and a line feed.
///
/// # Errors
/// It has no JSON form.
pub(crate) fn line(event: &Event) -> io::Result<String> {
    let mut line = serde_json::to_string(event)?;
    let sum = crc32fast::hash(line.as_bytes());
    line.pop();
    line += &format!("{MEMBER}{sum:08x}\"}}\n");
    Ok(line)
}

/// Whether a line (without its line feed) is what was written; `None` if it has no checksum.
pub(crate) fn is_whole(line: &[u8]) -> Option<bool> {
    let (json, seal) = line.split_at_checked(line.len().checked_sub(SEAL)?)?;
    let sum = seal.strip_prefix(MEMBER.as_bytes())?.strip_suffix(b"\"}")?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(json);
    hasher.update(b"}");
    Some(sum == format!("{:08x}", hasher.finalize()).as_bytes())
}

/// What the journal of an unfinished run holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    path: PathBuf,
    /// What was being run.
    pub info: RunInfo,
    /// Results that need not be computed again.
    pub results: usize,
    /// Results that do: cut short by an interruption, or not confirmed.
    pub partial: usize,
    /// Lines that were damaged.
    pub damaged: usize,
    /// Whether the run had come to its end, so that nothing is missing.
    pub complete: bool,
    /// How long it has taken already, as far as is known, in seconds.
    pub wall: f64,
}

/// A journal of whole results only, beside the one that it is made from: gone again unless it takes its place.
#[derive(Debug)]
pub(crate) struct Sifted {
    copy: PathBuf,
    partial: PathBuf,
    done: PathBuf,
}

impl Sifted {
    /// Puts it in its place and opens it for what follows.
    pub(crate) fn place(&self) -> io::Result<File> {
        fs::rename(&self.copy, &self.partial)?;
        match fs::remove_file(&self.done) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        OpenOptions::new().append(true).open(&self.partial)
    }
}

impl Drop for Sifted {
    fn drop(&mut self) {
        // One that is in its place is not there any more.
        _ = fs::remove_file(&self.copy);
    }
}

impl Journal {
    /// Reads the journal of a folder, and copies what of it is a whole result, ready to be continued. The journal itself is left
    /// as it is. The caller has locked the folder.
    ///
    /// # Errors
    /// There is none, nobody can tell from it what was being run, a later version wrote it, or it cannot be read or copied.
    pub(crate) fn open(folder: &Path) -> Result<(Journal, Sifted), LoadError> {
        let (partial, done) = (folder.join(format!("{RESULTS}{PARTIAL}")), folder.join(RESULTS));
        let source = if partial.exists() { partial.clone() } else { done.clone() };
        if !source.exists() {
            return Err(LoadError::NoResults(folder.to_owned()));
        }
        let failed = |error| LoadError::Read { path: source.clone(), source: error };
        let reader = BufReader::with_capacity(1 << 20, input::open(&source).map_err(failed)?);
        let (file, copy) = scratch(folder).map_err(|source| LoadError::Write { path: folder.to_owned(), source })?;
        let sifted = Sifted { copy, partial, done };
        let unwritten = |source| LoadError::Write { path: sifted.copy.clone(), source };
        let mut out = BufWriter::new(file);
        let journal = sift(reader, &source, &sifted, &mut out)?;
        let out = out.into_inner().map_err(|error| unwritten(error.into_error()))?;
        out.sync_all().map_err(unwritten)?;
        Ok((journal, sifted))
    }

    /// Tells of every result in it.
    ///
    /// # Errors
    /// It cannot be read, or `take` fails.
    pub fn replay(&self, take: &mut dyn FnMut(&Event) -> io::Result<()>) -> io::Result<()> {
        let reader = BufReader::with_capacity(1 << 20, input::open(&self.path)?);
        let mut left = self.results;
        for line in reader.split(b'\n').skip(1) {
            if left == 0 {
                break;
            }
            let changed = || io::Error::other(format!("{} changed while it was read", self.path.display()));
            take(&whole_event(&[line?, b"\n".to_vec()].concat()).ok_or_else(changed)?)?;
            left -= 1;
        }
        Ok(())
    }
}

/// Copies the lines of a journal that are to be kept; what all of them say together.
fn sift(mut reader: impl BufRead, source: &Path, to: &Sifted, out: &mut impl Write) -> Result<Journal, LoadError> {
    let failed = |error| LoadError::Read { path: source.to_owned(), source: error };
    let unwritten = |error| LoadError::Write { path: to.copy.clone(), source: error };
    let no_beginning = || LoadError::NoBeginning(source.to_owned());
    let mut line = Vec::new();
    input::read_line(&mut reader, &mut line, input::LINE).map_err(failed)?;
    let mut journal = begin(source, &to.partial, &line)?.ok_or_else(no_beginning)?;
    out.write_all(&line).map_err(unwritten)?;
    // Hashes of names, which take less than the names: if two are the same by chance, one case is run again.
    let (hasher, mut names) = (RandomState::new(), HashSet::new());
    loop {
        line.clear();
        if input::read_line(&mut reader, &mut line, input::LINE).map_err(failed)? == 0 {
            break;
        }
        let event = whole_event(&line);
        let kept = match &event {
            None => {
                journal.damaged += 1;
                false
            }
            Some(Event::RunFinished { interrupted, wall }) => {
                (journal.complete, journal.wall) = (!interrupted, *wall);
                false
            }
            Some(event) if event.is_partial() => {
                journal.partial += 1;
                false
            }
            // One result a case, whatever happened: the first was told of first.
            Some(event) => event.ended().is_some_and(|(name, ..)| names.insert(hasher.hash_one(name))),
        };
        if kept {
            journal.results += 1;
            out.write_all(&line).map_err(unwritten)?;
        }
    }
    // A run whose results are not all there is not complete, whatever its last line says.
    journal.complete &= journal.results >= journal.info.cases;
    Ok(journal)
}

/// The event of a line; `None` if it is not whole.
fn whole_event(line: &[u8]) -> Option<Event> {
    let line = line.strip_suffix(b"\n")?;
    is_whole(line).filter(|&whole| whole)?;
    serde_json::from_slice(line).ok()
}

/// What the first line says; `None` if it is not whole.
fn begin(source: &Path, path: &Path, line: &[u8]) -> Result<Option<Journal>, LoadError> {
    #[derive(Deserialize)]
    struct Schema {
        schema: u32,
    }
    if let Ok(Schema { schema }) = serde_json::from_slice(line)
        && schema > SCHEMA
    {
        return Err(LoadError::Newer { path: source.to_owned(), schema });
    }
    let Some(Event::RunStarted(info)) = whole_event(line) else { return Ok(None) };
    let path = path.to_owned();
    Ok(Some(Journal { path, info: *info, results: 0, partial: 0, damaged: 0, complete: false, wall: 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Folder,
        testing::{case, run},
    };
    use assay_runner::{Reporter, Status};

    const CASES: [(&str, Status); 4] =
        [("p.a", Status::Pass), ("p.\"b\",\n", Status::Fail), ("p.c", Status::NotSupported), ("p.d", Status::Pass)];

    /// The bytes of the journal of a run that was killed before its last case ended.
    fn killed(dir: &Path) -> Vec<u8> {
        let mut folder = Folder::create(dir).unwrap();
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

    /// Resumes and finishes a run; the results that were in the journal.
    fn resume(dir: &Path) -> Result<Vec<Event>, String> {
        let (mut folder, journal) = Folder::resume(dir).map_err(|error| error.to_string())?;
        let mut events = Vec::new();
        folder.event(&Event::RunStarted(Box::new(journal.info.clone()))).unwrap();
        let mut take = |event: &Event| {
            events.push(event.clone());
            folder.event(event)
        };
        journal.replay(&mut take).unwrap();
        let has = |name: &str| events.iter().any(|event| event.ended().is_some_and(|(other, ..)| other == name));
        let missing: Vec<_> = CASES.iter().filter(|(name, _)| !has(name)).collect();
        for (name, status) in missing {
            folder.event(&Event::CaseFinished(Box::new(case(name, *status)))).unwrap();
        }
        folder.event(&Event::RunFinished { interrupted: false, wall: 1.0 }).unwrap();
        Ok(events)
    }

    /// That a folder holds one result of each case, the right one.
    fn assert_whole(dir: &Path) {
        let text = fs::read_to_string(dir.join(RESULTS)).unwrap();
        let events: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut ended: Vec<(String, Status)> =
            events.iter().filter_map(Event::ended).map(|(name, status, _)| (name.to_owned(), status)).collect();
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

    /// What is kept of a journal of these bytes: the events, or why there are none.
    fn kept(bytes: &[u8]) -> Result<Vec<Event>, String> {
        let mut out = Vec::new();
        let [copy, partial, done] = ["copy", "partial", "done"].map(PathBuf::from);
        let journal = sift(bytes, Path::new("j"), &Sifted { copy, partial, done }, &mut out)
            .map_err(|error| error.to_string())?;
        let events: Vec<Event> = out.split_inclusive(|&byte| byte == b'\n').map(|l| whole_event(l).unwrap()).collect();
        assert_eq!(journal.results + 1, events.len());
        Ok(events)
    }

    fn events() -> Vec<Event> {
        let ended = CASES[..3].iter().map(|(name, status)| Event::CaseFinished(Box::new(case(name, *status))));
        [Event::RunStarted(Box::new(run(4)))].into_iter().chain(ended).collect()
    }

    #[test]
    fn a_journal_that_ends_anywhere_gives_whole_results_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let (bytes, events) = (killed(dir.path()), events());
        let ends: Vec<usize> =
            bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        for end in 0..=bytes.len() {
            match kept(&bytes[..end]) {
                Ok(kept) => assert_eq!(kept, events[..ends.iter().filter(|&&line| line <= end).count()], "at {end}"),
                Err(error) => {
                    assert!(end < ends[0] && error.contains("does not say what was being run"), "at {end}: {error}");
                }
            }
        }
        // And in the folder, to its end.
        for end in [ends[0], ends[0] + 1, ends[1] - 1, ends[1], ends[2] + 100, bytes.len() - 1, bytes.len()] {
            put(dir.path(), &bytes[..end]);
            resume(dir.path()).unwrap();
            assert_whole(dir.path());
        }
    }

    #[test]
    fn a_damaged_byte_costs_its_line_and_makes_no_other_result() {
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
    fn an_interrupted_run_goes_on_and_what_was_cut_short_is_run_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = Folder::create(dir.path()).unwrap();
        folder.event(&Event::RunStarted(Box::new(run(4)))).unwrap();
        folder.event(&Event::CaseFinished(Box::new(case("p.a", Status::Pass)))).unwrap();
        let mut cut = case("p.d", Status::Fail);
        cut.partial = true;
        folder.event(&Event::CaseFinished(Box::new(cut))).unwrap();
        folder.event(&Event::RunFinished { interrupted: true, wall: 7.5 }).unwrap();
        let busy = Folder::resume(dir.path()).unwrap_err().to_string();
        assert!(busy.contains("another `assay` is writing to"), "{busy}");
        drop(folder);
        let (folder, journal) = Folder::resume(dir.path()).unwrap();
        assert_eq!((journal.results, journal.partial, journal.complete, journal.wall), (1, 1, false, 7.5));
        assert_eq!(journal.info, run(4));
        drop(folder);
        assert_eq!(resume(dir.path()).unwrap().len(), 1);
        assert_whole(dir.path());
        // A run that is complete can be gone through again: it loses nothing.
        let (folder, journal) = Folder::resume(dir.path()).unwrap();
        assert!(journal.complete && journal.results == 4);
        drop(folder);
        assert_eq!(resume(dir.path()).unwrap().len(), 4);
        assert_whole(dir.path());
    }

    #[test]
    fn a_folder_is_as_it_was_until_its_run_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), &killed(dir.path()));
        resume(dir.path()).unwrap();
        assay_files::Owned::of(dir.path()).claim(["report.html"]).unwrap();
        fs::write(dir.path().join("report.html"), "a page").unwrap();
        let files = || {
            let paths = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
            let mut files: Vec<_> = paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
            files.sort();
            files
        };
        let before = files();
        assert_eq!(before.len(), 7);
        drop(Folder::resume(dir.path()).unwrap());
        assert!(files() == before);
    }

    #[test]
    fn what_cannot_be_resumed_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let error = |dir: &Path| Folder::resume(dir).unwrap_err().to_string();
        assert!(error(dir.path()).contains("holds no results.jsonl"));
        let gone = dir.path().join("gone");
        assert!(error(&gone).contains("gone") && !gone.exists(), "nothing is made");
        let bytes = killed(dir.path());
        let later = String::from_utf8(bytes).unwrap().replacen("\"schema\":1", "\"schema\":99", 1);
        put(dir.path(), later.as_bytes());
        assert!(error(dir.path()).contains("a later Assay wrote"));
    }
}
