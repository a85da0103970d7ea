//! Names of the files of a result directory, and files that get their name when they are complete.

use assay_files::OwnedFiles;
use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

pub(crate) const DEVICE: &str = "device.json";
pub(crate) const RESULTS: &str = "results.jsonl";
pub(crate) const STANDINGS: &str = "standings.jsonl";
pub(crate) const WAIVERS_LEFT: &str = "waivers.txt";
/// The page. The command line writes it; it is removed together with the results that it shows.
pub(crate) const PAGE: &str = "report.html";
pub(crate) const PARTIAL: &str = ".partial";

/// Returns each name with and without the suffix of an unfinished file.
pub(crate) fn with_partial<'a>(names: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = String> {
    names.into_iter().flat_map(|name| [name.to_owned(), format!("{name}{PARTIAL}")])
}

/// A file that has a temporary name until it is complete.
#[derive(Debug)]
pub(crate) struct PartialFile {
    partial: PathBuf,
    path: PathBuf,
    pub(crate) out: BufWriter<File>,
}

impl PartialFile {
    /// Creates the temporary file after recording it as Assay's.
    pub(crate) fn create(folder: &Path, name: &str) -> io::Result<PartialFile> {
        let own = OwnedFiles::new(folder);
        own.claim(with_partial([name]))?;
        let name_of_partial = format!("{name}{PARTIAL}");
        let out = BufWriter::with_capacity(1 << 16, own.create(&name_of_partial)?);
        let partial = folder.join(name_of_partial);
        Ok(PartialFile { partial, path: folder.join(name), out })
    }

    /// Renames the file to its final name.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let written = self.out.flush().and_then(|()| self.out.get_ref().sync_all());
        match written.and_then(|()| fs::rename(&self.partial, &self.path)) {
            Ok(()) => Ok(()),
            Err(error) => {
                // Report the original error rather than one from the clean-up.
                _ = fs::remove_file(&self.partial);
                Err(error)
            }
        }
    }
}

/// Writes a file under a temporary name and renames it.
pub(crate) fn write_whole(
    folder: &Path,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = PartialFile::create(folder, name)?;
    match write(&mut file.out) {
        Ok(()) => file.finish(),
        Err(error) => {
            _ = fs::remove_file(&file.partial);
            Err(error)
        }
    }
}
