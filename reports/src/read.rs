//! Reader of result directories, used by `assay report`, `diff`, `merge` and `history`.
//!
//! A directory may hold a million cases, most of which are of little interest. Lines are read block
//! by block and parsed on all cores, and only the requested fields are kept.

use crate::causes::Failure;
use crate::end_reports::RESULTS_CSV;
use crate::expectations::is_cut_short;
use crate::journal;
use crate::result_dir::StandingLine;
use crate::result_file::{PARTIAL, RESULTS, STANDINGS, WAIVERS_LEFT};
use assay_events::{
    CheckResult, Event, ExecutedInstructions, MutationScore, Profile, RunInfo, SCHEMA, Status, TracedInstructions,
    Writes, says_enough,
};
use assay_files::input;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

/// Bytes that are read before they are parsed: limits memory and gives all cores work.
const BLOCK: usize = 1 << 25;

/// Error of a result directory. Every message names the file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There are no results.
    #[error("no results.jsonl in {}; expected a result folder of `assay run` or `assay merge`", .0.display())]
    NoResults(PathBuf),
    /// The run is still in progress, or was killed.
    #[error(
        "the run in {folder} is not finished: it is still in progress or was killed; resume it with `assay run \
         --resume {folder}`",
        folder = .0.display()
    )]
    Unfinished(PathBuf),
    /// The first line of a journal is damaged.
    #[error("cannot resume {}: its first line (run settings) is damaged; start a new run", .0.display())]
    NoBeginning(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A later version wrote the file.
    #[error(
        "{}: schema {schema} is newer than this Assay supports (up to {}); use the Assay that wrote it",
        path.display(), SCHEMA
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Schema of the file.
        schema: u32,
    },
    /// The file is empty.
    #[error("{} is empty; expected the events of a run", .0.display())]
    Empty(PathBuf),
    /// A case has two results.
    #[error("{} has two results of `{name}`: it was assembled from overlapping results", path.display())]
    Twice {
        /// The file.
        path: PathBuf,
        /// The case.
        name: String,
    },
    /// A line is not valid.
    #[error("{}:{line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The problem.
        what: String,
    },
}

/// An opened result directory.
#[derive(Clone, Debug)]
pub struct ResultDir {
    /// The directory.
    pub path: PathBuf,
    /// The run and its device.
    pub run: RunInfo,
    /// End of the run.
    ended: RunEnd,
}

/// End of a run, from its last event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RunEnd {
    pub(crate) interrupted: bool,
    pub(crate) wall: f64,
}

/// Line of `results.jsonl`, without fields that few readers need. Strings are borrowed where
/// possible.
#[derive(Debug, Deserialize)]
pub(crate) struct ResultLine<'a> {
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) name: Cow<'a, str>,
    #[serde(default)]
    pub(crate) status: Option<Status>,
    #[serde(borrow, default)]
    pub(crate) reason: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(crate) partial: bool,
    #[serde(borrow, default)]
    pub(crate) instruction: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) types: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) modes: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) source: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) path: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) coverage: Cow<'a, str>,
    #[serde(default)]
    pub(crate) inputs_tested: u64,
    #[serde(default)]
    pub(crate) failing_inputs: u64,
    #[serde(default)]
    worst: Option<Worst>,
    #[serde(borrow, default)]
    pub(crate) classes: Vec<Class<'a>>,
    /// Counts of written elements, for a check of a shader.
    #[serde(default)]
    pub(crate) writes: Option<Writes>,
    /// Executed instructions, for a check of a shader.
    #[serde(default)]
    pub(crate) executed: Option<ExecutedInstructions>,
    /// Share of noticed planted errors, for a check of a shader.
    #[serde(default)]
    pub(crate) mutations: Option<MutationScore>,
    /// Instructions checked by themselves, for a check of a shader.
    #[serde(default)]
    pub(crate) traced: Option<TracedInstructions>,
    /// Unparsed profile, which only the page needs.
    #[serde(borrow, default)]
    profile: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) times: Times,
    #[serde(default)]
    interrupted: bool,
    #[serde(default)]
    wall: f64,
}

/// Result with the greatest margin.
#[derive(Debug, Deserialize)]
struct Worst {
    margin: Option<MarginJson>,
}

/// Failures of one class.
#[derive(Debug, Deserialize)]
pub(crate) struct Class<'a> {
    pub(crate) status: Status,
    #[serde(borrow)]
    pub(crate) class: Cow<'a, str>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Times {
    pub(crate) wall: f64,
}

/// Margin in JSON: a number or `inf`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum MarginJson {
    Finite(f64),
    Infinite(Infinite),
}

#[derive(Debug, Deserialize)]
enum Infinite {
    #[serde(rename = "inf")]
    Inf,
}

impl ResultLine<'_> {
    /// Returns true for a passing check of a shader that says little about the shader.
    pub(crate) fn says_little(&self) -> bool {
        let ResultLine { writes, executed, mutations, traced, .. } = self;
        let enough = || says_enough(writes.as_ref(), executed.as_ref(), mutations.as_ref(), traced.as_ref());
        // Cases of suites, and results of versions of Assay that counted no writes, have none.
        matches!(self.status, Some(Status::Pass | Status::QualityWarning)) && self.writes.is_some() && !enough()
    }

    /// Returns the status, or an internal error if it is unknown to this version; `None` if the run
    /// ended during the case.
    pub(crate) fn final_status(&self) -> Option<Status> {
        let status = self.status.unwrap_or(Status::InternalError);
        (!is_cut_short(self.partial, status)).then_some(status)
    }

    /// Parses the distribution of the errors.
    pub(crate) fn profile(&self) -> Option<Profile> {
        self.profile.and_then(|profile| serde_json::from_str(profile.get()).ok())
    }

    /// Returns the greatest margin.
    pub(crate) fn margin(&self) -> Option<f64> {
        Some(match self.worst.as_ref()?.margin.as_ref()? {
            MarginJson::Finite(margin) => *margin,
            MarginJson::Infinite(Infinite::Inf) => f64::INFINITY,
        })
    }

    /// Returns the failing classes, sorted; for a QualityWarning its warning classes.
    pub(crate) fn failure_classes(&self) -> Vec<String> {
        let failing = self.status == Some(Status::Fail);
        let of = self.classes.iter().filter(|class| !failing || class.status == Status::Fail);
        let mut kinds: Vec<String> = of.map(|class| class.class.clone().into_owned()).collect();
        kinds.sort_unstable();
        kinds
    }
}

/// A result line with its position.
pub(crate) struct LocatedLine<'a> {
    pub(crate) brief: ResultLine<'a>,
    /// The line without its line break.
    pub(crate) text: &'a str,
    /// Offset of the line in the file.
    pub(crate) offset: u64,
}

impl LocatedLine<'_> {
    /// Returns the event of a failing case; `None` if the case does not fail or was cut short.
    pub(crate) fn failing_event(&self) -> Option<Event> {
        self.brief.final_status().filter(|status| status.is_failure())?;
        serde_json::from_str(self.text).ok()
    }

    /// Returns the failure of the case; `None` if it does not fail or was cut short.
    pub(crate) fn failure(&self) -> Option<Failure> {
        Failure::of(&self.failing_event()?)
    }

    /// Returns the position for reading the line again.
    pub(crate) fn place(&self) -> LineRange {
        LineRange { offset: self.offset, length: self.text.len() as u32 }
    }
}

/// Position of a line in its file, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineRange {
    offset: u64,
    length: u32,
}

impl ResultDir {
    /// Opens a directory and reads the description of the run. [`ResultDir::results`] reads the
    /// results.
    ///
    /// # Errors
    /// There is no finished run, or a later version wrote it.
    pub fn open(folder: impl Into<PathBuf>) -> Result<ResultDir, ReadError> {
        let path = folder.into();
        let file = path.join(RESULTS);
        if !file.exists() {
            let partial = path.join(format!("{RESULTS}{PARTIAL}")).exists();
            return Err(if partial { ReadError::Unfinished(path) } else { ReadError::NoResults(path) });
        }
        let mut first = Vec::new();
        let mut reader = io::BufReader::new(open(&file)?);
        input::read_line(&mut reader, &mut first, input::MAX_LINE_BYTES)
            .map_err(|source| ReadError::Read { path: file.clone(), source })?;
        let wrong = |what: String| ReadError::Line { path: file.clone(), line: 1, what };
        if first.is_empty() {
            return Err(ReadError::Empty(file));
        }
        #[derive(Deserialize)]
        struct Schema {
            schema: u32,
        }
        let Schema { schema } = serde_json::from_slice(&first)
            .map_err(|error| wrong(format!("expected the event run_started with a schema: {error}")))?;
        if schema > SCHEMA {
            return Err(ReadError::Newer { path: file, schema });
        }
        let run =
            serde_json::from_slice(&first).map_err(|error| wrong(format!("not a valid run_started event: {error}")))?;
        Ok(ResultDir { path, run, ended: ended(&file)? })
    }

    pub(crate) fn ended(&self) -> RunEnd {
        self.ended
    }

    /// Returns the path of `results.jsonl`.
    pub(crate) fn file(&self) -> PathBuf {
        self.path.join(RESULTS)
    }

    /// Returns the status of every case by name.
    ///
    /// # Errors
    /// The file cannot be read, or a line is damaged.
    pub fn statuses(&self) -> Result<BTreeMap<String, Status>, ReadError> {
        let results = self.results(|line| Some((line.brief.name.to_string(), line.brief.final_status()?)))?;
        Ok(results.into_iter().flatten().collect())
    }

    /// Returns the duration of the run in seconds.
    pub fn wall(&self) -> f64 {
        self.ended.wall
    }

    /// Returns the results of checks, in the order of the file.
    ///
    /// # Errors
    /// The file cannot be read, or a line is damaged.
    pub fn checks(&self) -> Result<Vec<CheckResult>, ReadError> {
        let results = self.results(|line| match serde_json::from_str(line.text) {
            Ok(Event::CheckFinished(check)) => Some(*check),
            _ => None,
        })?;
        Ok(results.into_iter().flatten().collect())
    }

    /// Reads the whole file, for callers that write before they have read all of it.
    ///
    /// # Errors
    /// The file cannot be read, or a line is damaged.
    pub fn verify(&self) -> Result<(), ReadError> {
        self.each(|_| (), |_| ())
    }

    /// Applies `take` to every result, in the order of the file. Other events are skipped.
    ///
    /// # Errors
    /// The file cannot be read, or a line is damaged.
    pub(crate) fn results<T: Send>(&self, take: impl Fn(LocatedLine<'_>) -> T + Sync) -> Result<Vec<T>, ReadError> {
        let mut all = Vec::new();
        self.each(take, |mut some| all.append(&mut some))?;
        Ok(all)
    }

    /// Applies `take` to every result and passes the values to `put` block by block, in the order
    /// of the file.
    ///
    /// # Errors
    /// The file cannot be read, or a line is damaged. `put` has then received only part of the
    /// values.
    pub(crate) fn each<T: Send>(
        &self,
        take: impl Fn(LocatedLine<'_>) -> T + Sync,
        mut put: impl FnMut(Vec<T>),
    ) -> Result<(), ReadError> {
        let path = self.file();
        let mut file = open(&path)?;
        let read = |source| ReadError::Read { path: path.clone(), source };
        let mut block = Vec::new();
        let (mut offset, mut line) = (0, 1);
        loop {
            let start = block.len();
            let got = file.by_ref().take(BLOCK as u64).read_to_end(&mut block).map_err(read)?;
            let end = match (got, block[start..].iter().rposition(|&byte| byte == b'\n')) {
                (0, _) => block.len(),
                (_, Some(at)) => start + at + 1,
                (_, None) if block.len() as u64 > input::MAX_LINE_BYTES => {
                    let what = format!("the line exceeds the limit of {} bytes", input::MAX_LINE_BYTES);
                    return Err(ReadError::Line { path, line, what });
                }
                (_, None) => continue,
            };
            let chunks = chunks(&block[..end], offset, line);
            line += block[..end].iter().filter(|&&byte| byte == b'\n').count();
            let parsed: Result<Vec<Vec<T>>, ReadError> =
                chunks.into_par_iter().map(|part| parse(&path, part, &take)).collect();
            parsed?.into_iter().for_each(&mut put);
            offset += end as u64;
            block.drain(..end);
            if got == 0 {
                return Ok(());
            }
        }
    }

    /// Reads the events at these positions ([`LocatedLine::place`]), in the given order.
    ///
    /// # Errors
    /// The file cannot be read, or has changed.
    pub(crate) fn read_events(&self, places: &[LineRange]) -> Result<Vec<Event>, ReadError> {
        let path = self.file();
        let mut file = open(&path)?;
        let read = |source| ReadError::Read { path: path.clone(), source };
        let mut events = Vec::with_capacity(places.len());
        for place in places {
            let mut line = vec![0; place.length as usize];
            file.seek(SeekFrom::Start(place.offset)).and_then(|_| file.read_exact(&mut line)).map_err(read)?;
            let wrong = |error| read(io::Error::other(format!("byte {}: not a valid result: {error}", place.offset)));
            events.push(serde_json::from_slice(&line).map_err(wrong)?);
        }
        Ok(events)
    }

    /// Reads the standings by name; empty if the run had no lists.
    ///
    /// # Errors
    /// The file cannot be read, or a line is damaged.
    pub(crate) fn standings(&self) -> Result<HashMap<String, StandingLine>, ReadError> {
        let path = self.path.join(STANDINGS);
        let text = match input::read_text(&path, input::MAX_DATA_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(HashMap::new()),
            other => other.map_err(|source| ReadError::Read { path: path.clone(), source })?,
        };
        let line = |(index, text): (usize, &str)| {
            let line: Result<StandingLine, _> = serde_json::from_str(text);
            let wrong = |error: serde_json::Error| ReadError::Line {
                path: path.clone(),
                line: index + 1,
                what: format!("not a valid standing: {error}"),
            };
            line.map(|line| (line.name.clone(), line)).map_err(wrong)
        };
        text.lines().enumerate().map(line).collect()
    }

    /// Reads the messages about waivers that were not needed.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn waivers_left(&self) -> Result<Vec<String>, ReadError> {
        let path = self.path.join(WAIVERS_LEFT);
        match input::read_text(&path, input::MAX_DATA_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            other => other
                .map(|text| text.lines().map(str::to_owned).collect())
                .map_err(|source| ReadError::Read { path, source }),
        }
    }

    /// Reads `results.csv`; `None` if it does not exist.
    pub(crate) fn rows(&self) -> Result<Option<String>, ReadError> {
        let path = self.path.join(RESULTS_CSV);
        match input::read_text(&path, input::MAX_DATA_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some).map_err(|source| ReadError::Read { path, source }),
        }
    }
}

fn open(path: &Path) -> Result<File, ReadError> {
    input::open(path).map_err(|source| ReadError::Read { path: path.to_owned(), source })
}

/// Reads the end of the run from the last line.
fn ended(path: &Path) -> Result<RunEnd, ReadError> {
    const TAIL: u64 = 4096;
    let read = |source| ReadError::Read { path: path.to_owned(), source };
    let mut file = open(path)?;
    let length = file.metadata().map_err(read)?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).map_err(read)?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail).map_err(read)?;
    let last = tail.trim_ascii_end().rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    match serde_json::from_slice::<ResultLine<'_>>(last) {
        Ok(brief) if brief.event == "run_finished" => Ok(RunEnd { interrupted: brief.interrupted, wall: brief.wall }),
        _ => {
            let what = "the last line is not a run_finished event: the file was truncated or appended to";
            Err(ReadError::Read { path: path.to_owned(), source: io::Error::other(what) })
        }
    }
}

/// Lines of a block with their position.
struct LineChunk<'a> {
    bytes: &'a [u8],
    offset: u64,
    line: usize,
}

/// Splits a block into chunks of lines for the cores.
fn chunks(block: &[u8], offset: u64, line: usize) -> Vec<LineChunk<'_>> {
    let size = block.len().div_ceil(4 * rayon::current_num_threads()).max(1 << 16);
    let (mut chunks, mut start, mut first) = (Vec::new(), 0, line);
    while start < block.len() {
        let least = (start + size).min(block.len());
        let end = block[least..].iter().position(|&byte| byte == b'\n').map_or(block.len(), |at| least + at + 1);
        let bytes = &block[start..end];
        chunks.push(LineChunk { bytes, offset: offset + start as u64, line: first });
        first += bytes.iter().filter(|&&byte| byte == b'\n').count();
        start = end;
    }
    chunks
}

fn parse<T>(path: &Path, chunk: LineChunk<'_>, take: &impl Fn(LocatedLine<'_>) -> T) -> Result<Vec<T>, ReadError> {
    let mut taken = Vec::new();
    let mut offset = chunk.offset;
    for (index, bytes) in chunk.bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let at = offset;
        offset += bytes.len() as u64;
        let wrong = |what: String| ReadError::Line { path: path.to_owned(), line: chunk.line + index, what };
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("not valid UTF-8".to_owned()))?.trim_end();
        if journal::is_whole(text.as_bytes()) == Some(false) {
            return Err(wrong("the checksum does not match: the line was damaged or edited".to_owned()));
        }
        let brief: ResultLine<'_> =
            serde_json::from_str(text).map_err(|error| wrong(format!("not a valid event: {error}")))?;
        match &*brief.event {
            "case_finished" | "check_finished" => {
                if brief.status.is_none() || brief.name.is_empty() {
                    return Err(wrong("a result without a name or status".to_owned()));
                }
                taken.push(take(LocatedLine { brief, text, offset: at }));
            }
            "run_started" | "run_finished" | "case_started" | "case_progress" => {}
            other => return Err(wrong(format!("unknown event `{other}`"))),
        }
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_events::{case, folder as write};
    use std::fs;

    fn folder(dir: &Path, cases: &[(&str, Status)]) -> PathBuf {
        let cases: Vec<_> = cases.iter().map(|&(name, status)| case(name, status)).collect();
        write(&dir.join("out"), &cases)
    }

    #[test]
    fn results_are_read_in_the_order_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..2_000).map(|i| format!("p.\"{i}\",\n")).collect();
        let cases: Vec<(&str, Status)> = names.iter().map(|name| (name.as_str(), Status::Fail)).collect();
        let result_dir = ResultDir::open(folder(dir.path(), &cases)).unwrap();
        assert_eq!((result_dir.run.cases, result_dir.ended()), (2_000, RunEnd { interrupted: false, wall: 2.5 }));
        let read = result_dir
            .results(|l| (l.brief.name.to_string(), l.brief.margin(), l.brief.failure_classes(), l.offset))
            .unwrap();
        assert!(read.iter().map(|row| &row.0).eq(&names));
        assert!(read.iter().all(|row| row.1 == Some(3.214) && row.2 == ["FewUlp"]));
        let text = fs::read(result_dir.file()).unwrap();
        assert!(read.iter().all(|row| text[row.3 as usize..].starts_with(b"{\"event\":\"case_finished\"")));
        assert!(result_dir.standings().unwrap().is_empty());
    }

    #[test]
    fn errors_explain_why_a_directory_cannot_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let out = folder(dir.path(), &[("p.a", Status::Pass), ("p.b", Status::Pass)]);
        let file = out.join(RESULTS);
        let sealed = fs::read_to_string(&file).unwrap();
        // Lines without checksums, so that each error below concerns the content.
        let text: String =
            sealed.lines().map(|line| line.split_once(",\"crc\"").unwrap().0.to_owned() + "}\n").collect();
        let lines: Vec<&str> = text.lines().collect();
        let error = |text: &str| {
            fs::write(&file, text).unwrap();
            let result_dir = ResultDir::open(&out);
            result_dir.and_then(|result_dir| result_dir.results(|_| ())).unwrap_err().to_string()
        };
        for (text, said) in [
            (
                text.replacen(&format!("\"schema\":{SCHEMA}"), "\"schema\":99", 1),
                "schema 99 is newer than this Assay supports",
            ),
            (lines[1..].join("\n"), "results.jsonl:1: expected the event run_started"),
            (lines[..3].join("\n"), "the last line is not a run_finished event"),
            (text.replacen("\"status\":\"Pass\"", "\"status\":\"Fine\"", 1), "results.jsonl:2: not a valid event"),
            (text.replacen("case_finished", "case_ended", 1), "results.jsonl:2: unknown event `case_ended`"),
            (
                sealed.replacen("\"status\":\"Pass\"", "\"status\":\"Fail\"", 1),
                "results.jsonl:2: the checksum does not match",
            ),
            (String::new(), "results.jsonl is empty"),
        ] {
            let error = error(&text);
            assert!(error.contains(said), "{said}: {error}");
        }
        fs::rename(&file, out.join("results.jsonl.partial")).unwrap();
        assert!(ResultDir::open(&out).unwrap_err().to_string().contains("still in progress or was killed"));
        assert!(ResultDir::open(dir.path()).unwrap_err().to_string().contains("no results.jsonl in"));
    }
}
