//! Output files that replace an existing file only when they are complete.

use crate::exit::{self, Failure, WithCode, usage};
use anyhow::Context;
use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

/// Writes a file. A symbolic link's target is replaced, not the link; a file that is not regular,
/// such as a pipe, is written to directly.
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Failure> {
    write_with(path, |out| out.write_all(contents.as_ref()).code(exit::USAGE))
}

/// Checks, as far as possible, that [`write`] will succeed. Leaves no files behind. The file must
/// be regular or absent: opening a pipe would wait for its reader.
pub(crate) fn must_be_writable(path: &Path) -> Result<(), Failure> {
    let to = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let result = match fs::metadata(&to) {
        Ok(existing) if existing.is_dir() => Err(io::Error::other("it is a folder")),
        Ok(existing) if !existing.is_file() => {
            Err(io::Error::other("it is a device, pipe or socket; expected a regular file or a free name"))
        }
        _ => assay_files::create_temporary(folder_of(&to)).and_then(|(_, scratch)| fs::remove_file(scratch)),
    };
    result.with_context(|| format!("cannot write {}", path.display())).code(exit::USAGE)
}

/// Returns the folder of a file.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a file piece by piece, as [`write`] does: into a scratch file in the same folder, which
/// then replaces the file.
pub(crate) fn write_with(path: &Path, write: impl FnOnce(&mut File) -> Result<(), Failure>) -> Result<(), Failure> {
    let to = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if to.file_name().is_none() {
        return Err(usage(format!("{} is not a file name", path.display())));
    }
    let context = || format!("cannot write {}", path.display());
    let add_context = |failure: Failure| Failure { error: failure.error.context(context()), ..failure };
    if fs::metadata(path).is_ok_and(|existing| !existing.is_file() && !existing.is_dir()) {
        let opened = File::options().write(true).open(path).code(exit::USAGE);
        return opened.and_then(|mut file| write(&mut file)).map_err(add_context);
    }
    let (mut file, partial) = assay_files::create_temporary(folder_of(&to)).code(exit::USAGE).map_err(add_context)?;
    let written = write(&mut file).and_then(|()| fs::rename(&partial, &to).code(exit::USAGE));
    if written.is_err() {
        // An error of the cleanup would hide the original error.
        _ = fs::remove_file(&partial);
    }
    written.map_err(add_context)
}
