//! Operands for which the instruction set leaves the value, or the behaviour, undefined.

use crate::{
    Op, Scalar, Specification, discrete_op::to_integer, instructions::UndefinedOperands, result_slot::ResultSlot,
};

/// Reason for which the value is undefined, if it is, by the clause that the row names.
pub(crate) fn undefined(slot: &ResultSlot, x: &[u64]) -> Option<&'static str> {
    let format = slot.env.format;
    let finite = |i: usize| format.is_finite(x[i]);
    match slot.op.row().undefined? {
        // WGSL defines the function by its formula, whatever the order of the edges.
        UndefinedOperands::Edges if slot.env.specification == Specification::Vulkan => {
            let ordered = finite(0) && finite(1) && format.rank(x[0]).max(-1) < format.rank(x[1])
                || finite(0) && finite(1) && format.rank(x[0]) < format.rank(x[1]).min(-1);
            (!ordered).then_some("SmoothStep is undefined for edge0 >= edge1")
        }
        UndefinedOperands::Exponents => {
            let exponent = (x[1] as u32).cast_signed();
            if exponent > format.bias() + 1 {
                return Some("Ldexp is undefined for exponents above the format's");
            }
            let too_large = format.value(x[0]).map_or(format.is_infinite(x[0]), |value| {
                let length = 64 - value.mantissa().leading_zeros().cast_signed();
                let top = i64::from(value.exponent()) + i64::from(length) + i64::from(exponent);
                !value.is_zero() && top > i64::from(format.max_exponent()) + 1
            });
            too_large.then_some("Ldexp is undefined where the product cannot be finitely represented")
        }
        // The behaviour is undefined for the others.
        UndefinedOperands::Edges | UndefinedOperands::OutOfRange => None,
    }
}

/// Returns true if the *behaviour* is undefined: such operands must never be sent to a device.
pub(crate) fn is_undefined_behaviour(op: Op, result: Scalar, operand: Scalar, bits: u64) -> bool {
    match (op.row().undefined, operand, result) {
        (Some(UndefinedOperands::OutOfRange), Scalar::Float(format), Scalar::Int { width, signed }) => {
            to_integer(format, bits, width, signed).is_none()
        }
        _ => false,
    }
}
