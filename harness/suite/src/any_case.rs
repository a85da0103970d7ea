//! A case of any kind.

use crate::Case;
use assay_runner::Selectable;

/// A precision case or a program, so that both are selected by the same filters, lists, budget and
/// partition, and run together.
#[derive(Clone, Debug)]
pub enum AnyCase {
    /// One instruction on many operands.
    Precision(assay_case::Case),
    /// A program of a suite.
    Program(Case),
}

impl AnyCase {
    /// All built-in cases: the precision cases, then those of each suite.
    ///
    /// # Errors
    /// A built-in file is malformed; a test rules this out.
    pub fn load() -> Result<Vec<AnyCase>, assay_case::CaseError> {
        let mut all: Vec<AnyCase> = assay_case::load()?.into_iter().map(AnyCase::Precision).collect();
        all.extend(crate::all().into_iter().flat_map(|suite| suite.cases()).map(AnyCase::Program));
        Ok(all)
    }

    /// Splits precision cases from programs; each keeps its order.
    pub fn split(all: Vec<AnyCase>) -> (Vec<assay_case::Case>, Vec<Case>) {
        let (mut cases, mut programs) = (Vec::new(), Vec::new());
        for any in all {
            match any {
                AnyCase::Precision(case) => cases.push(case),
                AnyCase::Program(case) => programs.push(case),
            }
        }
        (cases, programs)
    }
}

impl Selectable for Case {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_quick(&self) -> bool {
        self.quick
    }

    fn make_quick(&mut self) {
        self.quick = true;
    }
}

impl Selectable for AnyCase {
    fn name(&self) -> &str {
        match self {
            AnyCase::Precision(case) => case.name(),
            AnyCase::Program(case) => case.name(),
        }
    }

    fn is_quick(&self) -> bool {
        match self {
            AnyCase::Precision(case) => case.is_quick(),
            AnyCase::Program(case) => case.is_quick(),
        }
    }

    fn make_quick(&mut self) {
        match self {
            AnyCase::Precision(case) => case.make_quick(),
            AnyCase::Program(case) => case.make_quick(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_begin_with_their_suite() {
        let mut seen = BTreeSet::new();
        for suite in crate::all() {
            assert!(!suite.purpose().is_empty());
            for case in suite.cases() {
                let rest = case.name.strip_prefix(suite.name()).and_then(|rest| rest.strip_prefix('.'));
                assert!(rest.is_some_and(|rest| !rest.is_empty()), "{}", case.name);
                let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.';
                assert!(case.name.chars().all(plain), "{}", case.name);
                assert!(seen.insert(case.name.clone()), "{} twice", case.name);
            }
        }
        let all = AnyCase::load().unwrap();
        assert!(all.len() > seen.len());
    }
}
