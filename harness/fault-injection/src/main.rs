//! `assay-fault-injection`: runs on a device with injected faults, and runs that are killed.

use assay_fault_injection::{
    ChaosArgs, CheckingBackend, EndlessShaderBackend, FaultInjectionBackend, FaultRunArgs, chaos, run, verify,
};
use assay_isolate::{Launch, Refusal, WorkerBackend, serve, serve_for_device, supervise};
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::time::Duration;

#[derive(Debug, Parser)]
#[command(name = "assay-fault-injection", about = "Runs cases on a device with injected faults")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run as a worker that takes its orders on stdin
    Worker,
    /// Run as the supervisor of such a worker
    Supervise,
    /// Run as a worker that checks the results of the supervised worker that a command starts
    Check {
        #[arg(last = true)]
        command: Vec<OsString>,
    },
    /// Run cases
    Run {
        #[command(flatten)]
        args: FaultRunArgs,
        /// Resume a run that was killed
        #[arg(long)]
        resume: bool,
    },
    /// Check the results of a run
    Verify(FaultRunArgs),
    /// Run cases, kill workers and coordinator at random, resume until all are done, and check the
    /// results
    Chaos(ChaosArgs),
}

fn open(setup: serde_json::Value) -> Result<Box<dyn WorkerBackend>, Refusal> {
    if let (Some(device), Some(limit)) = (setup["device"].as_str(), setup["limit"].as_f64()) {
        return Ok(Box::new(EndlessShaderBackend::open(device, Duration::from_secs_f64(limit))?));
    }
    match setup.as_str() {
        Some("refuse") => Err(Refusal { reason: "there is no device".to_owned(), code: 4 }),
        Some("die") => std::process::exit(9),
        Some("never") => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        _ => Ok(Box::new(FaultInjectionBackend::default())),
    }
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Worker => Ok(serve(open)?),
        Command::Supervise => {
            let program = std::env::current_exe()?;
            Ok(supervise(Launch { program, arguments: vec!["worker".into()], ..Launch::default() })?)
        }
        Command::Check { command } => Ok(serve_for_device(&command, |_, device| {
            CheckingBackend::new(device).map_err(|error| Refusal { reason: error.to_string(), code: 70 })
        })?),
        Command::Run { args, resume } => run(&args, resume),
        Command::Verify(args) => verify(&args, &args.out),
        Command::Chaos(args) => chaos(&args),
    }
}
