//! The seam between the runner and whatever computes results: a Vulkan device, a synthetic device, later a worker
//! process.

use crate::DeviceInfo;
use assay_case::{Case, Columns};
use std::time::Duration;

/// Computes what cases ask for. Shared by threads: pipelines are built on several while one runs.
pub trait Executor: Sync {
    /// What it is.
    fn info(&self) -> &DeviceInfo;

    /// What the case needs and this executor lacks, by its name (`shaderDenormPreserveFloat32`); `None` if it can run
    /// it.
    fn missing(&self, case: &Case) -> Option<String>;

    /// Prepares a case. For a case whose operands are constants they are `constants`; for the others that is `None`.
    ///
    /// # Errors
    /// The shader or pipeline could not be made.
    fn build(&self, case: &Case, constants: Option<&Columns>) -> Result<Box<dyn Kernel + '_>, Trouble>;

    /// Called after [`Trouble::DeviceLost`], when no kernel is left: opens the device anew.
    ///
    /// # Errors
    /// It cannot be opened again.
    fn recover(&self) -> Result<(), Trouble>;

    /// What a validation layer said since the last call; empty without one.
    fn validation_messages(&self) -> Vec<String>;
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
    #[error("device lost while {0}")]
    DeviceLost(String),
    /// The time limit passed.
    #[error("time limit passed while {0}")]
    Timeout(String),
    /// No memory on the host or the device.
    #[error("out of memory while {0}")]
    OutOfMemory(String),
    /// The driver refused a shader or pipeline.
    #[error("pipeline creation failed: {0}")]
    Pipeline(String),
    /// The harness is at fault.
    #[error("{0}")]
    Internal(String),
}
