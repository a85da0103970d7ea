//! Evidence that covers statements, collected from the crates that define rules, cases and
//! functions.

use crate::CoverageError;
use crate::document_rules::DocumentRules;
use crate::statement::Statement;
use assay_check::ShaderSource;
use assay_precision::Op;
use assay_spirv::{Style, disassemble};
use assay_suite::Case;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A case that is a program.
#[derive(Clone, Debug)]
pub(crate) struct CaseEvidence {
    pub(crate) name: String,
    pub(crate) suite: &'static str,
    /// Statements that it names itself.
    pub(crate) covers: Vec<&'static str>,
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
    pub(crate) rules: DocumentRules,
    pub(crate) programs: Vec<CaseEvidence>,
    /// Places in `programs` of those whose modules hold an instruction, or an instruction with an
    /// enumerant among its operands; see [`add_words`].
    with_word: HashMap<String, Vec<usize>>,
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
        let (mut programs, mut with_word) = (Vec::new(), HashMap::<String, Vec<usize>>::new());
        for suite in assay_suite::all() {
            for case in suite.cases() {
                for word in words_of(&case)? {
                    with_word.entry(word).or_default().push(programs.len());
                }
                programs.push(CaseEvidence { name: case.name, suite: suite.name(), covers: case.covers });
            }
        }
        let (mut precision, mut modes) = (BTreeMap::<Op, PrecisionEvidence>::new(), BTreeSet::new());
        let cases = assay_case::load()?;
        for case in &cases {
            modes.extend(case.call.modes.names());
            precision.entry(case.call.op).or_default().formats.insert(case.scalar.to_string());
        }
        let cases = cases.len() + programs.len();
        Ok(Evidence { rules: DocumentRules::new(), programs, with_word, precision, modes, cases })
    }

    /// Returns the programs that cover a statement: they name it (`DOCUMENT/STATEMENT`), or their
    /// modules hold an instruction of it.
    pub fn cases_of(&self, name: &str, statement: &Statement) -> BTreeSet<&str> {
        let naming = self.programs.iter().filter(|case| case.covers.contains(&name));
        let is_in_suite =
            |suite: &str| statement.suites.is_empty() || statement.suites.iter().any(|listed| listed == suite);
        let using = statement.uses.iter().flat_map(|word| self.programs_with(word));
        let using = using.filter(|case| is_in_suite(case.suite));
        naming.chain(using).map(|case| &*case.name).collect()
    }

    /// Returns the programs whose modules hold an instruction, or an instruction with an enumerant.
    pub(crate) fn programs_with(&self, word: &str) -> impl Iterator<Item = &CaseEvidence> {
        self.with_word.get(word).into_iter().flatten().map(|place| &self.programs[*place])
    }
}

/// Returns the groups of cases as name prefixes, with as many components as keep the list short.
pub(crate) fn groups(names: &BTreeSet<&str>) -> Vec<String> {
    const SHORT: usize = 6;
    let at = |depth: usize| -> BTreeSet<&str> {
        let end = |name: &str| name.match_indices('.').nth(depth - 1).map_or(name.len(), |(end, _)| end);
        names.iter().map(|name| &name[..end(name)]).collect()
    };
    let mut best = at(1);
    for depth in 2..=4 {
        let next = at(depth);
        if next.len() > SHORT {
            break;
        }
        best = next;
    }
    best.into_iter().map(str::to_owned).collect()
}

/// Returns the instructions of a case's modules, as [`add_words`] does.
fn words_of(case: &Case) -> Result<BTreeSet<String>, CoverageError> {
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
            let program =
                case.program(case.paths[0]).ok_or_else(|| wrong("the case has no program for its path".to_owned()))?;
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
    Ok(words)
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
        assert_eq!(groups(&BTreeSet::from(["a.b.c.d", "a.b.c.e"])), ["a.b.c.d", "a.b.c.e"]);
        assert_eq!(groups(&BTreeSet::from(["a.b", "a.b.c.d", "e"])), ["a.b", "a.b.c.d", "e"]);
        let many: Vec<String> = (0..9).map(|i| format!("a.b.c{i}")).collect();
        assert_eq!(groups(&many.iter().map(String::as_str).collect()), ["a.b"]);
    }
}
