//! Conformance suites: generated programs, each a small SPIR-V module with its resources and its
//! dispatch, whose results are compared with the oracle element by element.
//!
//! * [`all`]: the suites. A [`Suite`] lists its [`Case`]s. A case is only a name and a subject
//!   until [`Case::program`] builds its [`Program`].
//! * [`ShaderFiles`]: the user's own shaders, as cases of the same run.
//! * [`AnyCase`]: a precision case or a program, so that both are selected and run together.
//! * [`ProgramSet`]: runs cases on a target and emits the events of a run.
//!
//! A program's requirements are derived from its module alone (`assay_spirv_rules::requirements`),
//! and its permitted results come from the oracle. A suite may provide an independent reference,
//! plain Rust for the meaning of its program; the tests and the reference path compare the oracle
//! with it.

mod any_case;
mod bindless;
mod bytes;
mod case;
mod compute;
mod environment;
mod gather;
pub mod module_builder;
mod no_device;
mod result;
mod run;
mod shader_file;
mod shader_files;
mod shader_session;
mod storage8;
pub mod tile;

pub use any_case::AnyCase;
pub use case::{Case, CaseSubject, LoweredModule, Program, Reference, RunPath, UnknownPath};
pub use no_device::NoDevice;
pub use result::not_run;
pub use run::{ProgramSet, ProgramSettings};
pub use shader_file::ShaderFile;
pub use shader_files::ShaderFiles;
pub use shader_session::{PreparedShader, ShaderOptions, check_session};

/// A group of cases that share the first component of their names.
pub trait Suite: Sync {
    /// The first component of the cases' names: `storage8`.
    fn name(&self) -> &'static str;

    /// The purpose of the suite, in one sentence.
    fn purpose(&self) -> &'static str;

    /// The cases, always in the same order. Names are unique and keep their meaning.
    fn cases(&self) -> Vec<Case>;
}

/// All suites, in the order in which they run.
pub fn all() -> [&'static dyn Suite; 6] {
    [
        &compute::Compute,
        &storage8::Storage8,
        &environment::Environment,
        &gather::Gathers,
        &tile::TileShading,
        &bindless::Bindless,
    ]
}
