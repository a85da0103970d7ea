//! Cases of the runner in a worker. They are built ahead and checked while the device computes, as
//! in a single process.

use crate::EventSender;
use assay_events::Reporter;
use assay_exec::Executor;
use assay_runner::{Plan, RunOptions};
use std::sync::atomic::AtomicBool;

/// Runs a plan on an executor and reports to the coordinator. Once `stop` is set, it ends after the
/// current chunk. The calls of the executor into the driver must be announced, here
/// ([`AnnouncedExecutor`](assay_exec::AnnouncedExecutor)) or where the device is
/// ([`RemoteDevice`](crate::RemoteDevice)).
///
/// # Errors
/// The run was aborted.
pub fn run_plan(
    plan: &Plan,
    executor: &dyn Executor,
    options: &RunOptions,
    sender: &EventSender,
    stop: &AtomicBool,
) -> Result<(), String> {
    let mut reporters: [Box<dyn Reporter>; 1] = [Box::new(sender.clone())];
    let ran = assay_runner::run(plan, executor, options, &mut reporters, stop);
    ran.map(|_| ()).map_err(|error| error.to_string())
}
