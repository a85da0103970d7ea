//! What is known of each case of a run, in little memory, until `results.csv`, `failures.csv` and `junit.xml` are written.

use crate::{
    deqp::{Did, Word, plain},
    names::{Index, Names, compare},
};
use assay_runner::Status;
use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Write},
    rc::Rc,
};

/// How a case came out.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    word: Word,
    /// Which of the texts; 0 is none.
    reason: u32,
    path: u32,
    explain: u32,
    seconds: f32,
}

/// A case as it stands in the ledger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    pub(crate) word: Word,
    pub(crate) seconds: f32,
    pub(crate) said: Said<'a>,
}

/// What is said of a case beside its status.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Said<'a> {
    /// Why it has its status.
    pub(crate) reason: Option<&'a str>,
    /// How it ran, if not natively.
    pub(crate) path: Option<&'a str>,
    /// The command that derives what is permitted, if it failed and there is one.
    pub(crate) explain: Option<&'a str>,
}

impl<'a> Said<'a> {
    /// Of a case that ran like that, and did that.
    pub(crate) fn of(reason: Option<&'a str>, path: &'a str, status: Option<Status>) -> Said<'a> {
        let told = !["", NATIVE].contains(&path) && status.is_some_and(Status::is_checked);
        Said { reason, path: told.then_some(path), explain: None }
    }

    /// The same with the command of the worst result, where that derives what is permitted: of a program it repeats the case,
    /// as can be said of every case.
    pub(crate) fn explained(self, status: Option<Status>, command: Option<&'a str>) -> Said<'a> {
        let failed = status.is_some_and(Status::is_failure);
        let explain = command.filter(|command| failed && command.starts_with(EXPLAIN));
        Said { explain, ..self }
    }
}

/// The path that there is nothing to say of.
const NATIVE: &str = "native";

/// The beginning of a command that derives what is permitted.
const EXPLAIN: &str = "assay explain ";

/// How the cases of a run came out, each once. A case that is planned takes a few bytes beside its name, which is there once
/// for all who need it; reasons and paths are kept once each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    planned: Rc<Names>,
    index: Index,
    entries: Vec<Option<Entry>>,
    /// Cases that nobody planned.
    others: BTreeMap<String, Entry>,
    texts: Vec<Rc<str>>,
    numbers: HashMap<Rc<str>, u32>,
}

impl Ledger {
    /// An empty one.
    pub(crate) fn new(planned: Rc<Names>) -> Ledger {
        let entries = vec![None; planned.len()];
        Ledger { index: Index::new(&planned), planned, entries, ..Ledger::default() }
    }

    /// Takes in how a case came out.
    pub(crate) fn insert(&mut self, name: &str, word: Word, seconds: f64, said: Said<'_>) {
        match self.index.find(&self.planned, name) {
            Some(at) => self.insert_planned(at, word, seconds, said),
            None => {
                let entry = self.entry(word, seconds, said);
                self.others.insert(name.to_owned(), entry);
            }
        }
    }

    /// The same of a planned case, by its number.
    pub(crate) fn insert_planned(&mut self, at: usize, word: Word, seconds: f64, said: Said<'_>) {
        self.entries[at] = Some(self.entry(word, seconds, said));
    }

    fn entry(&mut self, word: Word, seconds: f64, said: Said<'_>) -> Entry {
        let Said { reason, path, explain } = said;
        let [reason, path, explain] = [reason, path, explain].map(|text| text.map_or(0, |text| self.number(text)));
        Entry { word, reason, path, explain, seconds: seconds as f32 }
    }

    /// Takes in a case that was not run, unless it is there; whether it was not.
    pub(crate) fn without_result(&mut self, name: &str, word: Word, reason: &str) -> bool {
        let there = match self.index.find(&self.planned, name) {
            Some(at) => self.entries[at].is_some(),
            None => self.others.contains_key(name),
        };
        if !there {
            self.insert(name, word, 0.0, Said { reason: Some(reason), ..Said::default() });
        }
        !there
    }

    /// The planned cases that are not there, by number.
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

    /// All cases, by name.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
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
        std::iter::from_fn(next).map(|(name, Entry { word, reason, path, explain, seconds })| {
            let text =
                |number: u32| (number as usize).checked_sub(1).and_then(|at| self.texts.get(at)).map(|text| &**text);
            let said = Said { reason: text(reason), path: text(path), explain: text(explain) };
            Row { name, word, seconds, said }
        })
    }

    /// Writes `results.csv`: `name,status,seconds`. A name has no comma and no line break there: what reads these files knows no
    /// quoting.
    pub(crate) fn write_results(&self, out: &mut dyn Write) -> io::Result<()> {
        for Row { name, word, seconds, .. } in self.rows() {
            let seconds = if matches!(word, Word::Did(Did::Skip) | Word::Missing) { 0.0 } else { seconds };
            writeln!(out, "{},{word},{seconds}", plain(name))?;
        }
        Ok(())
    }

    /// Writes `failures.csv`: `name,status` for what deqp-runner does not count as success.
    pub(crate) fn write_failures(&self, out: &mut dyn Write) -> io::Result<()> {
        for Row { name, word, .. } in self.rows().filter(|row| !row.word.is_success()) {
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
    fn files_are_in_the_form_of_deqp_runner() {
        // Some of the cases are planned, in another order, and some are not.
        let mut ledger = Ledger::new(Rc::new(["p.z", "p.h", "p.c", "p.a", "p.i"].iter().collect()));
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
            ledger.insert(name, Word::Did(Did::of(status)), 1.5, Said::of(Some("why"), "lowered", Some(status)));
        }
        ledger.insert("p.h", Word::ExpectedFail, 0.25, Said::default());
        assert_eq!(ledger.missing().into_iter().map(|at| ledger.planned.get(at)).collect::<Vec<_>>(), ["p.i"]);
        assert!(ledger.without_result("p.i", Word::Missing, "none"));
        assert!(!ledger.without_result("p.h", Word::Missing, "none"));
        assert!(!ledger.without_result("p.b", Word::Missing, "none"));
        assert_eq!(
            text(|out| ledger.write_results(out)),
            "p.a,Fail,1.5\np.b,Skip,0\np.c,Warn,1.5\np.d,Crash,1.5\np.e,Timeout,1.5\np.f,Skip,0\np.g,Fail,1.5\n\
             p.h,ExpectedFail,0.25\np.i,Missing,0\np.z,Pass,1.5\n"
        );
        assert_eq!(text(|out| ledger.write_failures(out)), "p.a,Fail\np.d,Crash\np.e,Timeout\np.g,Fail\np.i,Missing\n");
        // What was not checked ran in no way.
        let paths: Vec<Option<&str>> = ledger.rows().map(|row| row.said.path).collect();
        assert_eq!(paths[..4], [Some("lowered"), None, Some("lowered"), Some("lowered")]);
        let reasons: Vec<Option<&str>> = ledger.rows().map(|row| row.said.reason).collect();
        assert_eq!((reasons[0], reasons[7], reasons[8]), (Some("why"), None, Some("none")));
        ledger.insert("a,b\nc", Word::Did(Did::Pass), 0.0, Said::default());
        assert!(text(|out| ledger.write_results(out)).starts_with("a_b_c,Pass,0\n"));
    }
}
