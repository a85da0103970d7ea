//! Rule of a call: the accuracy of its row under its specification, in data and in words.

use crate::{
    Call, Op, Specification,
    accuracy::Accuracy,
    bound::EITHER,
    float8::OverflowPolicy,
    formula::FormulaSize,
    real_op::{Bound, RealOp},
    wgsl,
};
use assay_float::{BF16, F16, Format};

const ROUNDED_STEPS: &str = "Vulkan demands correct rounding of every instruction on bfloat16, SPV_KHR_bfloat16 the accuracy of binary32 and \
     leaves it open whether intermediate values are rounded";

/// Returns true for the dot product of bfloat16: "the precision of all instructions on float values
/// with the BFloat16KHR encoding is required to be correctly rounded with implementation defined
/// rounding mode".
fn is_dot_of_bfloat16(call: &Call) -> bool {
    call.op == Op::Dot && call.results[0].scalar.format() == Some(BF16)
}

/// Rule of the lenient reading, if that has its own, and the doubt.
pub(crate) fn lenient_accuracy(call: &Call) -> Option<(Accuracy, &'static str)> {
    // "The accuracy .. is the same as operations on IEEE754 binary32 floating-point values, with
    // the result rounded using round-to-nearest-even or round-to-zero rounding. It is
    // implementation-defined whether intermediate values are rounded." The formula's range with
    // each step rounded to bfloat16 contains its range with each step rounded to binary32.
    is_dot_of_bfloat16(call).then_some((call.op.row().accuracy, ROUNDED_STEPS))
}

/// Rule for the result of a call. An instruction without a row in WGSL has no stated precision
/// there; [`Call::in_wgsl`] does not make such calls.
pub(crate) fn accuracy(call: &Call) -> Accuracy {
    match call.specification {
        Specification::Vulkan if is_dot_of_bfloat16(call) => Accuracy::Real(RealOp::Dot),
        Specification::Vulkan => call.op.row().accuracy,
        Specification::Wgsl => wgsl::of(call.op).map_or(Accuracy::Measured, |row| row.accuracy),
    }
}

/// Rule of a call in words.
pub(crate) fn words(call: &Call) -> String {
    let half = call.results[0].scalar.format() == Some(F16);
    fn accuracy_words(accuracy: Accuracy, call: &Call, half: bool) -> String {
        match accuracy {
            Accuracy::Discrete(op) => op.words().into(),
            Accuracy::Real(real) => match (OverflowPolicy::of(call), real.bound(Specification::Vulkan, half)) {
                (Some(policy), _) => format!("{EITHER}; {}", policy.words()),
                (None, Bound::Rounded) if !follows_modes(call) => EITHER.into(),
                _ => real.words(Specification::Vulkan, half),
            },
            Accuracy::Formula(build) => {
                let components = call.operands[0].len();
                format!("inherited from {}", build(&FormulaSize { components, component: 0 }).words)
            }
            Accuracy::Modf => "correctly rounded".into(),
            Accuracy::Frexp => "correct result".into(),
            Accuracy::Atomic(inner) => {
                format!("value returned: correct result; value left in memory: {}", accuracy_words(*inner, call, half))
            }
            Accuracy::Unpack { signed } => {
                let clamp = if signed { ", clamped to [-1, 1]" } else { "" };
                format!("f / k by the rule of OpFDiv ({}){clamp}", RealOp::Unpack.words(Specification::Vulkan, half))
            }
            Accuracy::UnpackHalf => "correct result".into(),
            Accuracy::Measured => "no precision is stated: reported as measured".into(),
        }
    }
    match (call.specification, wgsl::of(call.op)) {
        (Specification::Wgsl, Ok(row)) => row.rule(half),
        _ => accuracy_words(accuracy(call), call, half),
    }
}

/// Returns true if rounding modes apply to the format of the call's result.
fn follows_modes(call: &Call) -> bool {
    call.results[0].scalar.format().is_none_or(Format::is_ieee_754)
}

/// Anchor of the clause of the specification that states the instruction's rule.
pub(crate) fn clause(call: &Call) -> &'static str {
    if let (Specification::Wgsl, Ok(row)) = (call.specification, wgsl::of(call.op)) {
        return row.clause;
    }
    if !follows_modes(call) {
        return "spirvenv-correctly-rounded-impl-defined";
    }
    if call.op.is_glsl() { "precision-of-glsl-std-450-instructions" } else { "spirvenv-precision-core-table" }
}

impl Call {
    /// Anchor of the clause in the text of the specification.
    pub fn clause(&self) -> &'static str {
        clause(self)
    }

    /// Returns true if the specification states no precision. Results of such instructions are
    /// reported as measured and never fail.
    pub fn is_measured_only(&self) -> bool {
        matches!(accuracy(self), Accuracy::Measured)
    }
}
