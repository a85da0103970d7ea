//! Compact table of the cases of a run, for `results.csv`, `failures.csv` and `junit.xml`.

use crate::{
    causes::CauseSet,
    deqp::{DeqpStatus, TestStatus, plain},
    name_arena::{NameArena, NameIndex, compare},
};
use assay_events::Status;
use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Write},
    rc::Rc,
};

/// Result of a case; strings are interned.
#[derive(Clone, Copy, Debug, PartialEq)]
struct StoredCase {
    word: DeqpStatus,
    /// Number of the interned string; 0 stands for none.
    reason: u32,
    path: u32,
    explain: u32,
    seconds: f32,
    status: Option<Status>,
    causes: CauseSet,
}

/// A case of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CaseRow<'a> {
    pub(crate) name: &'a str,
    pub(crate) word: DeqpStatus,
    pub(crate) seconds: f32,
    pub(crate) notes: CaseNotes<'a>,
}

/// Status, reason, path, command and causes of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CaseNotes<'a> {
    /// Reason for the status.
    pub(crate) reason: Option<&'a str>,
    /// Path, if not native.
    pub(crate) path: Option<&'a str>,
    /// Command that derives the permitted results, for a failed case.
    pub(crate) explain: Option<&'a str>,
    /// Assay's status; `None` for a case without a result.
    pub(crate) status: Option<Status>,
    /// Causes of a failure.
    pub(crate) causes: CauseSet,
}

impl<'a> CaseNotes<'a> {
    /// Returns the notes of a case. The path is omitted for native cases and for those that were
    /// not checked.
    pub(crate) fn of(reason: Option<&'a str>, path: &'a str, status: Option<Status>) -> CaseNotes<'a> {
        let told = !["", NATIVE].contains(&path) && status.is_some_and(Status::is_checked);
        CaseNotes { reason, path: told.then_some(path), explain: None, status, causes: CauseSet::default() }
    }

    /// Adds the causes of a failure.
    pub(crate) fn caused(self, causes: CauseSet) -> CaseNotes<'a> {
        CaseNotes { causes, ..self }
    }

    /// Adds the command that derives the permitted results of the worst result.
    pub(crate) fn explained(self, explain: Option<&'a str>) -> CaseNotes<'a> {
        CaseNotes { explain, ..self }
    }
}

/// Path that is not reported.
pub(crate) const NATIVE: &str = "native";

/// Results of the cases of a run, one for each case. A planned case takes a few bytes in addition
/// to its name, which is shared; reasons and paths are interned.
#[derive(Clone, Debug, Default)]
pub(crate) struct CaseTable {
    planned: Rc<NameArena>,
    index: NameIndex,
    entries: Vec<Option<StoredCase>>,
    /// Cases that were not planned.
    others: BTreeMap<String, StoredCase>,
    texts: Vec<Rc<str>>,
    numbers: HashMap<Rc<str>, u32>,
}

impl CaseTable {
    /// Returns an empty table for the planned cases.
    pub(crate) fn new(planned: Rc<NameArena>) -> CaseTable {
        let entries = vec![None; planned.len()];
        CaseTable { index: NameIndex::new(&planned), planned, entries, ..CaseTable::default() }
    }

    /// Adds the result of a case.
    pub(crate) fn insert(&mut self, name: &str, word: DeqpStatus, seconds: f64, notes: CaseNotes<'_>) {
        match self.index.find(&self.planned, name) {
            Some(at) => self.insert_planned(at, word, seconds, notes),
            None => {
                let entry = self.entry(word, seconds, notes);
                self.others.insert(name.to_owned(), entry);
            }
        }
    }

    /// Adds the result of a planned case, given by its index.
    pub(crate) fn insert_planned(&mut self, at: usize, word: DeqpStatus, seconds: f64, notes: CaseNotes<'_>) {
        self.entries[at] = Some(self.entry(word, seconds, notes));
    }

    fn entry(&mut self, word: DeqpStatus, seconds: f64, notes: CaseNotes<'_>) -> StoredCase {
        let CaseNotes { reason, path, explain, status, causes } = notes;
        let [reason, path, explain] = [reason, path, explain].map(|text| text.map_or(0, |text| self.number(text)));
        StoredCase { word, reason, path, explain, seconds: seconds as f32, status, causes }
    }

    /// Adds a case that did not run, unless the table has it. Returns true if it was added.
    pub(crate) fn without_result(&mut self, name: &str, word: DeqpStatus, reason: &str) -> bool {
        let there = match self.index.find(&self.planned, name) {
            Some(at) => self.entries[at].is_some(),
            None => self.others.contains_key(name),
        };
        if !there {
            self.insert(name, word, 0.0, CaseNotes { reason: Some(reason), ..CaseNotes::default() });
        }
        !there
    }

    /// Returns the indices of planned cases without a result.
    pub(crate) fn missing(&self) -> Vec<usize> {
        self.entries.iter().enumerate().filter(|(_, entry)| entry.is_none()).map(|(at, _)| at).collect()
    }

    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let text: Rc<str> = text.into();
        self.texts.push(Rc::clone(&text));
        let number = u32::try_from(self.texts.len()).unwrap_or(0);
        self.numbers.insert(text, number);
        number
    }

    /// Returns all cases, sorted by name.
    pub(crate) fn rows(&self) -> impl Iterator<Item = CaseRow<'_>> {
        let planned = self.index.order().filter_map(|at| Some((self.planned.get(at), self.entries[at]?)));
        let mut planned = planned.peekable();
        let mut others = self.others.iter().map(|(name, &entry)| (name.as_str(), entry)).collect::<Vec<_>>();
        others.sort_by(|(a, _), (b, _)| compare(a, b));
        let mut others = others.into_iter().peekable();
        let next = move || match (planned.peek(), others.peek()) {
            (Some((a, _)), Some((b, _))) if compare(b, a).is_lt() => others.next(),
            (None, Some(_)) => others.next(),
            (Some(_) | None, _) => planned.next(),
        };
        std::iter::from_fn(next).map(|(name, StoredCase { word, reason, path, explain, seconds, status, causes })| {
            let text =
                |number: u32| (number as usize).checked_sub(1).and_then(|at| self.texts.get(at)).map(|text| &**text);
            let notes = CaseNotes { reason: text(reason), path: text(path), explain: text(explain), status, causes };
            CaseRow { name, word, seconds, notes }
        })
    }

    /// Writes `results.csv`: `name,status,seconds`. Commas and line breaks in names are replaced,
    /// because the format has no quoting.
    pub(crate) fn write_results(&self, out: &mut dyn Write) -> io::Result<()> {
        for CaseRow { name, word, seconds, .. } in self.rows() {
            let seconds =
                if matches!(word, DeqpStatus::Test(TestStatus::Skip) | DeqpStatus::Missing) { 0.0 } else { seconds };
            writeln!(out, "{},{word},{seconds}", plain(name))?;
        }
        Ok(())
    }

    /// Writes `failures.csv`: `name,status` of the cases that deqp-runner does not count as
    /// success.
    pub(crate) fn write_failures(&self, out: &mut dyn Write) -> io::Result<()> {
        for CaseRow { name, word, .. } in self.rows().filter(|row| !row.word.is_success()) {
            writeln!(out, "{},{word}", plain(name))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn csv_files_have_the_format_of_deqp_runner() {
        // Some cases are planned, in another order, and some are not.
        let mut case_table = CaseTable::new(Rc::new(["p.z", "p.h", "p.c", "p.a", "p.i"].iter().collect()));
        for (name, status) in [
            ("p.z", Status::Pass),
            ("p.a", Status::Fail),
            ("p.b", Status::NotSupported),
            ("p.c", Status::QualityWarning),
            ("p.d", Status::DeviceLost),
            ("p.e", Status::Timeout),
            ("p.f", Status::Undetermined),
            ("p.g", Status::InternalError),
        ] {
            case_table.insert(
                name,
                DeqpStatus::Test(TestStatus::of(status)),
                1.5,
                CaseNotes::of(Some("why"), "lowered", Some(status)),
            );
        }
        case_table.insert("p.h", DeqpStatus::ExpectedFail, 0.25, CaseNotes::default());
        assert_eq!(case_table.missing().into_iter().map(|at| case_table.planned.get(at)).collect::<Vec<_>>(), ["p.i"]);
        assert!(case_table.without_result("p.i", DeqpStatus::Missing, "none"));
        assert!(!case_table.without_result("p.h", DeqpStatus::Missing, "none"));
        assert!(!case_table.without_result("p.b", DeqpStatus::Missing, "none"));
        assert_eq!(
            text(|out| case_table.write_results(out)),
            "p.a,Fail,1.5\np.b,Skip,0\np.c,Warn,1.5\np.d,Crash,1.5\np.e,Timeout,1.5\np.f,Skip,0\np.g,Fail,1.5\n\
             p.h,ExpectedFail,0.25\np.i,Missing,0\np.z,Pass,1.5\n"
        );
        assert_eq!(
            text(|out| case_table.write_failures(out)),
            "p.a,Fail\np.d,Crash\np.e,Timeout\np.g,Fail\np.i,Missing\n"
        );
        // An unchecked case has no path.
        let paths: Vec<Option<&str>> = case_table.rows().map(|row| row.notes.path).collect();
        assert_eq!(paths[..4], [Some("lowered"), None, Some("lowered"), Some("lowered")]);
        let reasons: Vec<Option<&str>> = case_table.rows().map(|row| row.notes.reason).collect();
        assert_eq!((reasons[0], reasons[7], reasons[8]), (Some("why"), None, Some("none")));
        case_table.insert("a,b\nc", DeqpStatus::Test(TestStatus::Pass), 0.0, CaseNotes::default());
        assert!(text(|out| case_table.write_results(out)).starts_with("a_b_c,Pass,0\n"));
    }
}
