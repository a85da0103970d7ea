//! `assay-rig`: runs on a device that goes wrong on demand, and runs that are killed.

use assay_isolate::{Bench, Refusal, serve};
use assay_rig::{ChaosArgs, Mock, Real, RunArgs, chaos, run, verify};
use clap::{Parser, Subcommand};
use std::time::Duration;

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

fn open(setup: serde_json::Value) -> Result<Box<dyn Bench>, Refusal> {
    if let (Some(device), Some(limit)) = (setup["device"].as_str(), setup["limit"].as_f64()) {
        return Ok(Box::new(Real::open(device, Duration::from_secs_f64(limit))?));
    }
    match setup.as_str() {
        Some("refuse") => Err(Refusal { reason: "there is no device".to_owned(), code: 4 }),
        Some("die") => std::process::exit(9),
        Some("never") => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        _ => Ok(Box::new(Mock::default())),
    }
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Worker => Ok(serve(open)?),
        Command::Run { args, resume } => run(&args, resume),
        Command::Verify(args) => verify(&args, &args.out),
        Command::Chaos(args) => chaos(&args),
    }
}
