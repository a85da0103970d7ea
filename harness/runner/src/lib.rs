//! Plans and runs cases; emits events and prints nothing.
//!
//! [`plan`] selects cases and determines what the device lacks for them. [`run`] builds their
//! pipelines ahead of time, runs each chunk of inputs while the previous one is being checked, and
//! reports to [`Reporter`]s. The [`Executor`] trait hides how results are computed.

mod again;
mod check;
pub mod class;
mod count;
mod event;
mod executor;
mod host;
mod panic;
mod picture;
mod pipeline;
mod plan;
mod run;
mod verdict;
mod vulkan;

pub use again::{again, command_again};
pub use check::{
    BindingWrites, Blame, BlameExample, CheckResult, Derived, Mismatch, Sampled, Undetermined, UnjudgedRound, Writes,
};
pub use count::count;
pub use event::{
    CHECK_BUDGET, CaseResult, ClassCount, DeviceInfo, Event, Example, FailedChunk, OneRun, Part, Profile, Repeat,
    Repeated, Reporter, RunInfo, SCHEMA, SPECIFICATION, Status, Times, WGSL_SPECIFICATION,
};
pub use executor::{Executor, Kernel, Trouble};
pub use host::host_name;
pub use panic::panic_message;
pub use picture::{PICTURE_BYTES, PICTURE_SIDE, Picture, Texels};
pub use plan::{Choice, Plan, PlanError, Planned, RunOptions, Selection, choose, must_match, plan, select, suggestion};
pub use run::{More, RunError, Summary, run, run_with};
pub use verdict::blank;
pub use vulkan::{VulkanExecutor, VulkanOptions, device_info};
