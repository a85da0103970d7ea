//! Plans and runs cases; emits events, prints nothing.

mod event;

pub use event::{
    CaseResult, ClassCount, DeviceInfo, Event, Example, Reporter, RunInfo, SCHEMA, Status, Times,
};
