//! Embeds the shaders of `shaders/compute/`, each with its case file if it has one.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let shaders = root.join("shaders/compute");
    let mut files = Vec::new();
    collect(&shaders, &mut files)?;
    let (cases, files): (Vec<PathBuf>, _) =
        files.into_iter().partition(|file| file.extension() == Some("toml".as_ref()));
    let mut used = Vec::new();
    let mut text = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&shaders).map_err(io::Error::other)?;
        let case = file.with_extension("toml");
        let embedded = if case.exists() { format!("Some(include_str!({case:?}))") } else { "None".to_owned() };
        let name = name.to_string_lossy().replace('\\', "/");
        writeln!(text, "    ({name:?}, include_str!({file:?}), {embedded}),").map_err(io::Error::other)?;
        used.push(case);
    }
    text.push_str("]\n");
    if let Some(lost) = cases.iter().find(|file| !used.contains(file)) {
        let what = format!("{}: no shader with this name in the same folder", lost.display());
        return Err(io::Error::other(what));
    }
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("compute.rs"), text)
}

/// Collects the files of a folder recursively, sorted by path.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    // Cargo tracks the folder's listing, so added and removed files trigger a rebuild.
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
