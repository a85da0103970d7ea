//! `assay-rig`: workers with a device that goes wrong on demand.

use assay_isolate::{Refusal, serve};
use assay_rig::Mock;
use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "assay-rig", about = "Runs cases on a device that goes wrong on demand")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// A worker; takes its orders on stdin
    Worker,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Worker => serve(|setup| match setup.as_str() {
            Some("refuse") => Err(Refusal { reason: "there is no device".to_owned(), code: 4 }),
            Some("die") => std::process::exit(9),
            _ => Ok(Mock::default()),
        })?,
    }
    Ok(())
}
