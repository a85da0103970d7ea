//! Bounded reading of regular files.
//!
//! A device such as `/dev/zero` has no end, and opening a FIFO waits for a writer. So a path must
//! denote a regular file. The exception is a descriptor that this process was started with
//! (`/dev/stdin`, or the path that a shell passes for `<(command)`), because the caller opened it
//! on purpose. Each reader takes a limit.

use std::fs::{self, File};
use std::io::{self, BufRead, Read};
use std::path::{Component, Path, PathBuf};

/// Largest size of a shader in bytes, as text or as words.
pub const MAX_SHADER_BYTES: u64 = 256 << 20;

/// Largest size of a case file in bytes. Reading TOML takes about 80 bytes of memory per byte.
pub const MAX_CASE_BYTES: u64 = 8 << 20;

/// Largest size of a waiver file, manifest or device description in bytes.
pub const MAX_DESCRIPTION_BYTES: u64 = 64 << 20;

/// Largest size of a buffer's contents, a list of cases or a table of results in bytes.
pub const MAX_DATA_BYTES: u64 = 1 << 30;

/// Longest line of a result file in bytes.
pub const MAX_LINE_BYTES: u64 = 64 << 20;

/// Opens a regular file for reading, or a descriptor that this process was started with.
///
/// # Errors
/// The file is neither, or cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    if is_own_descriptor(path) {
        return File::open(path);
    }
    // Checked before opening, because opening a FIFO waits for its writer.
    must_be_regular(&fs::metadata(path)?)?;
    let file = File::open(path)?;
    must_be_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// The file is not regular, is longer than `limit`, or cannot be read.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    // Checked before any contents are read into memory.
    let length = file.metadata()?.len();
    if length > limit {
        return Err(too_long_error(limit));
    }
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_long_error(limit)) } else { Ok(bytes) }
}

/// Reads a regular file of at most `limit` bytes of UTF-8.
///
/// # Errors
/// As for [`read`]; also if the file is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(path, limit)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::new(io::ErrorKind::InvalidData, format!("byte {at} is not UTF-8"))
    })
}

/// Appends a line of at most `limit` bytes, including its line break. Returns the number of bytes;
/// 0 at the end.
///
/// # Errors
/// The line is longer, or the reader fails.
pub fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>, limit: u64) -> io::Result<usize> {
    let read = reader.take(limit + 1).read_until(b'\n', line)?;
    if read as u64 > limit {
        let what = format!("a line is longer than {limit} bytes, the limit for lines");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(read)
}

/// Resolves a path that a file in `folder` refers to. The result is below `folder`, also after
/// following links.
///
/// A path that does not exist yet is resolved by its text alone; reading it fails afterwards.
///
/// # Errors
/// The path is absolute, contains `..`, or leaves the folder through a link.
pub fn resolve_below(folder: &Path, named: &Path) -> io::Result<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let outside = |how: &str| {
        let (named, folder) = (named.display(), folder.display());
        let what = format!("'{named}' {how}: only files below {folder} are read; copy the file there");
        io::Error::new(io::ErrorKind::PermissionDenied, what)
    };
    let mut parts = named.components();
    if !parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(outside("leads out of the folder of the file that names it"));
    }
    // Not canonicalised, so that messages show the path as the user wrote it.
    let path = if folder == Path::new(".") { named.to_owned() } else { folder.join(named) };
    match path.canonicalize() {
        Ok(real) if !real.starts_with(folder.canonicalize()?) => {
            Err(outside("is a link that leads out of the folder of the file that names it"))
        }
        _ => Ok(path),
    }
}

/// Returns the length of a regular file in bytes.
///
/// # Errors
/// The file is not regular, or does not exist.
pub fn regular_file_length(path: &Path) -> io::Result<u64> {
    let there = fs::metadata(path)?;
    must_be_regular(&there)?;
    Ok(there.len())
}

fn must_be_regular(there: &fs::Metadata) -> io::Result<()> {
    if there.is_file() {
        return Ok(());
    }
    let what =
        if there.is_dir() { "it is a directory" } else { "it is not a regular file, but a device, pipe or socket" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{what}; expected a regular file")))
}

fn too_long_error(limit: u64) -> io::Error {
    let what = format!("it is longer than {limit} bytes, the limit for such files");
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

/// Returns true if a path denotes a descriptor that this process was started with.
fn is_own_descriptor(path: &Path) -> bool {
    let Some(text) = path.to_str() else { return false };
    let number = text.strip_prefix("/dev/fd/").or_else(|| text.strip_prefix("/proc/self/fd/"));
    text == "/dev/stdin" || number.is_some_and(|number| number.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_files_are_read_up_to_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "four").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"four");
        assert_eq!(read_text(&path, 4).unwrap(), "four");
        let error = read(&path, 3).unwrap_err();
        assert!(error.to_string().contains("longer than 3 bytes"), "{error}");
        // The length of a sparse file is rejected before a buffer of that size is allocated.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(read(&path, MAX_DATA_BYTES).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        fs::write(&path, b"a\xff").unwrap();
        assert!(read_text(&path, 4).unwrap_err().to_string().contains("byte 1 is not UTF-8"));
    }

    #[test]
    #[cfg(unix)]
    fn devices_pipes_and_directories_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("zero");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        let fifo = dir.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        for (path, what) in
            [(&link, "not a regular file"), (&fifo, "not a regular file"), (&dir.path().into(), "a directory")]
        {
            for error in [read(path, 4).unwrap_err(), open(path).unwrap_err(), regular_file_length(path).unwrap_err()] {
                assert!(error.to_string().contains(what), "{}: {error}", path.display());
            }
        }
    }

    #[test]
    fn only_own_descriptors_are_recognised() {
        for own in ["/dev/stdin", "/dev/fd/63", "/proc/self/fd/0"] {
            assert!(is_own_descriptor(Path::new(own)), "{own}");
        }
        for other in ["/dev/zero", "/dev/fd/../zero", "/dev/fd/", "/proc/self/fd/x", "stdin", "-"] {
            assert!(!is_own_descriptor(Path::new(other)), "{other}");
        }
    }

    #[test]
    fn lines_are_read_up_to_the_limit() {
        let mut reader = &b"ab\ncdef\ng"[..];
        let mut line = Vec::new();
        assert_eq!(read_line(&mut reader, &mut line, 5).unwrap(), 3);
        assert_eq!(read_line(&mut reader, &mut line, 5).unwrap(), 5);
        assert_eq!(read_line(&mut reader, &mut line, 5).unwrap(), 1);
        assert_eq!(read_line(&mut reader, &mut line, 5).unwrap(), 0);
        assert_eq!(line, b"ab\ncdef\ng");
        assert!(read_line(&mut &b"cdefg\n"[..], &mut line, 5).is_err());
        // A reader without end is abandoned at the limit.
        assert!(read_line(&mut io::BufReader::new(io::repeat(b'x')), &mut line, 1 << 20).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn paths_outside_the_folder_are_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, outside) = (dir.path().join("case"), dir.path().join("secret"));
        fs::create_dir_all(inside.join("sub")).unwrap();
        fs::write(&outside, "secret").unwrap();
        fs::write(inside.join("sub/shader"), "shader").unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        std::os::unix::fs::symlink(inside.join("sub"), inside.join("there")).unwrap();
        let of = |named: &str| resolve_below(&inside, Path::new(named));
        for named in ["sub/shader", "./sub/shader", "there/shader", "gone"] {
            assert_eq!(of(named).unwrap(), inside.join(named), "{named}");
        }
        for named in ["../secret", "sub/../../secret", outside.to_str().unwrap(), "link"] {
            let error = of(named).unwrap_err().to_string();
            assert!(error.contains("leads out of the folder") && error.contains(named), "{named}: {error}");
        }
        assert_eq!(resolve_below(Path::new(""), Path::new("gone")).unwrap(), Path::new("gone"));
    }
}
