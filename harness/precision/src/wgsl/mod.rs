//! Accuracy rules of the WebGPU Shading Language.
//!
//! [`wgsl_table`] is the only home of WGSL's rows and [`bound`] that of its bounds. They are stated
//! even where Vulkan's are equal, so that each can be checked against its own text (`tests/it/wgsl.rs`
//! does). WGSL's rules for NaNs, infinities, denormals and signs of zeros are one environment
//! (`Environment::under`): "Differences from IEEE-754" lets implementations assume that overflow,
//! infinities and NaNs are not present, ignore the sign of a zero, and flush any input and output.
//! [`wgsl_discrete`] has the discrete results that WGSL defines differently from Vulkan.

mod wgsl_discrete;
mod wgsl_table;

pub(crate) use wgsl_discrete::discrete_results;
pub(crate) use wgsl_table::of;
pub use wgsl_table::{NotInWgsl, Spelling};

use crate::{
    Op, Specification,
    formula::Formula,
    real_op::{Bound, RealOp},
};
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

/// **The** bound of an operation, from "Accuracy of Concrete Floating Point Expressions". `half`
/// selects the column.
pub(crate) const fn bound(real: RealOp, half: bool) -> Bound {
    match real {
        RealOp::Add
        | RealOp::Sub
        | RealOp::Mul
        // `x * y + z` as one step of another expression; `fma` itself is inherited.
        | RealOp::Fma
        | RealOp::FromInt
        | RealOp::Convert
        | RealOp::Ldexp
        // Inherited from `x - floor(x)`: the floor is exact, the difference correctly rounded.
        | RealOp::Fract
        // WGSL states no accuracy for derivatives; their rows do not use a bound.
        | RealOp::Difference
        | RealOp::Width => Bound::Rounded,
        RealOp::PackHalf
        // For bfloat16, which WGSL does not have.
        | RealOp::Dot => Bound::Either,
        RealOp::Div => Bound::Ulps { half_ulps: 5 },
        RealOp::Unpack => Bound::Ulps { half_ulps: 2 * 3 },
        RealOp::InverseSqrt => Bound::Ulps { half_ulps: 2 * 2 },
        RealOp::Atan | RealOp::Atan2 => Bound::Ulps { half_ulps: if half { 2 * 5 } else { 2 * 4096 } },
        RealOp::Exp | RealOp::Exp2 => Bound::UlpsPlusTwiceX { base: if half { 1 } else { 3 } },
        RealOp::Log | RealOp::Log2 => Bound::Logarithm { ulps: 3, exponent: if half { -7 } else { -21 }, strict: false },
        RealOp::Sin | RealOp::Cos => Bound::Trigonometric { exponent: if half { -7 } else { -11 } },
    }
}

/// Exponent `e` of the range `[2^-e, 2^e]` in which `|y|` of `x / y` and `|x|` of `atan2(y, x)`
/// have a stated accuracy.
pub(crate) const fn range_exponent(half: bool) -> i32 {
    if half { 14 } else { 126 }
}
