//! Plans and runs cases; emits events and prints nothing.
//!
//! [`plan`] selects cases and determines what the device lacks for them. [`run`] builds their
//! pipelines ahead of time, runs each chunk of inputs while the previous one is being checked, and
//! reports to [`Reporter`](assay_events::Reporter)s. The [`Executor`](assay_exec::Executor) trait
//! hides how results are computed.

mod case_request;
mod case_result;
mod host_name;
mod panic_message;
mod plan;
mod run_pipeline;
mod run_plan;

pub use case_request::{CaseRequest, example_call};
pub use case_result::{hex, not_run};
pub use host_name::host_name;
pub use panic_message::panic_message;
pub use plan::{
    Plan, PlanError, PlannedCase, RunOptions, Selectable, Selection, choose, must_match, plan, select, suggestion,
};
pub use run_plan::{ProgramRunner, RunError, Summary, run, run_with_programs};
