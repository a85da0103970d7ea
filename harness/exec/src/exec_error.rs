//! Reasons why a device gives no results.

use assay_events::Status;
use serde::{Deserialize, Serialize};

/// Reason why a case has no results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum ExecError {
    /// The device was lost.
    #[error("{0}")]
    DeviceLost(String),
    /// The time limit passed.
    #[error("{0}")]
    Timeout(String),
    /// The host or the device ran out of memory.
    #[error("{0}")]
    OutOfMemory(String),
    /// The driver refused a valid shader.
    #[error("{0}")]
    Pipeline(String),
    /// The harness failed.
    #[error("{0}")]
    Internal(String),
}

impl ExecError {
    /// The refusal of a process whose device was lost: results after a loss are not trustworthy.
    pub fn lost_earlier() -> ExecError {
        ExecError::DeviceLost("the device was lost in an earlier case of this process".to_owned())
    }

    /// Returns the status of a case that ended for this reason.
    pub fn status(&self) -> Status {
        match self {
            ExecError::DeviceLost(_) => Status::DeviceLost,
            ExecError::Timeout(_) => Status::Timeout,
            ExecError::OutOfMemory(_) => Status::Undetermined,
            // A driver that refuses a valid shader does not conform.
            ExecError::Pipeline(_) => Status::Fail,
            ExecError::Internal(_) => Status::InternalError,
        }
    }
}

/// Reason why a dispatch has no output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum TargetError {
    /// The device lacks something that the dispatch requires.
    #[error("{0}")]
    Unsupported(String),
    /// The dispatch failed.
    #[error(transparent)]
    Failed(#[from] ExecError),
}
