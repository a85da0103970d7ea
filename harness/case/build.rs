//! Embeds every family under `cases/` into the binary. The folder and `shaders/` are links, so that
//! the package of this crate contains their files. The suites embed the case files of shaders,
//! which lie beside these.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").canonicalize()?;
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut text = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&root).map_err(io::Error::other)?.to_string_lossy().replace('\\', "/");
        writeln!(text, "    ({name:?}, include_str!({file:?})),").map_err(io::Error::other)?;
    }
    text.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("families.rs"), text)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    // A change of a directory is a change of its list of files, so added and removed files are
    // noticed.
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
    Ok(())
}
