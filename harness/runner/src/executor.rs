//! The seam between the runner and whatever computes results: a Vulkan device or a synthetic one. Processes are another's
//! concern: `assay_isolate` runs all of this in one.

use crate::{DeviceInfo, Status};
use assay_case::{Case, Columns};
use std::time::Duration;

/// Computes what cases ask for. Shared by threads: kernels are built on several while one runs.
pub trait Executor: Sync {
    /// What it is.
    fn info(&self) -> &DeviceInfo;

    /// What the case needs and this executor lacks, in the words of the [`Verdict`](assay_spirv::need::Verdict); `None`
    /// if it can run it.
    fn missing(&self, case: &Case) -> Option<String>;

    /// Prepares a case for columns of that capacity. For a case whose operands are constants they are `constants`, and the
    /// kernel is run on just these; for the others that is `None`.
    ///
    /// # Errors
    /// The shader or pipeline could not be made.
    fn build(&self, case: &Case, capacity: usize, constants: Option<&Columns>) -> Result<Box<dyn Kernel>, Trouble>;

    /// Called after [`Trouble::DeviceLost`] and [`Trouble::Timeout`]: opens the device anew. Kernels that were built before are
    /// not run any more.
    ///
    /// # Errors
    /// It cannot be opened again.
    fn recover(&self) -> Result<(), Trouble>;
}

/// A prepared case.
pub trait Kernel: Send {
    /// Computes one result row per operand row. `results` has the same capacity as `operands` and receives as many rows.
    /// Returns how long the device took.
    ///
    /// # Errors
    /// The device failed, or took longer than the time limit.
    fn run(&mut self, operands: &Columns, results: &mut Columns) -> Result<Duration, Trouble>;
}

/// Why there are no results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The device was lost.
    #[error("{0}")]
    DeviceLost(String),
    /// The time limit passed.
    #[error("{0}")]
    Timeout(String),
    /// No memory on the host or the device.
    #[error("{0}")]
    OutOfMemory(String),
    /// The driver refused a shader that is valid.
    #[error("{0}")]
    Pipeline(String),
    /// The harness is at fault.
    #[error("{0}")]
    Internal(String),
}

impl Trouble {
    /// The status of a case that ended like this.
    pub fn status(&self) -> Status {
        match self {
            Trouble::DeviceLost(_) => Status::DeviceLost,
            Trouble::Timeout(_) => Status::Timeout,
            Trouble::OutOfMemory(_) => Status::Undetermined,
            // A driver that refuses a valid shader does not do what it should.
            Trouble::Pipeline(_) => Status::Fail,
            Trouble::Internal(_) => Status::InternalError,
        }
    }
}
