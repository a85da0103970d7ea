//! Operands for which the specification places no requirement on a result.

use assay_spirv::grammar::InstructionClass;
use assay_spirv::module::Instruction;
use assay_spirv::tables::Op;

/// Returns as a clause why the specification may place no requirement on the result of an
/// instruction with this name; `None` if Assay knows no general reason.
///
/// The rules are those of [`assay_precision`]; these are hints for messages, which decide nothing. The
/// domains are those of the SPIR-V extended instructions for GLSL, and of Vulkan, "Precision of
/// Individual Operations". Without float controls, infinities and NaNs are assumed not to occur.
pub(crate) fn open_operands(i: &Instruction<'_>, name: &str) -> Option<&'static str> {
    let is_float = i.op == Some(Op::ExtInst) || i.op.is_some_and(|op| op.info().class == InstructionClass::Arithmetic);
    Some(match name {
        "Sin" | "Cos" | "Tan" => "its operand may lie outside of -pi to pi",
        "Asin" | "Acos" => "its operand may lie outside of -1 to 1",
        "Log" | "Log2" | "InverseSqrt" => "its operand may be zero or below, infinite or NaN",
        "Sqrt" => "its operand may be below zero, infinite or NaN",
        "Pow" => "its first operand may be zero or below, or the result infinite",
        "Exp" | "Exp2" => "the result may be infinite",
        "Normalize" => "the vector may be zero, or its length infinite",
        "FClamp" | "NClamp" | "SClamp" | "UClamp" => "the minimum may be above the maximum",
        "SmoothStep" => "the first edge may be no less than the second",
        "OpFDiv" => "the divisor may be zero, very small or very large, or the result infinite",
        "OpFRem" | "OpFMod" => "the divisor may be zero, or the quotient infinite",
        _ if is_float => "an operand or the result may be infinite or NaN",
        _ => return None,
    })
}
