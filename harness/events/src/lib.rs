//! Results as typed, versioned data.
//!
//! Whatever executes cases reports [`Event`]s to [`Reporter`]s. Result folders and pipes between
//! processes hold the same events as JSON lines; [`SCHEMA`] is their version. The crate depends on
//! no device and no report.

mod atlas;
mod cause;
mod check_result;
pub mod class_names;
mod conclusion;
mod digit_groups;
mod event;
mod example_call;
mod executed_instructions;
mod precision_table;
mod rerun_command;
mod result_picture;
mod run_settings;
mod skip;
mod writes;

pub use atlas::{ATLAS_SCHEMA, Atlas, AtlasClass, AtlasDevice, AtlasInstruction, AtlasOther, AtlasResult, AtlasRun};
pub use cause::{Cause, CauseList, Representative, ScalarCount};
pub use check_result::{
    Blame, BlameExample, CheckResult, DerivationStep, Mismatch, UndeterminedElements, UnjudgedRound, WorkgroupSubset,
};
pub use digit_groups::group_digits;
pub use event::{
    CHECK_BUDGET, CaseEnd, CaseResult, ClassCount, DeviceInfo, Event, Example, FailedChunk, GrowthStep, Profile,
    RegionCount, Repeat, RepeatRun, RepeatVerdict, Reporter, RunInfo, RunPart, SCHEMA, SPECIFICATION, Status, Times,
    WGSL_SPECIFICATION,
};
pub use example_call::ExampleCall;
pub use executed_instructions::{
    ExecutedInstructions, FaultExclusion, MutationScore, PlantedErrors, PossibleFault, SkippedCode, TracedInstructions,
    says_enough,
};
pub use precision_table::{Doubt, DoubtExample, PermittedText, PrecisionTable, TABLE_SCHEMA, TableRow, WgslRule};
pub use rerun_command::{rerun_command, rerun_options, shell_command};
pub use result_picture::{NumberType, PICTURE_BYTES, PICTURE_SIDE, Picture, PictureTiles, PngLayout, TexelGrid};
pub use run_settings::RunSettings;
pub use writes::{BindingWrites, Writes};
