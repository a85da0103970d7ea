//! Cases of the runner in a worker. They are built ahead and checked while the device computes, as
//! in a single process, and calls into the driver are announced.

use crate::Teller;
use assay_case::{Case, Columns};
use assay_runner::{DeviceInfo, Executor, Kernel, Plan, Reporter, RunOptions, Trouble};
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
    teller: &Teller,
    stop: &AtomicBool,
) -> Result<(), String> {
    let watched = Watched { executor, teller };
    let mut reporters: [Box<dyn Reporter>; 1] = [Box::new(teller.clone())];
    let ran = assay_runner::run(plan, &watched, options, &mut reporters, stop);
    ran.map(|_| ()).map_err(|error| error.to_string())
}

/// An executor that announces its calls into the driver.
struct Watched<'a> {
    executor: &'a dyn Executor,
    teller: &'a Teller,
}

impl Executor for Watched<'_> {
    fn info(&self) -> &DeviceInfo {
        self.executor.info()
    }

    fn missing(&self, case: &Case) -> Option<String> {
        self.executor.missing(case)
    }

    fn build(&self, case: &Case, capacity: usize, constants: Option<&Columns>) -> Result<Box<dyn Kernel>, Trouble> {
        let call = self.teller.enter(&case.name, "building a pipeline");
        let kernel = self.executor.build(case, capacity, constants)?;
        drop(call);
        Ok(Box::new(WatchedKernel { kernel, case: case.name.clone(), teller: self.teller.clone() }))
    }

    /// Refuses: results after a loss are not trustworthy. The coordinator ends this process and
    /// continues in another.
    fn recover(&self) -> Result<(), Trouble> {
        Err(Trouble::DeviceLost("the device was lost in an earlier case of this process".to_owned()))
    }
}

struct WatchedKernel {
    kernel: Box<dyn Kernel>,
    case: String,
    teller: Teller,
}

impl Kernel for WatchedKernel {
    fn run(&mut self, operands: &Columns, results: &mut Columns) -> Result<Duration, Trouble> {
        let _call = self.teller.enter(&self.case, "running a shader");
        self.kernel.run(operands, results)
    }
}
