//! Runs cases in worker processes, and charges what goes wrong to the case that caused it.
//!
//! ```text
//! Coordinator ---- orders: set up, run these cases, stop ---->  serve(Bench)
//!  (no driver)  <--- ready, calls into the driver, events ---   (one device)
//! ```
//!
//! The [`Coordinator`] never loads a driver. A worker ([`serve`]) holds one device and runs many cases; what it does is a
//! [`Bench`], which may use [`run_plan`] for cases of the runner. Whatever ends a worker (a signal, an exit, a hang, a limit, a
//! message that makes no sense) is charged to a case only after that case has shown it alone, in a process of its own; and a
//! case whose result is a failure is run again alone as well. Runs that differ make it flaky, or, if it fails again after
//! the same other cases, dependent on them: then the fewest of them are looked for.
//!
//! Unix only, as process groups and `/proc` are.

mod coordinator;
mod frame;
mod inquiry;
mod message;
mod pipeline;
mod process;
mod worker;

pub use coordinator::{Cases, Coordinator, Ended, IsolateError, Limits, Room, Settings};
pub use message::{Refusal, Task};
pub use pipeline::run_plan;
pub use process::Launch;
pub use worker::{Bench, Call, ServeError, Teller, serve};
