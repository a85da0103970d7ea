//! deqp-runner's input lists: cases, skips, flakes and baselines.

use super::status::DeqpStatus;
use assay_files::input;
use regex::RegexSet;
use std::{
    collections::{HashMap, HashSet},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Error in a list. Every message names the file.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A line is not valid.
    #[error("{}:{line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The mistake and the expected form.
        what: String,
    },
}

/// A line of a list with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListLine {
    /// The text.
    pub text: String,
    /// The file.
    pub path: PathBuf,
    /// The line in it, from 1.
    pub line: usize,
}

impl ListLine {
    fn error(&self, what: impl Into<String>) -> ListError {
        ListError::Line { path: self.path.clone(), line: self.line, what: what.into() }
    }

    /// Returns the location as `file:3`.
    pub fn location(&self) -> String {
        format!("{}:{}", self.path.display(), self.line)
    }
}

/// Reads a file. As in deqp-runner, a compressed file with the additional suffix `.zst` takes
/// precedence.
fn text(path: &Path) -> Result<String, ListError> {
    let read = |path: &Path| -> io::Result<Vec<u8>> {
        let bytes = input::read(path, input::MAX_DATA_BYTES)?;
        if path.extension().is_none_or(|extension| extension != "zst") {
            return Ok(bytes);
        }
        let damaged = |error: &dyn std::fmt::Display| io::Error::other(format!("damaged zstd data: {error}"));
        let decoder = ruzstd::decoding::StreamingDecoder::new(&bytes[..]).map_err(|error| damaged(&error))?;
        let mut whole = Vec::new();
        decoder.take(input::MAX_DATA_BYTES + 1).read_to_end(&mut whole).map_err(|error| damaged(&error))?;
        if whole.len() as u64 > input::MAX_DATA_BYTES {
            let what = format!("the decompressed list exceeds the limit of {} bytes", input::MAX_DATA_BYTES);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        Ok(whole)
    };
    let mut packed = path.as_os_str().to_owned();
    packed.push(".zst");
    let packed = PathBuf::from(packed);
    let path = if packed.exists() { packed } else { path.to_owned() };
    let bytes = read(&path).map_err(|source| ListError::Read { path: path.clone(), source })?;
    String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        ListError::Line { path, line, what: "not valid UTF-8".to_owned() }
    })
}

/// Reads the lines of a list and of the lists that it includes. A line that ends in `.txt` or
/// `.txt.zst` includes another list, relative to the including file. Blank lines and lines that
/// begin with `#` are skipped.
fn lines(path: &Path) -> Result<Vec<ListLine>, ListError> {
    fn read(path: &Path, open: &mut Vec<PathBuf>, lines: &mut Vec<ListLine>) -> Result<(), ListError> {
        open.push(path.to_owned());
        for (index, text) in text(path)?.lines().enumerate() {
            let line = ListLine { text: text.trim().to_owned(), path: path.to_owned(), line: index + 1 };
            if line.text.is_empty() || line.text.starts_with('#') {
                continue;
            }
            if !line.text.ends_with(".txt") && !line.text.ends_with(".txt.zst") {
                lines.push(line);
                continue;
            }
            let included = path.parent().unwrap_or(Path::new("")).join(&line.text);
            if open.contains(&included) {
                return Err(line.error(format!("the list {} includes itself", included.display())));
            }
            if let Err(error) = read(&included, open, lines) {
                return Err(match error {
                    ListError::Read { source, .. } => {
                        line.error(format!("cannot read the included list {}: {source}", included.display()))
                    }
                    other => other,
                });
            }
        }
        open.pop();
        Ok(())
    }
    let mut all = Vec::new();
    read(path, &mut Vec::new(), &mut all)?;
    Ok(all)
}

/// Reads a case list: names with their locations.
///
/// # Errors
/// A file cannot be read or includes itself, or a name occurs twice.
pub fn case_list(path: &Path) -> Result<Vec<ListLine>, ListError> {
    let names = lines(path)?;
    let mut seen: HashMap<&str, &ListLine> = HashMap::new();
    for line in &names {
        if let Some(earlier) = seen.insert(&line.text, line) {
            return Err(line.error(format!("duplicate case `{}`; first listed at {}", line.text, earlier.location())));
        }
    }
    Ok(names)
}

/// List of regular expressions over case names, for skips and flakes.
#[derive(Clone, Debug)]
pub struct Patterns {
    set: RegexSet,
    lines: Vec<ListLine>,
}

impl Patterns {
    /// Returns an empty list.
    pub fn empty() -> Patterns {
        Patterns { set: RegexSet::empty(), lines: Vec::new() }
    }

    /// Reads a list. Dots are literal in a line without any of `*+?()[]{}|^$\`. A pattern matches
    /// anywhere in a name.
    ///
    /// # Errors
    /// A file cannot be read, or a line is not a regular expression or looks like a baseline entry.
    pub fn read(path: &Path) -> Result<Patterns, ListError> {
        let lines = lines(path)?;
        let mut patterns = Vec::with_capacity(lines.len());
        for line in &lines {
            if let Some((_, word)) = line.text.rsplit_once(',')
                && word.parse::<DeqpStatus>().is_ok()
            {
                let what = format!(
                    "`{}` looks like a baseline entry; expected a case name or a regular expression",
                    line.text
                );
                return Err(line.error(what));
            }
            let literal = !line.text.contains(['*', '+', '?', '(', ')', '[', ']', '{', '}', '|', '^', '$', '\\']);
            let pattern = if literal { line.text.replace('.', "\\.") } else { line.text.clone() };
            if let Err(error) = regex::Regex::new(&pattern) {
                // The library reports errors in several lines; the last one states the problem.
                let error = error.to_string();
                let what = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
                return Err(line.error(format!("`{}` is not a regular expression: {what}", line.text)));
            }
            patterns.push(pattern);
        }
        let set = RegexSet::new(patterns);
        let set = set.map_err(|error| ListError::Read { path: path.to_owned(), source: io::Error::other(error) })?;
        Ok(Patterns { set, lines })
    }

    /// Returns the first line that matches a name.
    pub fn find(&self, name: &str) -> Option<&ListLine> {
        self.set.matches(name).iter().next().map(|index| &self.lines[index])
    }

    /// Returns true if the list has at least one pattern.
    pub fn has_patterns(&self) -> bool {
        !self.lines.is_empty()
    }

    /// Returns true if a line matches the name.
    pub fn matches(&self, name: &str) -> bool {
        self.set.is_match(name)
    }
}

/// Baseline: the known statuses of cases, in the format of deqp-runner's `failures.csv`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    words: HashMap<String, DeqpStatus>,
}

impl Baseline {
    /// Reads a baseline: `name,status` per line; further fields are ignored. As in deqp-runner,
    /// spaces are significant.
    ///
    /// # Errors
    /// The file cannot be read, a status is missing or unknown, or a name occurs twice.
    pub fn read(path: &Path) -> Result<Baseline, ListError> {
        let mut words = HashMap::new();
        for (index, text) in text(path)?.lines().enumerate() {
            if text.starts_with('#') || text.trim().is_empty() {
                continue;
            }
            let error = |what: String| ListError::Line { path: path.to_owned(), line: index + 1, what };
            let mut parts = text.splitn(3, ',');
            let (Some(name), Some(word)) = (parts.next(), parts.next()) else {
                return Err(error(format!("`{text}` has no status; expected name,status")));
            };
            let word: DeqpStatus = word.parse().map_err(|_| {
                error(format!(
                    "unknown status `{word}`; expected Pass, Fail, Skip, Crash, Warn, Timeout, Missing, \
                     Flake, KnownFlake, ExpectedFail or UnexpectedImprovement(..), without spaces"
                ))
            })?;
            if words.insert(name.to_owned(), word).is_some() {
                return Err(error(format!("duplicate case `{name}`")));
            }
        }
        Ok(Baseline { words })
    }

    /// Returns the status of a case.
    pub fn get(&self, name: &str) -> Option<DeqpStatus> {
        self.words.get(name).copied()
    }

    /// Returns the names of the baseline that are not in `known`, sorted.
    pub fn unmatched(&self, known: &HashSet<&str>) -> Vec<&str> {
        let mut list: Vec<&str> = self.words.keys().map(String::as_str).filter(|name| !known.contains(name)).collect();
        list.sort_unstable();
        list
    }
}

#[cfg(test)]
mod tests {
    use super::{super::status::TestStatus, *};
    use std::fs;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn case_lists_include_others() {
        let dir = folder(&[
            ("main.txt", "# all\na.b\n\nsub/more.txt\nsub/packed.txt\n"),
            ("sub/more.txt", " a.c \nmost.txt"),
            ("sub/most.txt", "a.d\r\n"),
        ]);
        let packed = ruzstd::encoding::compress_to_vec(&b"a.e\n"[..], ruzstd::encoding::CompressionLevel::Fastest);
        fs::write(dir.path().join("sub/packed.txt.zst"), packed).unwrap();
        let list = case_list(&dir.path().join("main.txt")).unwrap();
        assert_eq!(list.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["a.b", "a.c", "a.d", "a.e"]);
        assert!(list[2].location().ends_with("sub/most.txt:1"));
    }

    #[test]
    fn errors_in_lists_name_the_line() {
        let dir = folder(&[
            ("itself.txt", "a\nitself.txt\n"),
            ("twice.txt", "a\nb\na\n"),
            ("gone.txt", "a\nnot-there.txt\n"),
            ("skips.txt", "a\\.b\na(b\n"),
            ("pasted.txt", "# notes\na.b,Fail\n"),
            ("damaged.txt.zst", "no zstd"),
        ]);
        let list = |name: &str| case_list(&dir.path().join(name)).unwrap_err().to_string();
        let patterns = |name: &str| Patterns::read(&dir.path().join(name)).unwrap_err().to_string();
        for (error, said) in [
            (list("itself.txt"), "itself.txt:2: "),
            (list("twice.txt"), "twice.txt:3: duplicate case `a`; first listed at "),
            (list("gone.txt"), "gone.txt:2: cannot read the included list "),
            (list("missing.txt"), "cannot read "),
            (list("damaged.txt"), "damaged zstd data"),
            (patterns("skips.txt"), "skips.txt:2: `a(b` is not a regular expression: unclosed group"),
            (patterns("pasted.txt"), "pasted.txt:2: `a.b,Fail` looks like a baseline entry"),
        ] {
            assert!(error.contains(said), "{said}: {error}");
        }
        fs::write(dir.path().join("latin.txt"), b"a\n\xe9\n").unwrap();
        assert!(list("latin.txt").contains("latin.txt:2: not valid UTF-8"));
    }

    #[test]
    fn patterns_match_anywhere_and_plain_names_are_literal() {
        let dir = folder(&[("skips.txt", "# why\n precision.f16 \n^a.*\\.constant$\n")]);
        let skips = Patterns::read(&dir.path().join("skips.txt")).unwrap();
        for (name, line) in
            [("x.precision.f16.y", Some(2)), ("precisionXf16", None), ("a.b.constant", Some(3)), ("b.a.constant", None)]
        {
            assert_eq!(skips.find(name).map(|found| found.line), line, "{name}");
            assert_eq!(skips.matches(name), line.is_some());
        }
        assert!(!Patterns::empty().matches(""));
    }

    #[test]
    fn baselines_are_read_as_deqp_runner_reads_them() {
        let dir = folder(&[("b.csv", "# known\na.b,Fail\n\na.c,Crash,3.5,more\n a.d,Timeout\n")]);
        let baseline = Baseline::read(&dir.path().join("b.csv")).unwrap();
        assert_eq!(baseline.get("a.b"), Some(DeqpStatus::Test(TestStatus::Fail)));
        assert_eq!(baseline.get("a.c"), Some(DeqpStatus::Test(TestStatus::Crash)));
        assert_eq!(
            (baseline.get("a.d"), baseline.get(" a.d")),
            (None, Some(DeqpStatus::Test(TestStatus::Timeout))),
            "not trimmed"
        );
        assert_eq!(baseline.unmatched(&HashSet::from(["a.b", "a.c"])), [" a.d"]);
        for (text, said) in [
            ("a.b\n", "b.csv:1: `a.b` has no status"),
            ("a.b,Failed\n", "unknown status `Failed`"),
            ("a.b,Fail \n", "unknown status `Fail `"),
            ("a,Fail\nb,Fail\na,Crash\n", "b.csv:3: duplicate case `a`"),
            ("a,b,Fail\n", "unknown status `b`"),
        ] {
            fs::write(dir.path().join("b.csv"), text).unwrap();
            let error = Baseline::read(&dir.path().join("b.csv")).unwrap_err().to_string();
            assert!(error.contains(said), "{said}: {error}");
        }
    }
}
