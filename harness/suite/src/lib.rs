//! Conformance suites: generated programs, each a small SPIR-V module with its resources and its dispatch, held against the
//! oracle element by element.
//!
//! * [`all`]: the suites. A [`Suite`] lists its [`Case`]s, which are names with what they are about and nothing more;
//!   [`Case::program`] writes a case's [`Program`] when it is needed.
//! * [`Unit`]: a case of any kind, so that precision cases and programs are chosen and run together.
//! * [`Programs`]: runs cases, given their list, options and a target, and tells the events of a run.
//!
//! What a program needs of a device follows from its module (`assay_spirv::need`) and from nothing else; what it has to
//! leave in memory comes from the oracle. A suite may give a second reference, plain Rust for what its program means; tests
//! hold the oracle against it, and so does the reference path.

mod bindless;
mod bytes;
mod case;
mod compute;
mod environment;
mod gather;
mod no_device;
mod result;
mod run;
mod storage8;
pub mod tile;
mod unit;
pub mod write;

pub use case::{About, Case, Lowered, Program, RunPath, Second, UnknownPath};
pub use no_device::NoDevice;
pub use result::blank;
pub use run::{Programs, RunWith};
pub use unit::Unit;

/// A group of cases whose names begin with its own.
pub trait Suite: Sync {
    /// The first component of its cases' names: `storage8`.
    fn name(&self) -> &'static str;

    /// Why it exists, in a sentence.
    fn why(&self) -> &'static str;

    /// Its cases, always in the same order. Names are unique, and never change their meaning.
    fn cases(&self) -> Vec<Case>;
}

/// Every suite, in the order in which they are run.
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
