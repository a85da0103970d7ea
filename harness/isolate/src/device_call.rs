//! Calls of a device by a worker on another machine, and their answers.

use assay_case::Case;
use assay_exec::ExecError;
use assay_runner::CaseRequest;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A case with its name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NamedCase {
    name: String,
    request: CaseRequest,
}

impl NamedCase {
    pub(crate) fn of(case: &Case) -> NamedCase {
        NamedCase { name: case.name.clone(), request: CaseRequest::of(case) }
    }

    pub(crate) fn case(self) -> Result<Case, ExecError> {
        self.request.case(self.name).map_err(ExecError::Internal)
    }
}

/// A call of an [`Executor`](assay_exec::Executor) or a [`Target`](assay_exec::Target). The caller numbers the
/// cases that it prepares and the memory that it allocates.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeviceCall {
    /// [`Executor::missing`](assay_exec::Executor::missing).
    Missing { case: NamedCase },
    /// [`Executor::build`](assay_exec::Executor::build). The data are the rows of the constants, if there
    /// are any.
    Build { case: NamedCase, prepared: u64, capacity: usize, constants: Option<usize> },
    /// [`PreparedCase::run`](assay_exec::PreparedCase::run). The data are the rows of the operands; those
    /// of the answer are the results.
    Run { prepared: u64, rows: usize },
    /// A call of the target for a case. The data are a [`TargetCall`](crate::target_call::TargetCall); those
    /// of the answer are its result.
    Target { case: String },
    /// The case or memory of this number is not needed any more. This has no answer.
    Drop { number: u64 },
}

/// Answer to a [`DeviceCall`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeviceReply {
    Missing(Option<String>),
    Built,
    /// The time that the device took.
    Ran(Duration),
    Target,
    Failed(ExecError),
}
