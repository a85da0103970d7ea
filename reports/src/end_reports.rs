//! Reports that are written from all cases of a run: when the run ends, and when its parts are
//! merged.

use crate::{
    case_table::CaseTable,
    causes::Causes,
    junit,
    result_file::{DEVICE, PAGE, RESULTS, STANDINGS, WAIVERS_LEFT, write_whole},
};
use assay_events::{CauseList, RunInfo, SCHEMA};
use std::{
    io::{self, Write},
    path::Path,
};

/// Results of a whole run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndedRun<'a> {
    pub(crate) run: &'a RunInfo,
    pub(crate) cases: &'a CaseTable,
    pub(crate) causes: &'a Causes,
}

/// A report on a whole run.
pub(crate) struct EndReport {
    /// File name in the result directory.
    pub(crate) name: &'static str,
    write: fn(&EndedRun<'_>, &mut dyn Write) -> io::Result<()>,
}

pub(crate) const RESULTS_CSV: &str = "results.csv";

/// All reports on a whole run.
pub(crate) const END_REPORTS: [EndReport; 4] = [
    EndReport { name: "causes.json", write: write_causes },
    EndReport { name: RESULTS_CSV, write: |run, out| run.cases.write_results(out) },
    EndReport { name: "failures.csv", write: |run, out| run.cases.write_failures(out) },
    EndReport { name: "junit.xml", write: |run, out| junit::write(out, run.run, run.causes, || run.cases.rows()) },
];

/// Writes all reports, each under a temporary name until it is complete.
pub(crate) fn write_end_reports(folder: &Path, run: &EndedRun<'_>) -> io::Result<()> {
    END_REPORTS.iter().try_for_each(|report| write_whole(folder, report.name, |out| (report.write)(run, out)))
}

/// Returns the names of the files that a result directory can hold, besides pictures.
pub fn result_file_names() -> impl Iterator<Item = &'static str> {
    let reports = END_REPORTS.iter().map(|report| report.name);
    [PAGE, RESULTS].into_iter().chain(reports).chain([STANDINGS, WAIVERS_LEFT, DEVICE])
}

fn write_causes(run: &EndedRun<'_>, out: &mut dyn Write) -> io::Result<()> {
    let list = CauseList { schema: SCHEMA, causes: run.causes.list.clone() };
    serde_json::to_writer_pretty(&mut *out, &list)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn every_file_of_a_result_directory_is_documented() {
        let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
        for name in result_file_names() {
            assert!(readme.contains(&format!("| `{name}` |")), "README.md lacks {name}");
        }
    }
}
