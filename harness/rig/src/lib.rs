//! A device that goes wrong on demand, to show that runs survive it.
//!
//! A case is named `mock.FAULT.NUMBER`, and does what its fault says ([`Fault`]). [`Mock`] is the bench that runs them, in
//! worker processes of the binary `assay-rig`; [`Faulty`] names the cases of a run. What each must come out as is
//! [`Fault::permits`].

mod cases;
mod fault;
mod mock;

pub use cases::{Faulty, result};
pub use fault::Fault;
pub use mock::{Mock, device};
