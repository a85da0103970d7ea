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
//! | `table.json` | [`PrecisionTable`]: rules and doubts |
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
mod tests;

use crate::{
    html::STYLE,
    read::{ReadError, ResultDir},
    result_file::{with_partial, write_whole},
};
use assay_events::PrecisionTable;
use assay_files::OwnedFiles;
use atlas_data::{AtlasData, PAGE_FOLDER};
use std::{
    fs,
    io,
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

impl From<io::Error> for AtlasError {
    /// Wraps an error of a file whose name the error has.
    fn from(source: io::Error) -> AtlasError {
        AtlasError::Write { path: PathBuf::new(), source }
    }
}

/// An atlas that has been read.
pub struct Atlas<'a>(AtlasData<'a>);

impl<'a> Atlas<'a> {
    /// Reads the results of runs.
    ///
    /// # Errors
    /// The results of a run cannot be read, or it has two results of a case.
    pub fn read(runs: &'a [ResultDir], table: &'a PrecisionTable) -> Result<Atlas<'a>, AtlasError> {
        Ok(Atlas(AtlasData::read(runs, table)?))
    }

    /// Returns true if no run has a result of a precision case.
    pub fn is_empty(&self) -> bool {
        self.0.results().is_empty()
    }

    /// Returns the numbers of instructions, devices and results.
    pub fn counts(&self) -> [usize; 3] {
        [self.0.instructions.len(), self.0.devices.len(), self.0.results().len()]
    }

    /// Writes the site into a folder, which is created if necessary. Each file gets its name when it
    /// is complete, `index.html` last. Pages of an earlier atlas that this one does not have are
    /// removed.
    ///
    /// # Errors
    /// The folder cannot be written to, or has files that Assay did not write; then nothing is
    /// written. Or the results cannot be read again.
    pub fn write(&self, site: &Path) -> Result<(), AtlasError> {
        let failed = |source| AtlasError::Write { path: site.to_owned(), source };
        let own = OwnedFiles::new(site);
        let pages: Vec<&str> = self.0.instructions.iter().map(|instruction| instruction.page.as_str()).collect();
        let names = || with_partial(FILES.into_iter().chain(pages.iter().copied()));
        own.check(names().chain([format!("{PAGE_FOLDER}/")])).map_err(failed)?;
        fs::create_dir_all(site).map_err(failed)?;
        own.claim([format!("{PAGE_FOLDER}/")]).map_err(failed)?;
        fs::create_dir_all(site.join(PAGE_FOLDER)).map_err(failed)?;
        own.claim(names()).map_err(failed)?;
        let text = |name: &str, text: &str| write_whole(site, name, |out| out.write_all(text.as_bytes())).map_err(failed);
        text("style.css", &format!("{STYLE}{ATLAS_STYLE}"))?;
        let table = serde_json::to_string_pretty(self.0.table).map_err(|error| failed(error.into()))?;
        text("table.json", &(table + "\n"))?;
        for (at, page) in pages.iter().enumerate() {
            text(page, &instruction_page::instruction_page(&self.0, at)?.into_string())?;
        }
        write_whole(site, "atlas.json", |out| atlas_json::write(out, &self.0)).map_err(failed)?;
        write_whole(site, "atlas.csv", |out| atlas_csv::write(out, &self.0)).map_err(failed)?;
        text(INDEX, &index_page::index_page(&self.0).into_string())?;
        let stale = own.recorded_in(PAGE_FOLDER).map_err(failed)?;
        let shown: Vec<String> = names().collect();
        own.remove(stale.iter().filter(|name| !shown.contains(name))).map_err(failed)
    }
}
