//! A device with injected faults, to test that runs survive them.
//!
//! A case is named `mock.FAULT.NUMBER`, and misbehaves as its fault ([`Fault`]) prescribes.
//! [`FaultInjectionBackend`] is the backend that runs such cases, in worker processes of the binary
//! `assay-fault-injection`. [`FaultyCases`] names the cases of a run. [`Fault::permits`] states
//! their expected results. [`CheckingBackend`] checks the results of such cases in another process.
//!
//! [`EndlessShaderBackend`] is a backend on a real device, with shaders that never end.
//!
//! `assay-fault-injection chaos` runs many such cases, kills workers and coordinator at random, and
//! resumes until all are done.

mod chaos;
mod checking_backend;
mod endless_shader;
mod fault;
mod fault_injection;
mod fault_run;
mod faulty_cases;
mod signal;

pub use chaos::{ChaosArgs, chaos};
pub use checking_backend::CheckingBackend;
pub use endless_shader::EndlessShaderBackend;
pub use fault::Fault;
use fault_injection::EXCUSE;
pub use fault_injection::{FaultInjectionBackend, device};
pub use fault_run::{FaultRunArgs, run, verify};
use faulty_cases::result_with_wrong_chunks;
pub use faulty_cases::{FaultyCases, result};
