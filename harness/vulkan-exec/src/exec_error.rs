//! Errors of a Vulkan device as reasons why a case has no results.

use assay_exec::ExecError;
use assay_vulkan::Error;

/// Converts an error of a device to the reason why a case has no result; `during` names the
/// activity.
pub(crate) fn exec_error(error: Error, during: &str) -> ExecError {
    let what = format!("{during}: {error}");
    match error {
        Error::DeviceLost { .. } => ExecError::DeviceLost(what),
        Error::Timeout { .. } => ExecError::Timeout(what),
        Error::OutOfMemory { .. } => ExecError::OutOfMemory(what),
        Error::NoLoader { .. }
        | Error::NoDevice
        | Error::NoValidationLayer
        | Error::NoMatch { .. }
        | Error::Ambiguous { .. }
        | Error::NotSupported { .. }
        | Error::Invalid { .. }
        | Error::InFlight
        | Error::NotSubmitted
        | Error::Vulkan { .. } => ExecError::Internal(what),
    }
}
