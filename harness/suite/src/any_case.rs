//! A case of any kind.

use crate::Case;
use assay_runner::Choice;

/// A precision case or a program, so that both are selected by the same filters, lists, budget and
/// partition, and run together.
#[derive(Clone, Debug)]
pub enum Unit {
    /// One instruction on many operands.
    Precision(assay_case::Case),
    /// A program of a suite.
    Program(Case),
}

impl Unit {
    /// All built-in cases: the precision cases, then those of each suite.
    ///
    /// # Errors
    /// A built-in file is malformed; a test rules this out.
    pub fn load() -> Result<Vec<Unit>, assay_case::CaseError> {
        let mut units: Vec<Unit> = assay_case::load()?.into_iter().map(Unit::Precision).collect();
        units.extend(crate::all().into_iter().flat_map(|suite| suite.cases()).map(Unit::Program));
        Ok(units)
    }

    /// The cases of [`Unit::load`] with these names, in its order, without building the others.
    ///
    /// # Errors
    /// A built-in file is malformed; a test rules this out.
    pub fn named(names: &[&str]) -> Result<Vec<Unit>, assay_case::CaseError> {
        let mut units: Vec<Unit> = assay_case::load_named(names)?.into_iter().map(Unit::Precision).collect();
        let of = |suite: &&dyn crate::Suite| {
            let own = |name: &&str| name.split_once('.').is_some_and(|(first, _)| first == suite.name());
            names.iter().any(own)
        };
        let cases = crate::all().into_iter().filter(of).flat_map(|suite| suite.cases());
        units.extend(cases.filter(|case| names.contains(&case.name.as_str())).map(Unit::Program));
        Ok(units)
    }

    /// Splits precision cases from programs; each keeps its order.
    pub fn split(units: Vec<Unit>) -> (Vec<assay_case::Case>, Vec<Case>) {
        let (mut cases, mut programs) = (Vec::new(), Vec::new());
        for unit in units {
            match unit {
                Unit::Precision(case) => cases.push(case),
                Unit::Program(case) => programs.push(case),
            }
        }
        (cases, programs)
    }
}

impl Choice for Case {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_quick(&self) -> bool {
        self.quick
    }

    fn include(&mut self) {
        self.quick = true;
    }
}

impl Choice for Unit {
    fn name(&self) -> &str {
        match self {
            Unit::Precision(case) => case.name(),
            Unit::Program(case) => case.name(),
        }
    }

    fn is_quick(&self) -> bool {
        match self {
            Unit::Precision(case) => case.is_quick(),
            Unit::Program(case) => case.is_quick(),
        }
    }

    fn include(&mut self) {
        match self {
            Unit::Precision(case) => case.include(),
            Unit::Program(case) => case.include(),
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
            assert!(!suite.why().is_empty());
            for case in suite.cases() {
                let rest = case.name.strip_prefix(suite.name()).and_then(|rest| rest.strip_prefix('.'));
                assert!(rest.is_some_and(|rest| !rest.is_empty()), "{}", case.name);
                let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.';
                assert!(case.name.chars().all(plain), "{}", case.name);
                assert!(seen.insert(case.name.clone()), "{} twice", case.name);
            }
        }
        let all = Unit::load().unwrap();
        assert!(all.len() > seen.len());
        // Selecting by name gives the same cases; the sample contains every kind.
        let few: Vec<&Unit> = all.iter().step_by(all.len() / 40).collect();
        let names: Vec<&str> = few.iter().map(|unit| unit.name()).collect();
        let found = Unit::named(&names).unwrap();
        assert_eq!(found.len(), few.len());
        for (found, one) in found.iter().zip(few) {
            assert_eq!(format!("{found:?}"), format!("{one:?}"));
        }
        assert!(Unit::named(&["precision.f32.exp2", "no.such.case", ""]).unwrap().is_empty());
    }
}
