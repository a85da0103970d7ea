//! Choosing and listing cases.

use crate::{
    args::ListArgs,
    exit::{self, Failure, WithCode},
    print,
};
use assay_case::{Case, Filter};
use assay_runner::PlanError;
use std::fmt::Write;

/// The built-in cases.
pub(crate) fn load() -> Result<Vec<Case>, Failure> {
    assay_case::load().code(exit::USAGE)
}

/// The filters, each of which must match a case: known without a device.
pub(crate) fn filters(patterns: &[String], cases: &[Case]) -> Result<Vec<Filter>, Failure> {
    let filters: Vec<Filter> = patterns.iter().map(|pattern| Filter::new(pattern)).collect();
    for filter in &filters {
        if !cases.iter().any(|case| filter.matches(&case.name)) {
            let nearest = filter.nearest(cases.iter().map(|case| case.name.as_str()));
            return Err(PlanError::NoMatch { filter: filter.pattern().to_owned(), nearest }).code(exit::NOTHING);
        }
    }
    Ok(filters)
}

/// `assay list`.
pub(crate) fn list(args: &ListArgs) -> Result<u8, Failure> {
    let cases = load()?;
    let filters = filters(&args.filters, &cases)?;
    let mut text = String::new();
    for case in &cases {
        if filters.is_empty() || filters.iter().any(|filter| filter.matches(&case.name)) {
            _ = writeln!(text, "{}", case.name);
        }
    }
    print(text.as_bytes())
}
