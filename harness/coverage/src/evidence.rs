//! What there is to cover a statement with: asked of the crates that know it.

use crate::CoverageError;
use crate::statement::Statement;
use assay_check::Subject;
use assay_precision::Op;
use assay_spirv::rules::{self, IMPLIED, NOT_CHECKED, NOT_CHECKED_ON_DEVICES};
use assay_spirv::{Style, disassemble, need::NEED_RULES};
use assay_suite::{Case, Suite};
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of a rule of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// A look at the module decides it; the rule's short name.
    Checked(&'static str),
    /// It is part of what a module needs of a device.
    Need,
    /// Only running shows it; who sees to it.
    RunTime(assay_oracle::Watch),
    /// Another rule implies it.
    Implied(&'static str),
    /// It is not checked, and why.
    NotChecked(&'static str),
}

impl Fate {
    /// The planted violation of the rule that every rule of this fate has, in words.
    pub(crate) fn proof(self) -> Option<&'static str> {
        match self {
            Fate::Checked(_) => Some("the rule's own module"),
            Fate::RunTime(assay_oracle::Watch::Enforced(_)) => Some("the rule's own dispatch"),
            Fate::RunTime(_) | Fate::Need | Fate::Implied(_) | Fate::NotChecked(_) => None,
        }
    }
}

/// A rule of the text.
#[derive(Clone, Debug)]
pub(crate) struct Ruled {
    /// Its name in the text.
    pub(crate) id: String,
    /// What it asks for; empty where it is not checked.
    pub(crate) says: &'static str,
    /// What becomes of it.
    pub(crate) fate: Fate,
}

/// A case that is a program, by what its modules hold.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) name: String,
    pub(crate) suite: &'static str,
    /// Instructions, and instructions with an enumerant among their operands.
    pub(crate) words: BTreeSet<String>,
    /// Statements that it names itself.
    pub(crate) covers: Vec<&'static str>,
}

impl Seen {
    /// Returns true if the program covers a statement: it names the statement, or its module holds an instruction of it.
    pub(crate) fn covers(&self, name: &str, statement: &Statement) -> bool {
        let suite = statement.suites.is_empty() || statement.suites.iter().any(|suite| suite == self.suite);
        let uses = statement.uses.iter().any(|word| self.words.contains(word));
        self.covers.contains(&name) || suite && uses
    }
}

/// Precision cases of one instruction and result format.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// Result formats, as case names have them.
    pub(crate) formats: BTreeSet<String>,
}

/// All that covers statements.
#[derive(Debug)]
pub struct Evidence {
    /// Every rule, in the order of the lists.
    pub(crate) rules: Vec<Ruled>,
    /// Places in `rules`, by the number of a VUID or by the whole name of a clause.
    pub(crate) by_key: BTreeMap<String, usize>,
    pub(crate) programs: Vec<Seen>,
    /// Precision cases by instruction.
    pub(crate) precision: BTreeMap<Op, Measured>,
    /// Modes that precision cases declare.
    pub(crate) modes: BTreeSet<&'static str>,
    /// How many cases there are in all.
    pub(crate) cases: usize,
}

impl Evidence {
    /// Asks the crates.
    ///
    /// # Errors
    /// Built-in cases are malformed, which a test rules out.
    pub fn new() -> Result<Evidence, CoverageError> {
        let rules = every_rule();
        let mut by_key = BTreeMap::new();
        for (place, rule) in rules.iter().enumerate() {
            for key in keys(&rule.id) {
                by_key.entry(key).or_insert(place);
            }
        }
        let mut programs = Vec::new();
        for suite in assay_suite::all() {
            programs.extend(seen(suite)?);
        }
        let (mut precision, mut modes) = (BTreeMap::<Op, Measured>::new(), BTreeSet::new());
        let cases = assay_case::load()?;
        for case in &cases {
            modes.extend(case.call.modes.names());
            precision.entry(case.call.op).or_default().formats.insert(case.scalar.to_string());
        }
        let cases = cases.len() + programs.len();
        Ok(Evidence { rules, by_key, programs, precision, modes, cases })
    }

    /// A rule by its name in the text: all of the name, else the number in it.
    pub(crate) fn rule(&self, id: &str) -> Option<&Ruled> {
        if let Some(rule) = self.rules.iter().find(|rule| rule.id == id) {
            return Some(rule);
        }
        let key = keys(id).into_iter().next()?;
        self.by_key.get(&key).map(|place| &self.rules[*place])
    }

    /// The short name of a rule that a look at the module decides, by its name in the text.
    pub fn rule_name(&self, id: &str) -> Option<&'static str> {
        match self.rule(id)?.fate {
            Fate::Checked(name) => Some(name),
            Fate::Need | Fate::RunTime(_) | Fate::Implied(_) | Fate::NotChecked(_) => None,
        }
    }

    /// The programs that cover a statement; `name` is its own behind that of its document.
    pub fn cases_of(&self, name: &str, statement: &Statement) -> BTreeSet<&str> {
        self.programs.iter().filter(|seen| seen.covers(name, statement)).map(|seen| &*seen.name).collect()
    }

    /// The groups of the programs that a test chooses.
    pub(crate) fn groups(&self, chosen: impl Fn(&Seen) -> bool) -> Vec<String> {
        let names: Vec<&str> = self.programs.iter().filter(|seen| chosen(seen)).map(|seen| &*seen.name).collect();
        groups(&names)
    }
}

/// Names of groups that these cases are in: as many components as stay a short list.
fn groups(names: &[&str]) -> Vec<String> {
    const SHORT: usize = 6;
    let at = |depth: usize| -> BTreeSet<String> {
        names.iter().map(|name| name.split('.').take(depth).collect::<Vec<_>>().join(".")).collect()
    };
    let mut best = at(1);
    for depth in 2..=4 {
        let next = at(depth);
        if next.len() > SHORT {
            break;
        }
        best = next;
    }
    best.into_iter().collect()
}

/// What a name in the text is found by: the numbers of VUIDs, which are unique; else the name.
fn keys(id: &str) -> Vec<String> {
    if !id.starts_with("VUID-") {
        return vec![id.to_owned()];
    }
    let number = |word: &str| word.rsplit('-').next().map(str::to_owned);
    let words = id.split([' ', ',', '(', ')']).filter(|word| word.contains('-'));
    words.filter_map(number).filter(|number| number.len() == 5).collect()
}

fn every_rule() -> Vec<Ruled> {
    let checked =
        rules::all().map(|rule| Ruled { id: rule.id.to_owned(), says: rule.says, fate: Fate::Checked(rule.name) });
    let needs = NEED_RULES.iter().map(|rule| Ruled { id: rule.id.to_owned(), says: rule.says, fate: Fate::Need });
    let watched = assay_oracle::run_time_rules();
    let running =
        watched.map(|(rule, watch)| Ruled { id: rule.id.to_owned(), says: rule.says, fate: Fate::RunTime(watch) });
    let implied = IMPLIED.iter().map(|(id, by)| Ruled {
        id: format!("VUID-RuntimeSpirv-{id}"),
        says: "",
        fate: Fate::Implied(by),
    });
    let of = |prefix: &'static str, list: &'static [(&str, &[&str])]| {
        list.iter().flat_map(move |(why, ids)| {
            ids.iter().map(move |id| Ruled { id: format!("{prefix}{id}"), says: "", fate: Fate::NotChecked(why) })
        })
    };
    let unchecked = of("VUID-StandaloneSpirv-", NOT_CHECKED).chain(of("VUID-RuntimeSpirv-", NOT_CHECKED_ON_DEVICES));
    checked.chain(needs).chain(running).chain(implied).chain(unchecked).collect()
}

fn seen(suite: &'static dyn Suite) -> Result<Vec<Seen>, CoverageError> {
    let one = |case: Case| {
        let wrong = |why: String| CoverageError::Program { case: case.name.clone(), why };
        let mut words = BTreeSet::new();
        match case.pass(case.paths[0]) {
            Some(pass) => {
                for step in &pass.map_err(|error| wrong(error.to_string()))?.steps {
                    let text = disassemble(&step.words, Style::default()).map_err(|error| wrong(error.to_string()))?;
                    held(&text, &mut words);
                }
            }
            None => {
                let program = case.program(case.paths[0]).ok_or_else(|| wrong("there is none".to_owned()))?;
                if program.ending == "spvasm" {
                    held(&program.text, &mut words);
                } else {
                    let name = format!("{}.{}", case.name, program.ending);
                    let subject = Subject::read(&name, program.text.as_bytes());
                    let subject = subject.map_err(|error| wrong(error.to_string()))?;
                    let module = disassemble(subject.source.module.words(), Style::default());
                    held(&module.map_err(|error| wrong(error.to_string()))?, &mut words);
                }
            }
        }
        Ok(Seen { name: case.name.clone(), suite: suite.name(), words, covers: case.covers.clone() })
    };
    suite.cases().into_iter().map(one).collect()
}

/// The instructions of a module's text, and each with every enumerant among its operands.
fn held(text: &str, words: &mut BTreeSet<String>) {
    for line in text.lines() {
        let line = line.split(';').next().unwrap_or_default();
        let Some(start) = line.find("Op") else { continue };
        let mut parts = line[start..].split_whitespace();
        let Some(op) = parts.next() else { continue };
        for part in parts.flat_map(|part| part.trim_matches('"').split('|')) {
            if part.starts_with(|c: char| c.is_ascii_alphanumeric()) && part.contains(|c: char| c.is_ascii_alphabetic())
            {
                words.insert(format!("{op} {part}"));
            }
        }
        words.insert(op.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vuids_are_found_by_number_and_clauses_by_name() {
        let id = "VUID-TileOffsetQCOM-TileOffsetQCOM-10626, TileDimensionQCOM-10629, TileApronSizeQCOM-10632";
        assert_eq!(keys(id), ["10626", "10629", "10632"]);
        assert_eq!(keys("SPV_KHR_8bit_storage, StoragePushConstant8"), ["SPV_KHR_8bit_storage, StoragePushConstant8"]);
    }

    #[test]
    fn a_module_is_what_its_instructions_name() {
        let mut words = BTreeSet::new();
        let text = "OpCapability Shader ; a comment\n%2 = OpTypeImage %f 2D 0 0 0 2 R8\nOpDecorate %x BuiltIn GlobalInvocationId\n%r = OpImageRead %v %i %c Sample|SignExtend %s";
        held(text, &mut words);
        for word in ["OpCapability Shader", "OpTypeImage", "OpTypeImage R8", "OpTypeImage 2D", "OpImageRead SignExtend"]
        {
            assert!(words.contains(word), "{word} in {words:?}");
        }
        assert!(!words.iter().any(|word| word.contains("comment") || word.contains('%')), "{words:?}");
    }

    #[test]
    fn groups_are_as_deep_as_they_stay_few() {
        assert_eq!(groups(&["a.b.c.d", "a.b.c.e"]), ["a.b.c.d", "a.b.c.e"]);
        let many: Vec<String> = (0..9).map(|i| format!("a.b.c{i}")).collect();
        assert_eq!(groups(&many.iter().map(String::as_str).collect::<Vec<_>>()), ["a.b"]);
    }
}
