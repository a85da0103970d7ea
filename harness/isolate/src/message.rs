//! Messages between coordinator and worker.

use crate::device_call::{DeviceCall, DeviceReply};
use crate::message_frame::Message;
use assay_events::{DeviceInfo, Event};
use serde::{Deserialize, Serialize};

/// Version of the protocol. Both sides are the same binary, unless it was replaced during the run,
/// or the worker is on another machine.
pub(crate) const PROTOCOL: u32 = 8;

/// Message from the coordinator to a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub(crate) enum Order {
    /// First message: the data for opening the device.
    SetUp {
        protocol: u32,
        /// Version of Assay.
        version: String,
        setup: serde_json::Value,
    },
    /// Runs these cases. The next one comes only after [`WorkerMessage::Done`].
    Run { cases: Vec<Task> },
    /// Ends the worker's cases after the current work.
    Stop,
    /// A call of the device by a worker elsewhere that checks its results; it is answered with
    /// [`WorkerMessage::Device`] of the same number.
    Device {
        number: u64,
        call: DeviceCall,
        #[serde(skip)]
        data: Vec<u8>,
    },
}

impl Message for Order {
    fn data(&self) -> &[u8] {
        if let Order::Device { data, .. } = self { data } else { &[] }
    }

    fn set_data(&mut self, given: Vec<u8>) -> bool {
        let Order::Device { data, .. } = self else { return given.is_empty() };
        *data = given;
        true
    }
}

/// A case for a worker to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// Indices of the chunks of its inputs to run; `None` for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<Vec<u64>>,
    /// What the worker needs to run it in addition to the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
}

/// Message from a worker to the coordinator.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub(crate) enum WorkerMessage {
    /// The device is open.
    Ready { protocol: u32, device: Box<DeviceInfo> },
    /// The device cannot be opened; or, later, the request itself is invalid, independently of the
    /// device.
    Refused(Refusal),
    /// A call into the driver begins, for a case.
    Enter {
        call: u64,
        case: String,
        doing: String,
        compiles: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        excuse: Option<String>,
    },
    /// The call returned.
    Leave { call: u64 },
    /// An event of a case.
    Event { event: Box<Event> },
    /// All cases of the order were run, as far as possible.
    Done,
    /// Answer to a call of the device.
    Device {
        number: u64,
        reply: DeviceReply,
        #[serde(skip)]
        data: Vec<u8>,
    },
    /// The worker is alive.
    Beat,
    /// Resident memory and output to stderr of the worker in bytes, from its supervisor.
    Usage { memory: Option<u64>, written: u64 },
    /// The worker wrote bytes that are not a message, and its supervisor killed it.
    Broken { what: String },
    /// The worker ended, as its supervisor saw it: in words, whether the cause may be external, and
    /// its last line on stderr.
    Ended { how: String, external: bool, stderr: String },
}

impl Message for WorkerMessage {
    fn data(&self) -> &[u8] {
        if let WorkerMessage::Device { data, .. } = self { data } else { &[] }
    }

    fn set_data(&mut self, given: Vec<u8>) -> bool {
        let WorkerMessage::Device { data, .. } = self else { return given.is_empty() };
        *data = given;
        true
    }
}

/// Reason why a worker cannot start or continue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// Description.
    pub reason: String,
    /// The exit code for this reason.
    pub code: u8,
}

/// Returns the message of a worker whose protocol or version differs from the coordinator's.
pub(crate) fn mismatch((protocol, version): (u32, &str), (own_protocol, own_version): (u32, &str)) -> Option<String> {
    if version != own_version {
        return Some(format!(
            "the worker is Assay {own_version}, and the coordinator is Assay {version}; install the same version on both"
        ));
    }
    (protocol != own_protocol).then(|| {
        format!("the worker speaks protocol {own_protocol}, and was asked for {protocol}: the binary has changed")
    })
}

/// The protocol and version of this binary.
pub(crate) fn own_protocol() -> (u32, String) {
    (PROTOCOL, env!("CARGO_PKG_VERSION").to_owned())
}

#[cfg(test)]
mod tests {
    use super::mismatch;

    #[test]
    fn another_version_or_protocol_is_refused_by_name() {
        assert_eq!(mismatch((3, "1.2.0"), (3, "1.2.0")), None);
        let version = mismatch((3, "1.3.0"), (3, "1.2.0")).unwrap();
        assert!(version.contains("the worker is Assay 1.2.0, and the coordinator is Assay 1.3.0"), "{version}");
        let protocol = mismatch((4, "1.2.0"), (3, "1.2.0")).unwrap();
        assert!(protocol.contains("speaks protocol 3, and was asked for 4"), "{protocol}");
    }
}
