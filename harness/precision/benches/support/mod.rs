//! Ideal devices for instructions of one operand in single precision, and a plain loop that checks
//! their results.

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

/// Operands of block `index` of `count` blocks spread evenly over all bit patterns; consecutive
/// within a block.
pub(crate) fn operands(index: u32, count: u32) -> Vec<u32> {
    let start = ((u64::from(index) << 32) / u64::from(count)) as u32;
    (0..BLOCK).map(|i| start.wrapping_add(i)).collect()
}

/// A block of [`operands`], and the ideal device's results for them.
pub(crate) fn block(device: &Device, index: u32, count: u32) -> (Vec<u32>, Vec<u32>) {
    let operands = operands(index, count);
    let results = operands.iter().map(|&bits| {
        let exact = (device.function)(f32::from_bits(bits));
        // Exact results stay exact: zeros, infinities, NaNs, and results that are "correct" or
        // "correctly rounded".
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

/// Permitted error of the plain loop for an operand, in ulp.
fn ulps(op: Op, x: f64) -> f64 {
    match op {
        Op::Exp | Op::Exp2 => 3.0 + 2.0 * x.abs(),
        Op::Log | Op::Log2 => 3.0,
        Op::InverseSqrt => 2.0,
        Op::Sin | Op::Cos | Op::Atan => 4096.0,
        _ => 16.0,
    }
}

/// Correctly rounded functions in double precision, the plain loop's reference.
pub(crate) fn reference(op: Op) -> Option<fn(f64) -> f64> {
    Some(match op {
        Op::Exp => core_math::exp,
        Op::Exp2 => core_math::exp2,
        Op::Log => core_math::log,
        Op::Log2 => core_math::log2,
        Op::InverseSqrt => core_math::rsqrt,
        Op::Sin => core_math::sin,
        Op::Cos => core_math::cos,
        Op::Atan => core_math::atan,
        Op::Tan => core_math::tan,
        Op::Asin => core_math::asin,
        Op::Sinh => core_math::sinh,
        Op::Tanh => core_math::tanh,
        Op::Atanh => core_math::atanh,
        Op::FNegate => |x| -x,
        Op::Sqrt => f64::sqrt,
        Op::Acos => core_math::acos,
        Op::Cosh => core_math::cosh,
        Op::Asinh => core_math::asinh,
        Op::Acosh => core_math::acosh,
        _ => return None,
    })
}

/// The plain loop: a correctly rounded reference from CORE-MATH, and the error in `f64` over the
/// bound, compared with one. It ignores denormals, infinities, domains and inherited bounds; for an
/// inherited rule it uses a constant number of ulp.
///
/// Returns the number of results with too large an error, and the greatest ratio.
pub(crate) fn obvious(op: Op, function: fn(f64) -> f64, operands: &[u32], results: &[u32]) -> (u64, f64) {
    let (mut failing, mut worst) = (0, 0f64);
    for (&x, &got) in operands.iter().zip(results) {
        let (x, got) = (f64::from(f32::from_bits(x)), f64::from(f32::from_bits(got)));
        let exact = function(x);
        if !exact.is_finite() || !got.is_finite() {
            continue;
        }
        let ulp = f64::from_bits(exact.abs().max(2f64.powi(-126)).to_bits() & 0x7ff0_0000_0000_0000) * 2f64.powi(-23);
        let margin = (got - exact).abs() / (ulps(op, x) * ulp);
        failing += u64::from(margin > 1.0);
        worst = worst.max(margin);
    }
    (failing, worst)
}
