//! `assay-rig`: runs on a device that goes wrong on demand, and runs that are killed.

use assay_isolate::{Refusal, serve};
use assay_rig::{ChaosArgs, Mock, RunArgs, chaos, run, verify};
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
    /// Runs cases
    Run {
        #[command(flatten)]
        args: RunArgs,
        /// Go on with a run that was killed
        #[arg(long)]
        resume: bool,
    },
    /// Looks whether the results of a run are right
    Verify(RunArgs),
    /// Runs cases, kills workers and coordinator at random, goes on until all is done, and looks whether it is right
    Chaos(ChaosArgs),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Worker => Ok(serve(|setup| match setup.as_str() {
            Some("refuse") => Err(Refusal { reason: "there is no device".to_owned(), code: 4 }),
            Some("die") => std::process::exit(9),
            _ => Ok(Mock::default()),
        })?),
        Command::Run { args, resume } => run(&args, resume),
        Command::Verify(args) => verify(&args, &args.out),
        Command::Chaos(args) => chaos(&args),
    }
}
