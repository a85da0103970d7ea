//! Accuracy rules of the WebGPU Shading Language.
//!
//! [`wgsl_table`] is the only home of WGSL's rows and [`wgsl_bounds`] that of its bounds. They are stated
//! even where Vulkan's are equal, so that each can be checked against its own text (`tests/it/wgsl.rs`
//! does). WGSL's rules for NaNs, infinities, denormals and signs of zeros are one environment
//! (`Environment::under`): "Differences from IEEE-754" lets implementations assume that overflow,
//! infinities and NaNs are not present, ignore the sign of a zero, and flush any input and output.
//! [`wgsl_discrete`] has the discrete results that WGSL defines differently from Vulkan.

pub(crate) mod wgsl_bounds;
mod wgsl_discrete;
mod wgsl_table;

pub(crate) use wgsl_discrete::discrete_results;
pub(crate) use wgsl_table::of;
pub use wgsl_table::{NotInWgsl, Spelling};

use crate::{Op, Specification, formula::Formula};
use assay_float::{F16, Format};

/// Returns true for conversions to floats by WGSL's rules: "Any inputs or outputs of operations
/// listed in [Floating Point Accuracy] may be flushed to zero (..) Other operations are required to
/// preserve subnormal numbers", and "Floating Point Conversion" is another section.
pub(crate) fn converts(op: Op, specification: Specification) -> bool {
    specification == Specification::Wgsl && matches!(op, Op::ConvertSToF | Op::ConvertUToF | Op::FConvert)
}

/// Formula in the words of WGSL's table, with the absolute error that is permitted in addition.
pub(crate) fn formula(op: Op, format: Format, formula: Formula) -> Formula {
    match of(op) {
        Ok(row) => Formula {
            words: row.words,
            absolute: row.absolute.map(|columns| columns[usize::from(format == F16)]),
            ..formula
        },
        Err(_) => formula,
    }
}
