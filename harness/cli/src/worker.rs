//! `assay worker`: the worker process of a run or a check, which opens one device.

use crate::{
    check::{CheckSetup, CheckWorker},
    exit::{self, Failure, WithCode},
    run::{RunSetup, RunWorker},
};
use assay_isolate::{Launch, Refusal, RemoteDevice, WorkerBackend};
use clap::Args;
use serde::Deserialize;
use std::ffi::OsString;

/// Options of `assay worker`.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Run the worker in a child process, and report its end
    #[arg(long)]
    pub(crate) supervised: bool,

    /// Check the results of the device of the supervised worker that this command starts
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "supervised")]
    pub(crate) command: Vec<OsString>,
}

/// Request of the coordinator that started this process.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum WorkerSetup {
    Run(Box<RunSetup>),
    Check(Box<CheckSetup>),
}

/// Serves the coordinator that started this process.
pub(crate) fn serve(args: &WorkerArgs) -> Result<u8, Failure> {
    if args.supervised {
        let program = std::env::current_exe().code(exit::INTERNAL)?;
        let launch = Launch { program, arguments: vec!["worker".into()], ..Launch::default() };
        assay_isolate::supervise(launch).code(exit::INTERNAL)?;
        return Ok(exit::OK);
    }
    let served = match args.command.as_slice() {
        [] => assay_isolate::serve(|setup| open(setup, None).map_err(refuse)),
        command => assay_isolate::serve_for_device(command, |setup, device| open(setup, Some(device)).map_err(refuse)),
    };
    served.code(exit::INTERNAL)?;
    Ok(exit::OK)
}

/// Opens the backend for a run or a check, with a device of this machine or one elsewhere.
fn open(setup: serde_json::Value, elsewhere: Option<RemoteDevice>) -> Result<Box<dyn WorkerBackend>, Failure> {
    Ok(match serde_json::from_value(setup).code(exit::INTERNAL)? {
        WorkerSetup::Run(setup) => Box::new(RunWorker::open(*setup, elsewhere)?),
        WorkerSetup::Check(setup) => Box::new(CheckWorker::open(*setup, elsewhere)?),
    })
}

fn refuse(failure: Failure) -> Refusal {
    Refusal { reason: failure.to_string(), code: failure.code }
}
