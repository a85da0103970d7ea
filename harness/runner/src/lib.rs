//! Plans and runs cases; emits events, prints nothing.
//!
//! [`plan`] chooses cases and finds out what the device lacks for them; [`run`] builds their pipelines ahead of time, runs
//! them chunk by chunk while the chunk before is being checked, and tells [`Reporter`]s. What computes results is behind
//! the [`Executor`] trait.

mod again;
mod check;
pub mod class;
mod event;
mod executor;
mod panic;
mod picture;
mod pipeline;
mod plan;
mod run;
mod verdict;
mod vulkan;

pub use again::again;
pub use check::{Blame, BlameExample, CheckResult, Derived, Mismatch, Sampled, Undetermined};
pub use event::{
    CaseResult, ClassCount, DeviceInfo, Event, Example, FailedChunk, OneRun, Part, Profile, Repeat, Repeated, Reporter,
    RunInfo, SCHEMA, SPECIFICATION, Status, Times, WGSL_SPECIFICATION,
};
pub use executor::{Executor, Kernel, Trouble};
pub use panic::panic_message;
pub use picture::{PICTURE_BYTES, PICTURE_SIDE, Picture, Texels};
pub use plan::{Choice, Plan, PlanError, Planned, RunOptions, Selection, choose, must_match, plan, select};
pub use run::{More, RunError, Summary, run, run_with};
pub use verdict::blank;
pub use vulkan::{VulkanExecutor, VulkanOptions, device_info};
