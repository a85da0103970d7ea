//! Row-wise interface: computes the results of precision cases.

use crate::ExecError;
use assay_case::{Case, Columns};
use assay_events::DeviceInfo;
use std::time::Duration;

/// Computes the results of cases. Threads share it: several prepare cases while one runs.
pub trait Executor: Sync {
    /// Returns the description of the device.
    fn info(&self) -> &DeviceInfo;

    /// Returns the requirements of the case that this executor does not meet, in the words of
    /// [`RequirementCheck`](assay_spirv_rules::requirements::RequirementCheck), or `None` if it can
    /// run the case.
    fn missing(&self, case: &Case) -> Option<String>;

    /// Prepares a case for columns of that capacity. `constants` contains the operands of a case
    /// with constant operands, which runs on exactly these; it is `None` for other cases.
    ///
    /// # Errors
    /// The shader or pipeline could not be created.
    fn build(
        &self,
        case: &Case,
        capacity: usize,
        constants: Option<&Columns>,
    ) -> Result<Box<dyn PreparedCase>, ExecError>;

    /// Reopens the device after [`ExecError::DeviceLost`] or [`ExecError::Timeout`]. Cases prepared
    /// before are not run again.
    ///
    /// # Errors
    /// The device cannot be reopened.
    fn recover(&self) -> Result<(), ExecError>;
}

/// A prepared case.
pub trait PreparedCase: Send {
    /// Computes one result row for each operand row, and returns the time that the device took.
    /// `results` has the same capacity as `operands` and receives as many rows.
    ///
    /// # Errors
    /// The device failed, or exceeded the time limit.
    fn run(&mut self, operands: &Columns, results: &mut Columns) -> Result<Duration, ExecError>;
}
