//! Plans and runs cases; emits events and prints nothing.
//!
//! [`plan`] selects cases and determines what the device lacks for them. [`run`] builds their
//! pipelines ahead of time, runs each chunk of inputs while the previous one is being checked, and
//! reports to [`Reporter`]s. The [`Executor`] trait hides how results are computed.

mod case_result;
mod check_result;
pub mod class_names;
mod digit_groups;
mod event;
mod executor;
mod host_name;
mod panic_message;
mod plan;
mod rerun_command;
mod result_picture;
mod run_pipeline;
mod run_plan;
mod vulkan_executor;

pub use case_result::not_run;
pub use check_result::{
    BindingWrites, Blame, BlameExample, CheckResult, DerivationStep, Mismatch, UndeterminedElements, UnjudgedRound,
    WorkgroupSubset, Writes,
};
pub use digit_groups::group_digits;
pub use event::{
    CHECK_BUDGET, CaseResult, ClassCount, DeviceInfo, Event, Example, FailedChunk, Profile, Repeat, RepeatRun,
    RepeatVerdict, Reporter, RunInfo, RunPart, SCHEMA, SPECIFICATION, Status, Times, WGSL_SPECIFICATION,
};
pub use executor::{ExecError, Executor, PreparedCase};
pub use host_name::host_name;
pub use panic_message::panic_message;
pub use plan::{
    Plan, PlanError, PlannedCase, RunOptions, Selectable, Selection, choose, must_match, plan, select, suggestion,
};
pub use rerun_command::{rerun_command, rerun_options};
pub use result_picture::{PICTURE_BYTES, PICTURE_SIDE, Picture, TexelGrid};
pub use run_plan::{ProgramRunner, RunError, Summary, run, run_with_programs};
pub use vulkan_executor::{VulkanExecutor, VulkanOptions, device_info};
