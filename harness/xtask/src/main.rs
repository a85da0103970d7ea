//! `cargo run -p xtask -- tables [--spec DIR] [--check]`: writes the SPIR-V tables of `harness/spirv/src/tables`.

mod material;
mod tables;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Chores of the project that need code")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Writes the SPIR-V tables from the specification material.
    Tables {
        /// Folder with `spirv.core.grammar.json` and its companions.
        #[arg(long, value_name = "DIR", default_value_os_t = default_spec())]
        spec: PathBuf,
        /// Writes nothing; fails if a committed table differs from what would be written.
        #[arg(long)]
        check: bool,
    },
}

/// The project's root folder.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Where the specification material usually lies: beside the project.
fn default_spec() -> PathBuf {
    root().join("../shared/spec")
}

/// Where the generated tables are committed.
fn tables_folder() -> PathBuf {
    root().join("harness/spirv/src/tables")
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Tables { spec, check } => {
            let files = tables::generate(&material::load(&spec)?)?;
            let stale = tables::stale(&tables_folder(), &files);
            if check && !stale.is_empty() {
                bail!("tables differ from the material: {}", stale.join(", "));
            }
            for name in &stale {
                let path = tables_folder().join(name);
                std::fs::create_dir_all(tables_folder())?;
                std::fs::write(&path, &files[name]).with_context(|| format!("writing {}", path.display()))?;
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    #[expect(clippy::print_stderr, reason = "a skipped test has to say so")]
    fn committed_tables_are_what_the_material_says() {
        let spec = crate::default_spec();
        if !spec.is_dir() {
            eprintln!("skipped: no specification material beside the project");
            return;
        }
        let files = crate::tables::generate(&crate::material::load(&spec).unwrap()).unwrap();
        let stale = crate::tables::stale(&crate::tables_folder(), &files);
        assert!(stale.is_empty(), "run `cargo run -p xtask -- tables`: {stale:?}");
    }
}
