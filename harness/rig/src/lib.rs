//! A device with injected faults, to test that runs survive them.
//!
//! A case is named `mock.FAULT.NUMBER`, and misbehaves as its fault ([`Fault`]) prescribes.
//! [`Mock`] is the bench that runs such cases, in worker processes of the binary `assay-rig`.
//! [`Faulty`] names the cases of a run. [`Fault::permits`] states their expected results.
//!
//! [`Real`] is a bench on a real device, with shaders that never end.
//!
//! `assay-rig chaos` runs many such cases, kills workers and coordinator at random, and resumes
//! until all are done.

mod cases;
mod chaos;
mod fault;
mod mock;
mod real;
mod run;

use cases::spotted;
pub use cases::{Faulty, result};
pub use chaos::{ChaosArgs, chaos};
pub use fault::Fault;
pub use mock::{Mock, device};
pub use real::Real;
pub use run::{RunArgs, run, verify};
