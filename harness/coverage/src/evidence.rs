//! Evidence that covers statements, collected from the crates that define rules, cases and
//! functions.

use crate::CoverageError;
use crate::statement::Statement;
use assay_check::ShaderSource;
use assay_precision::Op;
use assay_spirv::{Style, disassemble};
use assay_spirv_rules::requirements::REQUIREMENT_RULES;
use assay_spirv_rules::rules::{self, IMPLIED, UNCHECKED_RUNTIME, UNCHECKED_STANDALONE};
use assay_suite::{Case, Suite};
use std::collections::{BTreeMap, BTreeSet};

/// Treatment of a rule of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleDisposition {
    /// Checked statically; the rule's short name.
    Checked(&'static str),
    /// Part of a module's requirements.
    Requirement,
    /// Checked at run time; the function that does so.
    RunTime(assay_oracle::RuleEnforcement),
    /// Implied by another rule.
    Implied(&'static str),
    /// Not checked; the reason.
    NotChecked(&'static str),
}

impl RuleDisposition {
    /// Returns the planted violation that every rule with this disposition has, in words.
    pub(crate) fn proof(self) -> Option<&'static str> {
        match self {
            RuleDisposition::Checked(_) => Some("the rule's own module"),
            RuleDisposition::RunTime(assay_oracle::RuleEnforcement::Enforced(_)) => Some("the rule's own dispatch"),
            RuleDisposition::RunTime(_)
            | RuleDisposition::Requirement
            | RuleDisposition::Implied(_)
            | RuleDisposition::NotChecked(_) => None,
        }
    }
}

/// A rule of the text.
#[derive(Clone, Debug)]
pub(crate) struct RuleEvidence {
    /// Its name in the text.
    pub(crate) id: String,
    /// The requirement; empty if it is not checked.
    pub(crate) requirement: &'static str,
    /// Its treatment.
    pub(crate) disposition: RuleDisposition,
}

/// A case that is a program, with the instructions in its modules.
#[derive(Clone, Debug)]
pub(crate) struct CaseEvidence {
    pub(crate) name: String,
    pub(crate) suite: &'static str,
    /// Instructions, and instructions with an enumerant among their operands.
    pub(crate) words: BTreeSet<String>,
    /// Statements that it names itself.
    pub(crate) covers: Vec<&'static str>,
}

impl CaseEvidence {
    /// Returns true if the program covers a statement: it names the statement, or its module holds
    /// an instruction of it.
    pub(crate) fn covers(&self, name: &str, statement: &Statement) -> bool {
        let suite = statement.suites.is_empty() || statement.suites.iter().any(|suite| suite == self.suite);
        let uses = statement.uses.iter().any(|word| self.words.contains(word));
        self.covers.contains(&name) || suite && uses
    }
}

/// Precision cases of one instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct PrecisionEvidence {
    /// Types of the main operand (of a conversion: of the result), as case names have them.
    pub(crate) formats: BTreeSet<String>,
}

/// Evidence that covers statements.
#[derive(Debug)]
pub struct Evidence {
    /// Every rule, in the order of the lists.
    pub(crate) rules: Vec<RuleEvidence>,
    /// Places in `rules`, by the number of a VUID or by the whole name of a clause.
    pub(crate) by_key: BTreeMap<String, usize>,
    pub(crate) programs: Vec<CaseEvidence>,
    /// Precision cases by instruction.
    pub(crate) precision: BTreeMap<Op, PrecisionEvidence>,
    /// Modes that precision cases declare.
    pub(crate) modes: BTreeSet<&'static str>,
    /// Number of all cases.
    pub(crate) cases: usize,
}

impl Evidence {
    /// Collects the evidence.
    ///
    /// # Errors
    /// Built-in cases are malformed, which a test rules out.
    pub fn new() -> Result<Evidence, CoverageError> {
        let rules = every_rule();
        let mut by_key = BTreeMap::new();
        for (place, rule) in rules.iter().enumerate() {
            for key in lookup_keys(&rule.id) {
                by_key.entry(key).or_insert(place);
            }
        }
        let mut programs = Vec::new();
        for suite in assay_suite::all() {
            programs.extend(case_evidence(suite)?);
        }
        let (mut precision, mut modes) = (BTreeMap::<Op, PrecisionEvidence>::new(), BTreeSet::new());
        let cases = assay_case::load()?;
        for case in &cases {
            modes.extend(case.call.modes.names());
            precision.entry(case.call.op).or_default().formats.insert(case.scalar.to_string());
        }
        let cases = cases.len() + programs.len();
        Ok(Evidence { rules, by_key, programs, precision, modes, cases })
    }

    /// Finds a rule by its full name in the text, else by the number in the name.
    pub(crate) fn rule(&self, id: &str) -> Option<&RuleEvidence> {
        if let Some(rule) = self.rules.iter().find(|rule| rule.id == id) {
            return Some(rule);
        }
        let key = lookup_keys(id).into_iter().next()?;
        self.by_key.get(&key).map(|place| &self.rules[*place])
    }

    /// Returns the short name of a statically checked rule, by its name in the text.
    pub fn rule_name(&self, id: &str) -> Option<&'static str> {
        match self.rule(id)?.disposition {
            RuleDisposition::Checked(name) => Some(name),
            RuleDisposition::Requirement
            | RuleDisposition::RunTime(_)
            | RuleDisposition::Implied(_)
            | RuleDisposition::NotChecked(_) => None,
        }
    }

    /// Returns the programs that cover a statement; `name` is `DOCUMENT/STATEMENT`.
    pub fn cases_of(&self, name: &str, statement: &Statement) -> BTreeSet<&str> {
        self.programs.iter().filter(|case| case.covers(name, statement)).map(|case| &*case.name).collect()
    }

    /// Returns the groups of the programs that match a predicate.
    pub(crate) fn groups(&self, chosen: impl Fn(&CaseEvidence) -> bool) -> Vec<String> {
        let names: Vec<&str> = self.programs.iter().filter(|case| chosen(case)).map(|case| &*case.name).collect();
        groups(&names)
    }
}

/// Returns the groups of cases as name prefixes, with as many components as keep the list short.
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

/// Returns the lookup keys of a name in the text: the numbers of its VUIDs, which are unique, else
/// the name.
fn lookup_keys(id: &str) -> Vec<String> {
    if !id.starts_with("VUID-") {
        return vec![id.to_owned()];
    }
    let number = |word: &str| word.rsplit('-').next().map(str::to_owned);
    let words = id.split([' ', ',', '(', ')']).filter(|word| word.contains('-'));
    words.filter_map(number).filter(|number| number.len() == 5).collect()
}

fn every_rule() -> Vec<RuleEvidence> {
    let checked = rules::all_rules().map(|rule| RuleEvidence {
        id: rule.id.to_owned(),
        requirement: rule.requirement,
        disposition: RuleDisposition::Checked(rule.name),
    });
    let needs = REQUIREMENT_RULES.iter().map(|rule| RuleEvidence {
        id: rule.id.to_owned(),
        requirement: rule.text,
        disposition: RuleDisposition::Requirement,
    });
    let watched = assay_oracle::run_time_rules();
    let running = watched.map(|(rule, watch)| RuleEvidence {
        id: rule.id.to_owned(),
        requirement: rule.requirement,
        disposition: RuleDisposition::RunTime(watch),
    });
    let implied = IMPLIED.iter().map(|(id, by)| RuleEvidence {
        id: format!("VUID-RuntimeSpirv-{id}"),
        requirement: "",
        disposition: RuleDisposition::Implied(by),
    });
    let of = |prefix: &'static str, list: &'static [(&str, &[&str])]| {
        list.iter().flat_map(move |(why, ids)| {
            ids.iter().map(move |id| RuleEvidence {
                id: format!("{prefix}{id}"),
                requirement: "",
                disposition: RuleDisposition::NotChecked(why),
            })
        })
    };
    let unchecked =
        of("VUID-StandaloneSpirv-", UNCHECKED_STANDALONE).chain(of("VUID-RuntimeSpirv-", UNCHECKED_RUNTIME));
    checked.chain(needs).chain(running).chain(implied).chain(unchecked).collect()
}

fn case_evidence(suite: &'static dyn Suite) -> Result<Vec<CaseEvidence>, CoverageError> {
    let one = |case: Case| {
        let wrong = |why: String| CoverageError::Program { case: case.name.clone(), why };
        let mut words = BTreeSet::new();
        match case.pass(case.paths[0]) {
            Some(pass) => {
                for step in &pass.map_err(|error| wrong(error.to_string()))?.steps {
                    let text = disassemble(&step.words, Style::default()).map_err(|error| wrong(error.to_string()))?;
                    add_words(&text, &mut words);
                }
            }
            None => {
                let program = case
                    .program(case.paths[0])
                    .ok_or_else(|| wrong("the case has no program for its path".to_owned()))?;
                if program.ending == "spvasm" {
                    add_words(&program.text, &mut words);
                } else {
                    let name = format!("{}.{}", case.name, program.ending);
                    let subject = ShaderSource::read(&name, program.text.as_bytes());
                    let subject = subject.map_err(|error| wrong(error.to_string()))?;
                    let module = disassemble(subject.source.module.words(), Style::default());
                    add_words(&module.map_err(|error| wrong(error.to_string()))?, &mut words);
                }
            }
        }
        Ok(CaseEvidence { name: case.name.clone(), suite: suite.name(), words, covers: case.covers.clone() })
    };
    suite.cases().into_iter().map(one).collect()
}

/// Adds the instructions of a module's text, alone and with each enumerant among their operands.
fn add_words(text: &str, words: &mut BTreeSet<String>) {
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
        assert_eq!(lookup_keys(id), ["10626", "10629", "10632"]);
        assert_eq!(
            lookup_keys("SPV_KHR_8bit_storage, StoragePushConstant8"),
            ["SPV_KHR_8bit_storage, StoragePushConstant8"]
        );
    }

    #[test]
    fn the_words_of_a_module_are_instructions_and_enumerants() {
        let mut words = BTreeSet::new();
        let text = "OpCapability Shader ; a comment\n%2 = OpTypeImage %f 2D 0 0 0 2 R8\nOpDecorate %x BuiltIn GlobalInvocationId\n%r = OpImageRead %v %i %c Sample|SignExtend %s";
        add_words(text, &mut words);
        for word in ["OpCapability Shader", "OpTypeImage", "OpTypeImage R8", "OpTypeImage 2D", "OpImageRead SignExtend"]
        {
            assert!(words.contains(word), "{word} in {words:?}");
        }
        assert!(!words.iter().any(|word| word.contains("comment") || word.contains('%')), "{words:?}");
    }

    #[test]
    fn groups_have_as_many_components_as_keep_the_list_short() {
        assert_eq!(groups(&["a.b.c.d", "a.b.c.e"]), ["a.b.c.d", "a.b.c.e"]);
        let many: Vec<String> = (0..9).map(|i| format!("a.b.c{i}")).collect();
        assert_eq!(groups(&many.iter().map(String::as_str).collect::<Vec<_>>()), ["a.b"]);
    }
}
