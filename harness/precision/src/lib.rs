//! Precision table of the Vulkan specification as permitted sets.
//!
//! [`Call`] names one instruction on concrete types in a concrete environment. [`Call::permitted`]
//! is the set of bit patterns that a conforming device may return for given operand bits. Every
//! statement of the harness about floating-point results rests on these sets.
//!
//! A set is computed in layers, from the inside out:
//!
//! 1. `table` has a row for every instruction: its types, its accuracy, and the specification's
//!    lists that name it.
//! 2. `exact` (discrete results), `real` (a real function with a bound) and `formula` with
//!    `formulas` and `sum` (inherited precision) give the values that the rule permits for operands
//!    with exactly known values.
//! 3. `evaluate` applies the environment to that, once for all rows: denormal operands and results,
//!    signed zeros, NaNs and infinities, rounding modes, fast-math flags. `relaxed` adds the
//!    results that `RelaxedPrecision` permits.
//! 4. `over` is the set extension: the union over all members of operand sets, computed without
//!    visiting each. `chained` is for operands that are results themselves, with which a formula
//!    may be rearranged.
//! 5. `screen` is a floating-point filter for bulk results, and `census` the checker that uses it.
//!
//! Real numbers are certified enclosures ([`assay_float::Enclosure`]), evaluated with increasing
//! precision until every comparison is decided (Ziv's strategy, [`assay_float::decide`]).

mod algebra;
mod call;
mod census;
mod chained;
mod classify;
mod domain;
mod environment;
mod evaluate;
mod exact;
mod extremes;
mod float8;
mod formula;
mod formulas;
mod ieee;
mod lanes;
mod modes;
mod op;
mod over;
mod pack;
mod profile;
mod real;
pub mod relaxed;
mod rules;
mod screen;
mod show;
mod signature;
mod span;
mod spans;
mod sum;
pub mod synthetic;
mod table;
mod trace;
mod types;
mod wgsl;

pub use call::{
    Call, CallError, Explanation, FailureClass, Judgement, Lenient, Permitted, Reference, Shape, Step, Verdict,
};
pub use census::{Census, Checker, Column, Sample};
pub use chained::Chains;
pub use environment::{Environment, Flush};
pub use modes::{Denormals, FastMath, Modes, ModesError, Rounding};
pub use op::{Op, UnknownOp, nearest};
pub use over::{Effort, Operand, Over, Tightness};
pub use profile::Profile;
pub use real::Division;
pub use rules::Rules;
pub use types::{Scalar, Type};
pub use wgsl::{NotInWgsl, Spelling};
