//! Ideal devices for instructions of one operand in single precision.

use assay_precision::Op;
use std::f64::consts::PI;

/// An instruction and its correctly rounded function.
pub(crate) struct Device {
    /// The instruction.
    pub(crate) op: Op,
    /// Correctly rounded.
    pub(crate) function: fn(f32) -> f32,
}

const fn device(op: Op, function: fn(f32) -> f32) -> Device {
    Device { op, function }
}

/// Instructions of one operand, direct rules first, then inherited ones.
pub(crate) const UNARY: [Device; 23] = [
    device(Op::FNegate, |x| -x),
    device(Op::Floor, f32::floor),
    device(Op::Fract, |x| x - x.floor()),
    device(Op::Exp, core_math::expf),
    device(Op::Exp2, core_math::exp2f),
    device(Op::Log, core_math::logf),
    device(Op::Log2, core_math::log2f),
    device(Op::InverseSqrt, core_math::rsqrtf),
    device(Op::Sin, core_math::sinf),
    device(Op::Cos, core_math::cosf),
    device(Op::Atan, core_math::atanf),
    device(Op::Sqrt, f32::sqrt),
    device(Op::Radians, |x| (f64::from(x) * (PI / 180.0)) as f32),
    device(Op::Degrees, |x| (f64::from(x) * (180.0 / PI)) as f32),
    device(Op::Tan, core_math::tanf),
    device(Op::Asin, core_math::asinf),
    device(Op::Acos, core_math::acosf),
    device(Op::Sinh, core_math::sinhf),
    device(Op::Cosh, core_math::coshf),
    device(Op::Tanh, core_math::tanhf),
    device(Op::Asinh, core_math::asinhf),
    device(Op::Acosh, core_math::acoshf),
    device(Op::Atanh, core_math::atanhf),
];

/// Inputs in a block.
pub(crate) const BLOCK: u32 = 1 << 14;

/// Block `index` of `count` spread evenly over all bit patterns: consecutive operands, and what the device returns for them.
pub(crate) fn block(device: &Device, index: u32, count: u32) -> (Vec<u32>, Vec<u32>) {
    let start = ((u64::from(index) << 32) / u64::from(count)) as u32;
    let operands: Vec<u32> = (0..BLOCK).map(|i| start.wrapping_add(i)).collect();
    let results = operands.iter().map(|&bits| {
        let exact = (device.function)(f32::from_bits(bits));
        // Exact results stay so: zeros, infinities, NaNs and what is "correct" or "correctly rounded".
        let fixed = exact == 0.0
            || !exact.is_finite()
            || matches!(device.op, Op::FNegate | Op::Floor | Op::Fract | Op::Radians | Op::Degrees);
        match bits.wrapping_mul(0x9e37_79b9) >> 30 {
            1 if !fixed => exact.to_bits().wrapping_add(1),
            2 if !fixed => exact.to_bits().wrapping_sub(1),
            _ => exact.to_bits(),
        }
    });
    let results = results.collect();
    (operands, results)
}
