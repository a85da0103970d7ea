//! The accuracy atlas: a static site that shows the accuracy of each instruction on several devices.
//!
//! Data flow in one direction: result folders and the precision table give [`AtlasData`], which keeps
//! a few bytes for each result; pages, `atlas.json` and `atlas.csv` are made from it and read the
//! results that they show again, some at a time.
//!
//! | file | contents |
//! |---|---|
//! | `index.html` | matrix of instructions by device and format, causes of failures, runs |
//! | `instructions/NAME.html` | a page for each instruction |
//! | `atlas.json` | [`assay_events::Atlas`] |
//! | `atlas.csv` | the same results without plots, a line for each |
//! | `table.json` | [`PrecisionTable`]: rules, and doubts of these instructions |
//! | `style.css` | style of all pages |
//!
//! Links are relative, and nothing is loaded from elsewhere, so that the site works from a disk and
//! from any web server.

mod atlas_csv;
mod atlas_data;
mod atlas_json;
#[cfg(test)]
mod browser_tests;
mod case_parts;
mod error_plots;
mod index_page;
mod instruction_page;
mod markup;
mod operand_axis;
#[cfg(test)]
pub(crate) mod tests;

use crate::{
    html::STYLE,
    read::{ReadError, ResultDir},
    result_file::{with_partial, write_whole},
};
use assay_events::{PrecisionTable, TableRow};
use assay_files::OwnedFiles;
use atlas_data::{AtlasData, PAGE_FOLDER};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

const ATLAS_STYLE: &str = include_str!("atlas.css");

const INDEX: &str = "index.html";

/// Names of the files beside the pages of the instructions.
const FILES: [&str; 5] = ["atlas.json", "atlas.csv", "table.json", "style.css", INDEX];

/// Error of an atlas.
#[derive(Debug, thiserror::Error)]
pub enum AtlasError {
    /// A result folder cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The site cannot be written.
    #[error("cannot write the atlas to {}: {source}", path.display())]
    Write {
        /// Folder of the site.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
}

/// An atlas that has been read.
pub struct Atlas<'a>(AtlasData<'a>);

impl<'a> Atlas<'a> {
    /// Reads the results of runs; `rows` is the precision table, which gives the instructions their
    /// order.
    ///
    /// # Errors
    /// The results of a run cannot be read, or it has two results of a case.
    pub fn read(runs: &'a [ResultDir], rows: &[TableRow]) -> Result<Atlas<'a>, AtlasError> {
        Ok(Atlas(AtlasData::read(runs, rows)?))
    }

    /// Returns true if no run has a result of a precision case.
    pub fn is_empty(&self) -> bool {
        self.0.results().is_empty()
    }

    /// Returns the names of the instructions.
    pub fn instructions(&self) -> impl Iterator<Item = &str> {
        self.0.instructions.iter().map(|instruction| instruction.name.as_str())
    }

    /// Returns the number of devices.
    pub fn devices(&self) -> usize {
        self.0.devices.len()
    }

    /// Returns the number of results.
    pub fn results(&self) -> usize {
        self.0.results().len()
    }

    /// Writes the site into a folder, with the rules and doubts of `table`, which is created if necessary. Each file gets its name when it
    /// is complete, `index.html` last. Pages of an earlier atlas that this one does not have are
    /// removed.
    ///
    /// # Errors
    /// The folder cannot be written to, or has files that Assay did not write; then nothing is
    /// written. Or the results cannot be read again.
    pub fn write(&self, site: &Path, table: &PrecisionTable) -> Result<(), AtlasError> {
        let failed = |source| AtlasError::Write { path: site.to_owned(), source };
        let own = OwnedFiles::new(site);
        let pages: Vec<&str> = self.0.instructions.iter().map(|instruction| instruction.page.as_str()).collect();
        let names = || with_partial(FILES.into_iter().chain(pages.iter().copied()));
        own.check(names().chain([format!("{PAGE_FOLDER}/")])).map_err(failed)?;
        fs::create_dir_all(site).map_err(failed)?;
        own.claim([format!("{PAGE_FOLDER}/")]).map_err(failed)?;
        fs::create_dir_all(site.join(PAGE_FOLDER)).map_err(failed)?;
        own.claim(names()).map_err(failed)?;
        let text =
            |name: &str, text: &str| write_whole(site, name, |out| out.write_all(text.as_bytes())).map_err(failed);
        text("style.css", &format!("{STYLE}{ATLAS_STYLE}"))?;
        let rules = serde_json::to_string_pretty(table).map_err(|error| failed(error.into()))?;
        text("table.json", &(rules + "\n"))?;
        for (at, page) in pages.iter().enumerate() {
            text(page, &instruction_page::instruction_page(&self.0, table, at)?.into_string())?;
        }
        write_whole(site, "atlas.json", |json| write_whole(site, "atlas.csv", |csv| self.write_data(json, csv)))
            .map_err(failed)?;
        text(INDEX, &index_page::index_page(&self.0).into_string())?;
        let stale = own.recorded_in(PAGE_FOLDER).map_err(failed)?;
        let shown: Vec<String> = names().collect();
        own.remove(stale.iter().filter(|name| !shown.contains(name))).map_err(failed)
    }

    /// Writes `atlas.json` and `atlas.csv`, for which each result is read once.
    fn write_data(&self, json: &mut dyn Write, csv: &mut dyn Write) -> io::Result<()> {
        atlas_json::write_head(json, &self.0)?;
        csv.write_all(atlas_csv::head().as_bytes())?;
        let lines = |result| Ok((atlas_json::text(&result)?, atlas_csv::line(&self.0, result)));
        let mut separator = "\n";
        self.0.each_result(lines, |lines: io::Result<(String, String)>| {
            let (result, line) = lines?;
            write!(json, "{separator}{result}")?;
            separator = ",\n";
            csv.write_all(line.as_bytes())
        })?;
        writeln!(json, "\n]}}")
    }
}
