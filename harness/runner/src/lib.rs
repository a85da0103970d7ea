//! Plans and runs cases; emits events, prints nothing.
//!
//! [`plan`] chooses cases and finds out what the device lacks for them; [`run`] builds their pipelines ahead of time, runs
//! them chunk by chunk while the chunk before is being checked, and tells [`Reporter`]s. What computes results is behind
//! the [`Executor`] trait.

mod event;
mod executor;
mod plan;
mod run;

pub use event::{CaseResult, ClassCount, DeviceInfo, Event, Example, Reporter, RunInfo, SCHEMA, Status, Times};
pub use executor::{Executor, Kernel, Trouble};
pub use plan::{Plan, PlanError, Planned, RunOptions, plan};
pub use run::{RunError, Summary, run};
