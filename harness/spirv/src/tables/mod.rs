//! Generated tables (`cargo run -p xtask -- tables`); [`crate::grammar`] defines the types of their
//! rows.
//!
//! This file is written by hand. It lists the generated files, which the formatter leaves
//! unchanged, with one item per line.

#[rustfmt::skip]
mod builtin;
#[rustfmt::skip]
mod capability;
#[rustfmt::skip]
mod decoration;
#[rustfmt::skip]
mod enabling;
#[rustfmt::skip]
mod execution_mode;
#[rustfmt::skip]
mod glsl_std_450;
#[rustfmt::skip]
mod instructions;
#[rustfmt::skip]
mod kinds;
#[rustfmt::skip]
mod masks;
#[rustfmt::skip]
mod op;
#[rustfmt::skip]
mod opencl_std;
#[rustfmt::skip]
mod values;

pub use builtin::{BUILT_IN, BuiltIn};
pub use capability::{CAPABILITY, Capability};
pub use decoration::{DECORATION, Decoration};
pub use enabling::{CAPABILITY_ENABLING, ENABLING_SOURCE, EXTENSION_ENABLING};
pub use execution_mode::{EXECUTION_MODE, ExecutionMode};
pub use glsl_std_450::{GLSL_STD450, GlslStd450};
pub use instructions::INSTRUCTIONS;
pub use kinds::{KINDS, Kind};
pub use masks::*;
pub use op::Op;
pub use opencl_std::{OPEN_CL_STD, OpenClStd};
pub use values::*;
