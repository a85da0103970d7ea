//! The precision table of the Vulkan specification as permitted sets.
//!
//! [`Call`] names one instruction on concrete types in a concrete environment; [`Call::permitted`] is the set of bit
//! patterns that a conforming device may return for given operand bits. Everything that the harness says about
//! floating-point results comes from here.

mod call;
mod census;
mod modes;
mod op;
mod types;

pub use call::{
    Call, CallError, Explanation, FailureClass, Judgement, Lenient, Permitted, Shape, Step, Verdict,
};
pub use census::{Census, Checker, Column, Sample};
pub use modes::{Denormals, FastMath, Modes, Rounding};
pub use op::{Op, UnknownOp, nearest};
pub use types::{Scalar, Type};
