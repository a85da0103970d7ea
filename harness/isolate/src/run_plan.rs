//! Cases of the runner in a worker. They are built ahead and checked while the device computes, as
//! in a single process, and calls into the driver are announced.

use crate::EventSender;
use assay_events::Reporter;
use assay_exec::{AnnouncedExecutor, Executor};
use assay_runner::{Plan, RunOptions};
use std::sync::atomic::AtomicBool;

/// Runs a plan on an executor and reports to the coordinator. Once `stop` is set, it ends after the
/// current chunk.
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
    check_plan(plan, &AnnouncedExecutor::new(executor, sender), options, sender, stop)
}

/// As [`run_plan`], on an executor whose calls into the driver are announced where the device is.
///
/// # Errors
/// As [`run_plan`].
pub fn check_plan(
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
