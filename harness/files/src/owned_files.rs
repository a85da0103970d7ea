//! Record of the files that Assay wrote into a directory.

use crate::input;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// Name of the record in a directory.
pub const RECORD_FILE: &str = "assay-files.json";

/// The files that Assay wrote into a directory, and may overwrite and remove.
///
/// Users may choose a result directory with files of their own. A name is added to [`RECORD_FILE`]
/// before its file is written. Files that are not recorded belong to the user: Assay neither
/// overwrites nor removes them, and reports an error that names them.
#[derive(Clone, Debug)]
pub struct OwnedFiles {
    folder: PathBuf,
}

/// The contents of [`RECORD_FILE`].
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    /// Description of the file for people who find it.
    note: String,
    /// Names relative to the directory, with `/` as separator; names of directories end with `/`.
    files: BTreeSet<String>,
}

const RECORD_NOTE: &str = "Files in this folder that Assay wrote. It overwrites and removes these and no others.";

impl OwnedFiles {
    /// Creates the record of a directory, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> OwnedFiles {
        OwnedFiles { folder: folder.into() }
    }

    /// Checks that each name is unused or recorded. Names of directories end with `/`.
    ///
    /// # Errors
    /// A name belongs to another file, or the record cannot be read.
    pub fn check<S: AsRef<str>>(&self, names: impl IntoIterator<Item = S>) -> io::Result<()> {
        let files = self.files()?;
        names.into_iter().try_for_each(|name| self.check_one(&files, name.as_ref()))
    }

    /// Records names, so that their files may be written. The directory must exist.
    ///
    /// # Errors
    /// As for [`OwnedFiles::check`]; also if the record cannot be written.
    pub fn claim<S: AsRef<str>>(&self, names: impl IntoIterator<Item = S>) -> io::Result<()> {
        let mut files = self.files()?;
        let before = files.len();
        for name in names {
            self.check_one(&files, name.as_ref())?;
            files.insert(name.as_ref().to_owned());
        }
        if files.len() == before { Ok(()) } else { self.write(files) }
    }

    /// Records the name of a file that is known to be written by Assay.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub fn adopt(&self, name: &str) -> io::Result<()> {
        let mut files = self.files()?;
        if files.insert(name.to_owned()) { self.write(files) } else { Ok(()) }
    }

    /// Removes the files with these names that are recorded, and their names from the record.
    ///
    /// # Errors
    /// The record cannot be read or written, or a file cannot be removed.
    pub fn remove<S: AsRef<str>>(&self, names: impl IntoIterator<Item = S>) -> io::Result<()> {
        let mut files = self.files()?;
        let before = files.len();
        for name in names {
            if files.contains(name.as_ref()) {
                self.remove_one(name.as_ref())?;
                files.remove(name.as_ref());
            }
        }
        if files.len() == before { Ok(()) } else { self.write(files) }
    }

    /// Returns the names of the recorded files of the directory `name/`.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn recorded_in(&self, name: &str) -> io::Result<Vec<String>> {
        let inside = format!("{name}/");
        Ok(self.files()?.into_iter().filter(|file| file.starts_with(&inside) && *file != inside).collect())
    }

    /// Removes the recorded files of the directory `name/`, and the directory itself if it is
    /// recorded and then empty.
    ///
    /// # Errors
    /// The record cannot be read or written, or a file cannot be removed.
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        let inside = format!("{name}/");
        let (gone, kept): (Vec<String>, _) = self.files()?.into_iter().partition(|file| file.starts_with(&inside));
        if gone.is_empty() {
            return Ok(());
        }
        gone.iter().filter(|file| **file != inside).try_for_each(|file| self.remove_one(file))?;
        // Other files keep the directory, which stays recorded because Assay created it.
        let stays = fs::remove_dir(self.folder.join(name)).is_err() && self.folder.join(name).exists();
        self.write(kept.into_iter().chain(stays.then_some(inside)).collect())
    }

    /// Removes all recorded files, the record, and the recorded directories that are then empty.
    ///
    /// # Errors
    /// The record cannot be read, or a file cannot be removed.
    pub fn remove_all(&self) -> io::Result<()> {
        if !self.is_recorded() {
            return Ok(());
        }
        let (folders, files): (Vec<String>, Vec<String>) =
            self.files()?.into_iter().partition(|name| name.ends_with('/'));
        files.iter().try_for_each(|name| self.remove_one(name))?;
        for name in folders {
            // Other files keep the directory.
            _ = fs::remove_dir(self.folder.join(name));
        }
        self.remove_one(RECORD_FILE)?;
        _ = fs::remove_dir(&self.folder);
        Ok(())
    }

    /// Checks that a directory which belongs to Assay as a whole, such as a bundle, is recorded,
    /// empty or nonexistent.
    ///
    /// # Errors
    /// The directory contains files and no record.
    pub fn check_whole(&self) -> io::Result<()> {
        let mut entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        if entries.next().is_none() || self.is_recorded() { Ok(()) } else { Err(not_recorded_error(&self.folder)) }
    }

    fn is_recorded(&self) -> bool {
        self.folder.join(RECORD_FILE).is_file()
    }

    /// Creates an empty file with a recorded name, and replaces an existing one. A link with that
    /// name is replaced, never followed.
    ///
    /// # Errors
    /// The name exists but is not recorded, or the file cannot be created.
    pub fn create(&self, name: &str) -> io::Result<File> {
        let path = self.inside(name)?;
        let create = || File::options().write(true).create_new(true).open(&path);
        match create() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !self.files()?.contains(name) {
                    return Err(not_recorded_error(&path));
                }
                self.remove_one(name)?;
                create()
            }
            other => other,
        }
    }

    fn check_one(&self, files: &BTreeSet<String>, name: &str) -> io::Result<()> {
        let mut path = self.folder.clone();
        for part in Path::new(name).components() {
            let Component::Normal(part) = part else { return Err(outside_error(name)) };
            path.push(part);
            // A file below a link, or below another user's folder, is not in this directory.
            let is_last = path == self.folder.join(name);
            match fs::symlink_metadata(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(error),
                // Not a link: writing to it would overwrite a foreign file.
                Ok(there) if is_last && there.is_file() && !name.ends_with('/') && files.contains(name) => {}
                Ok(there) if is_last && there.is_dir() && name.ends_with('/') && files.contains(name) => {}
                Ok(there) if !is_last && there.is_dir() => {}
                Ok(there) if is_last && !there.is_dir() && !there.is_file() && files.contains(name) => {
                    return Err(not_regular_error(&path));
                }
                Ok(_) => return Err(not_recorded_error(&path)),
            }
        }
        Ok(())
    }

    /// Returns the path of a name, which must be in this directory and not below a link.
    fn inside(&self, name: &str) -> io::Result<PathBuf> {
        let parts = Path::new(name).components();
        // The record may come from elsewhere, for instance with a bundle.
        if name.is_empty() || !parts.clone().all(|part| matches!(part, Component::Normal(_))) {
            return Err(outside_error(name));
        }
        let path = self.folder.join(name);
        let mut parents = path.ancestors().skip(1).take(parts.count().saturating_sub(1));
        if parents.any(|parent| fs::symlink_metadata(parent).is_ok_and(|there| !there.is_dir())) {
            return Err(link_error(&path));
        }
        Ok(path)
    }

    fn remove_one(&self, name: &str) -> io::Result<()> {
        let path = self.inside(name)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(io::Error::new(error.kind(), format!("cannot remove {}: {error}", path.display())))
            }
            _ => Ok(()),
        }
    }

    fn files(&self) -> io::Result<BTreeSet<String>> {
        let path = self.folder.join(RECORD_FILE);
        let text = match input::read_text(&path, input::MAX_DESCRIPTION_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
            other => other
                .map_err(|error| io::Error::new(error.kind(), format!("cannot read {}: {error}", path.display())))?,
        };
        let record: Record = serde_json::from_str(&text).map_err(|error| {
            let path = path.display();
            let what =
                format!("{path} is not a list of files that Assay wrote ({error}): name another folder, or remove it");
            io::Error::new(io::ErrorKind::InvalidData, what)
        })?;
        Ok(record.files)
    }

    fn write(&self, files: BTreeSet<String>) -> io::Result<()> {
        if files.is_empty() {
            return self.remove_one(RECORD_FILE);
        }
        let text = serde_json::to_string_pretty(&Record { note: RECORD_NOTE.to_owned(), files })? + "\n";
        let (mut file, partial) = create_temporary(&self.folder)?;
        let written = file.write_all(text.as_bytes());
        let written = written.and_then(|()| fs::rename(&partial, self.folder.join(RECORD_FILE)));
        if written.is_err() {
            // The first error is more important than one from cleaning up.
            _ = fs::remove_file(&partial);
        }
        written
    }
}

/// Prefix and suffix of the names of temporary files, which are renamed or removed when complete.
const TEMPORARY_AFFIXES: (&str, &str) = (".assay-", ".partial");

/// Creates a new temporary file in a directory, never opening an existing one.
///
/// # Errors
/// The file cannot be created.
pub fn create_temporary(folder: &Path) -> io::Result<(File, PathBuf)> {
    let process = std::process::id();
    let mut number = 0;
    loop {
        let path = folder.join(temporary_name(process, number));
        match File::options().write(true).create_new(true).open(&path) {
            // A killed process with the same number left its file here.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            other => return other.map(|file| (file, path)),
        }
    }
}

fn temporary_name(process: u32, number: u32) -> String {
    let (begin, end) = TEMPORARY_AFFIXES;
    format!("{begin}{process}-{number}{end}")
}

/// Removes the temporary files that [`create_temporary`] created for processes of this machine that
/// have ended. Failures are ignored because such files do no harm. Removes nothing on systems
/// without `/proc`, which lists the running processes.
pub fn remove_stale_temporaries(folder: &Path) {
    if !Path::new("/proc/self").exists() {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let process = entry.file_name().to_str().and_then(process_of_temporary);
        if process.is_some_and(|process| !Path::new("/proc").join(process.to_string()).exists()) {
            _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns the process in the name of a file that [`create_temporary`] creates; `None` for any
/// other name.
fn process_of_temporary(name: &str) -> Option<u32> {
    let (begin, end) = TEMPORARY_AFFIXES;
    let (process, number) = name.strip_prefix(begin)?.strip_suffix(end)?.split_once('-')?;
    let (process, number) = (process.parse().ok()?, number.parse().ok()?);
    (temporary_name(process, number) == name).then_some(process)
}

fn not_regular_error(path: &Path) -> io::Error {
    let path = path.display();
    let what = format!(
        "{path} is in the way: it is no longer the regular file that {RECORD_FILE} lists; move it, or choose another folder"
    );
    io::Error::new(io::ErrorKind::AlreadyExists, what)
}

fn not_recorded_error(path: &Path) -> io::Error {
    let path = path.display();
    let what = format!(
        "{path} is in the way: {RECORD_FILE} does not list it, so it is not Assay's to overwrite; move it, or name another folder"
    );
    io::Error::new(io::ErrorKind::AlreadyExists, what)
}

/// The name leads out of the directory.
fn outside_error(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("'{name}' is not a file below the folder of its {RECORD_FILE}"))
}

/// A directory on the way to the file is a link or a file.
fn link_error(path: &Path) -> io::Error {
    let path = path.display();
    let what =
        format!("{path} lies behind a link or a file, so it is not in the folder of its {RECORD_FILE}; move that away");
    io::Error::new(io::ErrorKind::AlreadyExists, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(result: io::Result<()>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn only_recorded_files_are_overwritten_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (own, path) = (OwnedFiles::new(dir.path()), |name: &str| dir.path().join(name));
        fs::write(path("theirs"), "theirs").unwrap();
        let refused = error(own.claim(["ours", "theirs"]));
        assert!(refused.contains("theirs is in the way") && refused.contains("name another folder"), "{refused}");
        assert!(!path(RECORD_FILE).exists(), "nothing is recorded where one name is refused");
        own.claim(["ours"]).unwrap();
        fs::write(path("ours"), "ours").unwrap();
        own.check(["ours", "free"]).unwrap();
        own.remove(["ours", "theirs"]).unwrap();
        assert!(!path("ours").exists() && path("theirs").exists());
        assert!(!path(RECORD_FILE).exists(), "nothing is left to record");
        own.claim(["ours"]).unwrap();
        fs::write(path("ours"), "again").unwrap();
        own.claim(["ours", "free"]).unwrap();
        own.remove_all().unwrap();
        assert!(!path("ours").exists() && !path(RECORD_FILE).exists() && path("theirs").exists());
    }

    #[test]
    fn folders_are_removed_unless_they_contain_other_files() {
        let dir = tempfile::tempdir().unwrap();
        let (own, path) = (OwnedFiles::new(dir.path()), |name: &str| dir.path().join(name));
        let make = || {
            own.claim(["pictures/"]).unwrap();
            fs::create_dir_all(path("pictures")).unwrap();
            own.claim(["pictures/a.png"]).unwrap();
            fs::write(path("pictures/a.png"), "").unwrap();
        };
        make();
        own.remove_folder("pictures").unwrap();
        assert!(!path("pictures").exists());
        make();
        fs::write(path("pictures/b.png"), "").unwrap();
        own.remove_folder("pictures").unwrap();
        assert!(!path("pictures/a.png").exists() && path("pictures/b.png").exists());
        own.check(["pictures/"]).unwrap();
        assert!(error(own.check(["pictures/b.png"])).contains("b.png is in the way"));
        // A directory that Assay did not create.
        fs::create_dir(path("photos")).unwrap();
        assert!(error(own.check(["photos/"])).contains("photos is in the way"));
        own.remove_folder("photos").unwrap();
        assert!(path("photos").exists());
    }

    #[test]
    #[cfg(unix)]
    fn records_cannot_refer_to_files_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        fs::create_dir_all(dir.path().join("photos")).unwrap();
        fs::create_dir(&out).unwrap();
        let secret = dir.path().join("photos/a.png");
        fs::write(&secret, "").unwrap();
        std::os::unix::fs::symlink(dir.path().join("photos"), out.join("pictures")).unwrap();
        let own = OwnedFiles::new(&out);
        for name in ["../photos/a.png", secret.to_str().unwrap(), "pictures/a.png"] {
            let text = serde_json::to_string(&Record { note: String::new(), files: [name.to_owned()].into() }).unwrap();
            fs::write(out.join(RECORD_FILE), text).unwrap();
            own.remove_all().unwrap_err();
            own.remove([name]).unwrap_err();
            own.claim([name]).unwrap_err();
            assert!(secret.exists(), "{name}");
        }
        fs::write(out.join(RECORD_FILE), "{}").unwrap();
        assert!(error(own.check(["a"])).contains("is not a list of files that Assay wrote"));
    }

    /// A name that Assay recorded was replaced by a link later: writing must not follow it.
    #[test]
    #[cfg(unix)]
    fn links_at_recorded_names_are_refused_and_never_followed() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        fs::create_dir(&out).unwrap();
        let (own, victim, link) = (OwnedFiles::new(&out), dir.path().join("victim"), out.join("ours"));
        fs::write(&victim, "theirs").unwrap();
        own.claim(["ours", "pictures/"]).unwrap();
        for to in [victim.as_path(), Path::new("/nonexistent"), dir.path()] {
            std::os::unix::fs::symlink(to, &link).unwrap();
            for refused in [own.check(["ours"]), own.claim(["ours"])] {
                let refused = error(refused);
                assert!(refused.contains("ours is in the way: it is no longer the regular file"), "{refused}");
            }
            // One that becomes a link after the check gives way to a file of that name.
            own.create("ours").unwrap().write_all(b"ours").unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_file());
            assert_eq!(fs::read_to_string(&link).unwrap(), "ours");
            fs::remove_file(&link).unwrap();
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "theirs");
        assert!(std::process::Command::new("mkfifo").arg(&link).status().unwrap().success());
        assert!(error(own.claim(["ours"])).contains("it is no longer the regular file"));
        // A directory of pictures may not become a link, either.
        std::os::unix::fs::symlink(dir.path(), out.join("pictures")).unwrap();
        assert!(error(own.claim(["pictures/"])).contains("pictures is in the way"));
        assert!(error(own.create("pictures/a.png").map(drop)).contains("a.png lies behind a link"));
    }

    #[test]
    fn only_recorded_files_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (own, path) = (OwnedFiles::new(dir.path()), |name: &str| dir.path().join(name));
        own.claim(["ours"]).unwrap();
        for text in ["first, which is longer", "second"] {
            own.create("ours").unwrap().write_all(text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(path("ours")).unwrap(), text);
        }
        fs::write(path("theirs"), "theirs").unwrap();
        assert!(error(own.create("theirs").map(drop)).contains("theirs is in the way"));
        assert_eq!(fs::read_to_string(path("theirs")).unwrap(), "theirs");
    }

    #[test]
    fn only_temporary_files_of_ended_processes_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let dead = {
            let mut child = std::process::Command::new("true").spawn().unwrap();
            child.wait().unwrap();
            child.id()
        };
        let alive = std::process::id();
        let swept = [format!(".assay-{dead}-0.partial"), format!(".assay-{dead}-17.partial")];
        let kept = [
            format!(".assay-{alive}-0.partial"),
            format!(".assay-{dead}.partial"),
            format!(".assay-{dead}-.partial"),
            format!(".assay-{dead}-1x.partial"),
            format!(".assay-+{dead}-1.partial"),
            format!(".assay-{dead}-1.partial.bak"),
            ".assay-notes.partial".to_owned(),
            ".assay-.partial".to_owned(),
        ];
        swept.iter().chain(&kept).for_each(|name| fs::write(dir.path().join(name), "").unwrap());
        remove_stale_temporaries(dir.path());
        let there = |name: &String| dir.path().join(name).exists();
        if cfg!(target_os = "linux") {
            assert_eq!(swept.iter().find(|name| there(name)), None);
        }
        assert_eq!(kept.iter().find(|name| !there(name)), None);
    }

    #[test]
    fn unrecorded_folders_with_files_are_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let bundle = dir.path().join("bundle");
        let own = OwnedFiles::new(&bundle);
        own.check_whole().unwrap();
        fs::create_dir(&bundle).unwrap();
        own.check_whole().unwrap();
        fs::write(bundle.join("README.txt"), "").unwrap();
        assert!(error(own.check_whole()).contains("bundle is in the way"));
        own.remove_all().unwrap();
        assert!(bundle.join("README.txt").exists());
    }
}
