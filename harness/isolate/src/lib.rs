//! Runs cases in worker processes and attributes failures of a process to the case that caused
//! them.
//! ```text
//! Coordinator ---- orders: set up, run these cases, stop ---->  serve(backend)
//!  (no driver)  <--- ready, calls into the driver, events ---   (one device)
//! ```
//!
//! The [`Coordinator`] never loads a driver. A worker ([`serve`]) holds one device and runs many
//! cases; a [`WorkerBackend`] does its work and can use [`run_plan`] for cases of the runner.
//!
//! The end of a worker (a signal, an exit, a hang, a limit, a malformed message) is attributed to a
//! case only after that case has reproduced it alone, in a process of its own. A case whose result
//! is a failure is confirmed in the same way. A case whose runs differ is flaky. If it fails only
//! after the same other cases, it depends on them, and the coordinator searches for the fewest of
//! them.
//!
//! A worker may be on another machine, which a launcher such as ssh reaches ([`Launch::via`]). Its
//! supervisor there ([`supervise`]) keeps apart the end of the worker and that of the link. Its results can be
//! checked there or, by a worker of the coordinator's machine that calls the device ([`serve_for_device`]), here.
//!
//! Complete on Linux only, because it needs process groups, signals and `/proc`; the module
//! `platform` has the parts that other systems offer.

mod called_device;
mod child_process;
mod confirmation;
mod coordinator;
mod device_call;
mod event_sender;
mod message;
mod message_frame;
mod platform;
mod remote_device;
mod remote_target;
mod run_plan;
mod serve;
mod supervise;
mod target_call;

pub use child_process::Launch;
pub use coordinator::{
    Cases, Coordinator, CoordinatorSettings, IsolateError, LostLinks, RunOutcome, WorkerCount, WorkerLimits,
};
pub use event_sender::{DriverCall, EventSender};
pub use message::{Refusal, Task};
pub use remote_device::{RemoteDevice, serve_for_device};
pub use remote_target::RemoteTarget;
pub use run_plan::run_plan;
pub use serve::{ServeError, WorkerBackend, serve};
pub use supervise::supervise;
