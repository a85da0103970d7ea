//! `cargo run -p xtask -- tables [--spec DIR] [--check]` writes the generated tables: those of
//! SPIR-V in `harness/spirv/src/tables`, and those of Vulkan devices in
//! `harness/vulkan/src/features`.

mod device_tables;
mod spec_sources;
mod spirv_tables;
mod vulkan_registry;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Development tasks")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the tables from the specification sources
    Tables {
        /// Directory with `spirv.core.grammar.json`, `vk.xml` and their companions
        #[arg(long, value_name = "DIR", default_value_os_t = default_spec())]
        spec: PathBuf,
        /// Write nothing; fail if a committed table is out of date
        #[arg(long)]
        check: bool,
    },
}

/// Returns the root directory of the project.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Returns the usual directory of the specification sources, next to the project.
fn default_spec() -> PathBuf {
    root().join("../shared/spec")
}

/// Generates every file; the keys are paths relative to the root of the project.
fn files(spec: &Path) -> Result<BTreeMap<String, String>> {
    let sources = spec_sources::load(spec)?;
    let spirv = spirv_tables::generate(&sources)?.into_iter().map(|file| ("harness/spirv/src/tables", file));
    let devices = device_tables::generate(&sources.registry, &sources.enabling)?;
    let devices = devices.into_iter().map(|file| ("harness/vulkan/src/features", file));
    Ok(spirv.chain(devices).map(|(folder, (name, text))| (format!("{folder}/{name}"), text)).collect())
}

/// Returns the files whose committed contents differ.
fn stale(files: &BTreeMap<String, String>) -> Vec<&str> {
    let differs = |path: &str, text: &String| std::fs::read_to_string(root().join(path)).ok().as_ref() != Some(text);
    files.iter().filter(|(path, text)| differs(path, text)).map(|(path, _)| path.as_str()).collect()
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Tables { spec, check } => {
            let files = files(&spec)?;
            let stale = stale(&files);
            if check && !stale.is_empty() {
                bail!("tables differ from the sources: {}", stale.join(", "));
            }
            for path in stale {
                std::fs::write(root().join(path), &files[path]).with_context(|| format!("writing {path}"))?;
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    #[expect(clippy::print_stderr, reason = "a skipped test has to say so")]
    fn committed_tables_are_up_to_date() {
        let spec = crate::default_spec();
        if !spec.is_dir() {
            eprintln!("skipped: no specification sources beside the project");
            return;
        }
        let files = crate::files(&spec).unwrap();
        let stale = crate::stale(&files);
        assert!(stale.is_empty(), "run `cargo run -p xtask -- tables`: {stale:?}");
    }
}
