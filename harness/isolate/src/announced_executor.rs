//! Cases of the runner in a worker. They are built ahead and checked while the device computes, as
//! in a single process, and calls into the driver are announced.

use crate::EventSender;
use assay_case::{Case, Columns};
use assay_events::{DeviceInfo, Reporter};
use assay_runner::{ExecError, Executor, Plan, PreparedCase, RunOptions};
use std::{sync::atomic::AtomicBool, time::Duration};

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
    let announced = AnnouncedExecutor { executor, sender };
    let mut reporters: [Box<dyn Reporter>; 1] = [Box::new(sender.clone())];
    let ran = assay_runner::run(plan, &announced, options, &mut reporters, stop);
    ran.map(|_| ()).map_err(|error| error.to_string())
}

/// An executor that announces its calls into the driver.
struct AnnouncedExecutor<'a> {
    executor: &'a dyn Executor,
    sender: &'a EventSender,
}

impl Executor for AnnouncedExecutor<'_> {
    fn info(&self) -> &DeviceInfo {
        self.executor.info()
    }

    fn missing(&self, case: &Case) -> Option<String> {
        self.executor.missing(case)
    }

    fn build(
        &self,
        case: &Case,
        capacity: usize,
        constants: Option<&Columns>,
    ) -> Result<Box<dyn PreparedCase>, ExecError> {
        let call = self.sender.begin_call(&case.name, "building a pipeline");
        let prepared = self.executor.build(case, capacity, constants)?;
        drop(call);
        Ok(Box::new(AnnouncedCase { prepared, case: case.name.clone(), sender: self.sender.clone() }))
    }

    /// Refuses: results after a loss are not trustworthy. The coordinator ends this process and
    /// continues in another.
    fn recover(&self) -> Result<(), ExecError> {
        Err(ExecError::DeviceLost("the device was lost in an earlier case of this process".to_owned()))
    }
}

struct AnnouncedCase {
    prepared: Box<dyn PreparedCase>,
    case: String,
    sender: EventSender,
}

impl PreparedCase for AnnouncedCase {
    fn run(&mut self, operands: &Columns, results: &mut Columns) -> Result<Duration, ExecError> {
        let _call = self.sender.begin_call(&self.case, "running a shader");
        self.prepared.run(operands, results)
    }
}
