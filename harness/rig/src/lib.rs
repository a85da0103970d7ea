//! A device that goes wrong on demand, to show that runs survive it.
//!
//! A case is named `mock.FAULT.NUMBER`, and does what its fault says ([`Fault`]). [`Mock`] is the bench that runs them, in
//! worker processes of the binary `assay-rig`; [`Faulty`] names the cases of a run. What each must come out as is
//! [`Fault::permits`].
//!
//! [`Real`] is a bench on a real device, on which some shaders never end.
//!
//! `assay-rig chaos` runs many of them, kills workers and coordinator at random, and resumes until all is done.

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
