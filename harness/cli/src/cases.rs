//! Selection and listing of cases.

use crate::{
    args::ListArgs,
    exit::{self, Failure, WithCode, usage},
    print,
};
use assay_case::NameFilters;
use assay_check::CaseFile;
use assay_files::input;
use assay_runner::{Selectable, must_match};
use assay_suite::AnyCase;
use std::{
    collections::{BTreeSet, HashSet},
    fmt::Write,
    path::Path,
};

/// Returns the built-in cases.
pub(crate) fn load() -> Result<Vec<AnyCase>, Failure> {
    AnyCase::load().code(exit::USAGE)
}

/// Returns the built-in cases and those of the case families that arguments name, and the arguments
/// with each file replaced by the names of its cases.
pub(crate) fn load_with(arguments: &[String]) -> Result<(Vec<AnyCase>, Vec<String>), Failure> {
    let (mut all, mut patterns) = (load()?, Vec::new());
    let mut files = BTreeSet::new();
    // Filled when the first file is read.
    let mut names: Option<HashSet<String>> = None;
    for argument in arguments {
        let path = Path::new(argument);
        if path.extension().is_none_or(|e| e != "toml") {
            patterns.push(argument.clone());
            continue;
        }
        // A file given twice counts once, in the same way as a filter.
        if path.canonicalize().is_ok_and(|path| !files.insert(path)) {
            continue;
        }
        let own = match assay_case::load_file(path) {
            // Tested only after an error, because it parses the file again.
            Err(_) if input::read_text(path, input::MAX_CASE_BYTES).is_ok_and(|text| CaseFile::is_case_file(&text)) => {
                return Err(usage(format!(
                    "{argument} is the case file of a shader, not a family of cases; run it with `assay check \
                     {argument}`"
                )));
            }
            own => own.code(exit::USAGE)?,
        };
        for case in own {
            let names = names.get_or_insert_with(|| all.iter().map(|case| case.name().to_owned()).collect());
            if !names.insert(case.name.clone()) {
                return Err(usage(format!("{argument}: a case `{}` already exists; rename the file", case.name)));
            }
            patterns.push(case.name.clone());
            all.push(AnyCase::Precision(case));
        }
    }
    Ok((all, patterns))
}

/// Returns the existing cases among `names`, in any order, without loading all cases.
pub(crate) fn named(arguments: &[String], names: &[&str]) -> Result<Vec<AnyCase>, Failure> {
    let mut found = AnyCase::named(names).code(exit::USAGE)?;
    for path in arguments.iter().map(Path::new).filter(|path| path.extension().is_some_and(|e| e == "toml")) {
        let own = assay_case::load_file(path).code(exit::USAGE)?;
        found.extend(own.into_iter().filter(|case| names.contains(&case.name.as_str())).map(AnyCase::Precision));
    }
    Ok(found)
}

/// Returns the filters.
///
/// # Errors
/// A filter matches no case.
pub(crate) fn filters(patterns: &[String], cases: &[AnyCase]) -> Result<NameFilters, Failure> {
    let filters = NameFilters::new(patterns);
    must_match(&filters, cases).code(exit::NOTHING)?;
    Ok(filters)
}

/// `assay list`: prints the names of matching cases.
pub(crate) fn list(args: &ListArgs) -> Result<u8, Failure> {
    let (cases, patterns) = load_with(&args.filters)?;
    let filters = filters(&patterns, &cases)?;
    let mut text = String::new();
    for case in &cases {
        if filters.is_empty() || filters.matches(case.name()) {
            _ = writeln!(text, "{}", case.name());
        }
    }
    print(text.as_bytes())
}
