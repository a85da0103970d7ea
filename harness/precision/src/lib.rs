//! Precision table of the Vulkan specification as permitted sets.
//!
//! [`Call`] names one instruction on concrete types in a concrete environment. [`Call::permitted`]
//! is the set of bit patterns that a conforming device may return for given operand bits. Every
//! statement of the harness about floating-point results rests on these sets.
//!
//! A set is computed in layers, from the inside out:
//!
//! 1. `instructions` has a row for every instruction: its name, its types, its accuracy, and the
//!    specification's lists that name it. `call_rule` is the rule of a call on concrete types.
//! 2. `discrete_op` (discrete results), `real_op`, `bound` and `real_range` (real functions with a
//!    bound), and `formula`, `formulas`, `formula_range` and `sum_of_products` (inherited precision)
//!    give the values that the rule permits for operands with exactly known values.
//! 3. `evaluate` applies the environment to that, once for all rows: denormal operands and results,
//!    signed zeros, NaNs and infinities, rounding modes, fast-math flags. `relaxed` adds the
//!    results that `RelaxedPrecision` permits. `reference` has the verdicts.
//! 4. `set_extension` is the union over all members of operand sets, computed without visiting
//!    each. `formula_domain` is for operands that are results themselves, with which a formula may
//!    be rearranged.
//! 5. `bulk` checks many results at once, with a floating-point filter in front of the certified
//!    evaluation. Nothing else uses it.
//!
//! Real numbers are certified enclosures ([`assay_float::Enclosure`]), evaluated with increasing
//! precision until every comparison is decided (Ziv's strategy, [`assay_float::decide`]).

mod accuracy;
mod bound;
mod bulk;
mod call;
mod call_rule;
mod classify;
mod derivation;
mod discrete_op;
mod display;
mod environment;
mod evaluate;
mod evaluator;
mod float8;
mod formula;
mod formula_domain;
mod formula_range;
mod formulas;
mod instructions;
mod integral;
mod interval_eval;
mod lists;
mod modes;
mod nearest_names;
mod op;
mod operand_region;
mod pack;
mod range_bounds;
mod rank_interval;
mod real_op;
mod real_range;
mod reference;
pub mod relaxed;
mod result_slot;
mod set_extension;
mod signature;
mod special_values;
mod specification;
mod sum_of_products;
pub mod synthetic;
mod types;
mod undefined_operands;
mod wgsl;

pub use bound::Division;
pub use bulk::{CheckCounts, Checker, Column, Observation, Profile, RegionCount};
pub use call::{Call, CallError};
pub use classify::FailureClass;
pub use derivation::Step;
pub use environment::{Environment, Flush};
pub use formula_domain::ExpressionDomain;
pub use instructions::{Op, SpirvForm};
pub use modes::{Denormals, FastMath, Modes, ModesError, Rounding};
pub use nearest_names::nearest;
pub use op::UnknownOp;
pub use operand_region::OperandRegion;
pub use reference::{Explanation, Judgement, Lenient, Permitted, Reference, Verdict};
pub use set_extension::{Effort, Operand, SetResult, Tightness};
pub use specification::Specification;
pub use types::{Scalar, Shape, Type};
pub use wgsl::{NotInWgsl, Spelling};
