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
//! 2. `discrete_op` (discrete results), `real_op` (a real function with a bound) and `formula` with
//!    `formulas` and `sum_of_products` (inherited precision) give the values that the rule permits
//!    for operands with exactly known values.
//! 3. `evaluate` applies the environment to that, once for all rows: denormal operands and results,
//!    signed zeros, NaNs and infinities, rounding modes, fast-math flags. `relaxed` adds the
//!    results that `RelaxedPrecision` permits.
//! 4. `set_extension` is the union over all members of operand sets, computed without visiting
//!    each. `formula_domain` is for operands that are results themselves, with which a formula may
//!    be rearranged.
//! 5. `filter` is a floating-point filter for bulk results, and `checker` uses it.
//!
//! Real numbers are certified enclosures ([`assay_float::Enclosure`]), evaluated with increasing
//! precision until every comparison is decided (Ziv's strategy, [`assay_float::decide`]).

mod call;
mod checker;
mod classify;
mod derivation;
mod discrete_op;
mod display;
mod environment;
mod evaluate;
mod evaluator;
mod filter;
mod float8;
mod formula;
mod formula_domain;
mod formulas;
mod interval_eval;
mod modes;
mod op;
mod operand_region;
mod pack;
mod profile;
mod range_bounds;
mod rank_interval;
mod real_op;
pub mod relaxed;
mod set_extension;
mod signature;
mod simd;
mod special_values;
mod specification;
mod sum_of_products;
pub mod synthetic;
mod table;
mod types;
mod undefined_operands;
mod wgsl;

pub use call::{
    Call, CallError, Explanation, FailureClass, Judgement, Lenient, Permitted, Reference, Shape, Step, Verdict,
};
pub use checker::{CheckCounts, Checker, Column, Observation, RegionCount};
pub use environment::{Environment, Flush};
pub use formula_domain::ExpressionDomain;
pub use modes::{Denormals, FastMath, Modes, ModesError, Rounding};
pub use op::{Op, UnknownOp, nearest};
pub use operand_region::OperandRegion;
pub use profile::Profile;
pub use real_op::Division;
pub use set_extension::{Effort, Operand, SetResult, Tightness};
pub use specification::Specification;
pub use types::{Scalar, Type};
pub use wgsl::{NotInWgsl, Spelling};
