//! Failures of a run grouped by cause: the schema of `causes.json`.

use crate::{Example, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Contents of `causes.json`.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct CauseList {
    /// [`SCHEMA`](crate::SCHEMA).
    pub schema: u32,
    /// The causes: those with unexpected failures first, then by status, then by number of cases.
    pub causes: Vec<Cause>,
}

/// A group of failures that probably have one cause: failures of one instruction, on one path, with
/// the same classes, for operands of the same regions. A case that fails in several ways belongs to
/// several causes.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Cause {
    /// The cause in one line: `Frexp: denormal operands, FlushedIn`.
    pub title: String,
    /// Status of the cases.
    pub status: Status,
    /// First component of the names of the cases: `precision`.
    pub family: String,
    /// The instruction, as SPIR-V spells it; for a whole shader of the family `compute`, the name of
    /// its case; for a check, the first wrong instruction that its trace found; empty if there is
    /// none.
    pub instruction: String,
    /// `native`, `lowered` or `reference`.
    pub path: String,
    /// Classes of the failing scalars, most frequent first. Empty for cases without a verdict.
    pub classes: Vec<ScalarCount>,
    /// Regions of the operands of the failing scalars, most frequent first
    /// ([`RegionCount`](crate::RegionCount)). Empty if the regions are unknown.
    pub regions: Vec<ScalarCount>,
    /// Reason of a case without a verdict, such as a crash.
    pub reason: Option<String>,
    /// Number of cases.
    pub cases: u64,
    /// Number of cases that no list of the lab expects to fail.
    pub unexpected: u64,
    /// Number of checked cases with this family, instruction and path, whether they fail or not.
    pub checked_cases: u64,
    /// Number of failing scalars.
    pub scalars: u64,
    /// Number of checked scalars in the failing cases.
    pub scalars_checked: u64,
    /// The largest error divided by its bound.
    #[serde(with = "crate::event::margin")]
    #[schemars(with = "Option<crate::event::margin::Json>")]
    pub worst_margin: Option<f64>,
    /// Types of the cases in short: `f32`, or `f16 <- f32` for a conversion.
    pub widths: Vec<String>,
    /// Shapes of the first operands: `scalar`, `vec2`. Empty for programs and checks.
    pub shapes: Vec<String>,
    /// Declared modes.
    pub modes: Vec<String>,
    /// Sources of the operands.
    pub sources: Vec<String>,
    /// The simplest of the cases.
    pub representative: Representative,
}

/// Number of scalars with a property.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ScalarCount {
    /// Name of the class or region.
    pub name: String,
    /// Number of scalars.
    pub count: u64,
}

/// The case that stands for a cause: an unexpected failure if there is one; of these one with the
/// fewest scalars, the fewest modes and operands from a buffer.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Representative {
    /// Name of the case.
    pub case: String,
    /// Its types.
    pub types: String,
    /// Its failing scalar with the largest error; `None` for a case without a verdict.
    pub example: Option<Example>,
}
