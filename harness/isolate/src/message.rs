//! What coordinator and worker tell each other.

use assay_runner::{DeviceInfo, Event};
use serde::{Deserialize, Serialize};

/// Version of the protocol: both sides are the same binary, unless somebody has replaced it during a run.
pub(crate) const PROTOCOL: u32 = 2;

/// From the coordinator.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub(crate) enum Order {
    /// First: what to open.
    SetUp { protocol: u32, setup: serde_json::Value },
    /// Run these cases; comes again only after [`Said::Done`].
    Run { cases: Vec<Task> },
    /// End after what is under way.
    Stop,
}

/// A case that a worker is to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// The chunks of its inputs to be run; `None`: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<Vec<u64>>,
}

/// From a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub(crate) enum Said {
    /// The device is open.
    Ready { protocol: u32, device: Box<DeviceInfo> },
    /// It cannot be; or, later, what was asked for is a mistake, which is no fault of the device.
    Refused(Refusal),
    /// A call into the driver begins, for a case.
    Enter { call: u64, case: String, doing: String },
    /// It returned.
    Leave { call: u64 },
    /// Something happened to a case.
    Event { event: Box<Event> },
    /// All cases of the order were run, as far as they could be.
    Done,
    /// The worker is alive.
    Beat,
}

/// Why a worker cannot begin, or go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// What is the matter.
    pub reason: String,
    /// The exit code that it calls for.
    pub code: u8,
}
