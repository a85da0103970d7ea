//! Special values, at which implementations of instructions often fail.

use assay_float::{F16, Format};
use assay_precision::{Call, Op, Scalar};
use std::f64::consts::{FRAC_PI_2, LN_2, PI};

/// The special values of one operand slot.
#[derive(Clone, Debug)]
pub(super) struct SpecialValues {
    /// The most revealing values, which are combined with those of the other slots.
    pub(super) core: Vec<u64>,
    /// All values: the core, powers of two, halfway cases, multiples of pi/2, and their neighbours.
    pub(super) all: Vec<u64>,
}

/// Largest size of a core, so that combinations of two slots stay in the thousands.
const CORE: usize = 64;

impl SpecialValues {
    /// Returns the values for a slot of that type of the call.
    pub(super) fn for_call(call: &Call, scalar: Scalar) -> SpecialValues {
        SpecialValues::build(Some(call), scalar)
    }

    /// Returns the values for a scalar in memory, for any instructions.
    pub(super) fn for_memory(scalar: Scalar) -> SpecialValues {
        SpecialValues::build(None, scalar)
    }

    fn build(call: Option<&Call>, scalar: Scalar) -> SpecialValues {
        let (mut core, mut all) = match scalar {
            Scalar::Float(format) => floats(call, format),
            Scalar::Int { width, signed } => integers(call, width, signed),
            Scalar::Bool => (vec![0, 1], Vec::new()),
        };
        dedup(&mut core);
        core.truncate(CORE);
        all.splice(0..0, core.iter().copied());
        dedup(&mut all);
        SpecialValues { core, all }
    }
}

/// Removes repetitions without changing the order.
fn dedup(values: &mut Vec<u64>) {
    let mut seen = std::collections::HashSet::new();
    values.retain(|&value| seen.insert(value));
}

fn floats(call: Option<&Call>, format: Format) -> (Vec<u64>, Vec<u64>) {
    let (one, two, half) = (near(format, 1.0), near(format, 2.0), near(format, 0.5));
    let (max, min_normal) = (format.max_finite() as u64, format.min_normal() as u64);
    let mut magnitudes = vec![0, one, max, 1, min_normal, min_normal - 1];
    if format.has_infinity() {
        magnitudes.push(max + 1);
    }
    let edges = call.map_or_else(|| vec![0.25, 4.0], |call| edges(call, format));
    let edges: Vec<u64> = edges.into_iter().map(|value| near(format, value)).collect();
    magnitudes.extend([one - 1, one + 1, two, half, min_normal / 2, min_normal + 1]);
    magnitudes.extend(edges.iter().copied());
    let integer_end = 2f64.powi(format.fraction_bits as i32 + 1);
    magnitudes.extend([1.5, 3.0, PI, FRAC_PI_2, 10.0, 0.1, integer_end].map(|value| near(format, value)));
    let mut core = nans(format);
    core.truncate(3);
    core.extend(magnitudes.iter().flat_map(|&bits| [bits, bits | format.sign_mask()]));

    let mut wide: Vec<u64> = Vec::new();
    let mut around = |bits: u64, reach: u64| {
        let lo = bits.saturating_sub(reach);
        wide.extend(lo..=(bits + reach).min(format.infinity() as u64));
    };
    edges.iter().for_each(|&edge| around(edge, 4));
    for exponent in format.quantum()..=format.max_exponent() {
        // Computed from bits, because 2^-1074 and similar values exceed `powi`.
        let bits = match exponent - format.min_normal_exponent() {
            above @ 0.. => (above as u64 + 1) << format.fraction_bits,
            _ => 1 << (exponent - format.quantum()),
        };
        around(bits, 1);
    }
    for n in 0..64u32 {
        around(near(format, f64::from(n) + 0.5), 1);
        around(near(format, f64::from(n) * FRAC_PI_2), 1);
        around(near(format, f64::from(n)), 0);
    }
    for steps in call.map_or_else(Vec::new, |call| fractions(call.op)) {
        for n in 0..=steps {
            // Midpoints between the integers of a packed value, and the integers themselves.
            around(near(format, (f64::from(n) + 0.5) / f64::from(steps)), 1);
            around(near(format, f64::from(n) / f64::from(steps)), 1);
        }
    }
    wide.retain(|&bits| bits <= format.magnitude_mask());
    let mut all = nans(format);
    all.extend(wide.iter().flat_map(|&bits| [bits, bits | format.sign_mask()]));
    (core, all)
}

/// Returns quiet and signalling NaNs with several payloads and both signs.
fn nans(format: Format) -> Vec<u64> {
    let quiet = format.nan();
    let mut nans = vec![quiet, quiet | format.sign_mask()];
    if format.has_infinity() && format.fraction_bits > 1 {
        let infinity = format.infinity() as u64;
        let quiet_bit = quiet ^ infinity;
        nans.insert(1, infinity | 1);
        nans.extend([
            format.magnitude_mask(),
            infinity | (quiet_bit - 1),
            infinity | (quiet_bit >> 1) | format.sign_mask(),
        ]);
    }
    nans
}

/// Returns magnitudes at which the rule of an instruction changes, its result leaves the format, or
/// its domain ends.
fn edges(call: &Call, format: Format) -> Vec<f64> {
    let overflow = f64::from(format.max_exponent() + 1);
    let (normal, quantum) = (f64::from(format.min_normal_exponent()), f64::from(format.quantum()));
    // Arguments whose squares leave the format at either end.
    let squares = [(overflow / 2.0).exp2(), (normal / 2.0).floor().exp2(), (quantum / 2.0).floor().exp2()];
    match call.op {
        Op::FDiv | Op::FRem | Op::FMod => {
            vec![(overflow - 2.0).exp2(), (overflow - 1.0).exp2(), (2.0 - overflow).exp2()]
        }
        Op::Exp | Op::Sinh | Op::Cosh => [overflow, normal, quantum, quantum - 1.0].map(|x| x.abs() * LN_2).to_vec(),
        Op::Exp2 => [overflow, normal, quantum, quantum - 1.0].map(f64::abs).to_vec(),
        Op::Pow => vec![overflow, -normal, -quantum, 0.5, 2.0],
        Op::Log | Op::Log2 => vec![0.5, 2.0, 0.75, 1.25],
        Op::Sin | Op::Cos | Op::Tan => vec![PI, FRAC_PI_2, 2.0 * PI, PI / 4.0, 100.0],
        Op::Atanh | Op::Asin | Op::Acos => vec![1.0, 0.5],
        Op::Tanh => vec![f64::from(format.fraction_bits) * LN_2 / 2.0, overflow * LN_2],
        Op::Asinh | Op::Acosh => vec![squares[0], squares[1], squares[2], 1.25],
        Op::FMul
        | Op::Sqrt
        | Op::InverseSqrt
        | Op::Length
        | Op::Distance
        | Op::Normalize
        | Op::Reflect
        | Op::Refract
        | Op::Cross
        | Op::Dot => squares.to_vec(),
        Op::FConvert | Op::QuantizeToF16 | Op::PackHalf2x16 => narrower_edges(call, format),
        Op::ConvertFToU | Op::ConvertFToS => call.results.iter().flat_map(|ty| integer_edges(ty.scalar)).collect(),
        Op::Radians | Op::Degrees => vec![180.0, 90.0, 360.0, PI],
        Op::Round | Op::RoundEven | Op::Trunc | Op::Floor | Op::Ceil | Op::Fract | Op::Modf | Op::ModfStruct => {
            let ulp_is_one = f64::from(format.fraction_bits).exp2();
            vec![0.5, 1.5, 2.5, ulp_is_one, ulp_is_one / 2.0, ulp_is_one / 2.0 - 0.5]
        }
        _ => vec![0.25, 4.0],
    }
}

/// Returns magnitudes at which the narrower format of a conversion overflows, becomes denormal or
/// rounds to zero. The narrower format is that of the result for `OpFConvert`, else binary16.
/// Returns 0.25 and 4 if it is not narrower.
fn narrower_edges(call: &Call, from: Format) -> Vec<f64> {
    let to = match call.op {
        Op::FConvert => call.results[0].scalar.format().unwrap_or(F16),
        _ => F16,
    };
    if to.max_exponent() > from.max_exponent() || to.fraction_bits > from.fraction_bits {
        return vec![0.25, 4.0];
    }
    let max = to.to_f64(to.max_finite() as u64);
    let ulp = f64::from(to.max_exponent() - to.fraction_bits as i32).exp2();
    let (normal, quantum) = (f64::from(to.min_normal_exponent()).exp2(), f64::from(to.quantum()).exp2());
    vec![max, max + ulp / 2.0, max + ulp, normal, normal - quantum / 2.0, quantum, quantum / 2.0, quantum * 1.5]
}

fn integer_edges(scalar: Scalar) -> Vec<f64> {
    let Scalar::Int { width, signed } = scalar else { return Vec::new() };
    let end = f64::from(width - u32::from(signed)).exp2();
    vec![end, end - 1.0, end / 2.0, 0.999_999_9]
}

/// Returns the numbers of steps into which a packing instruction divides its range.
fn fractions(op: Op) -> Vec<u32> {
    match op {
        Op::PackSnorm4x8 => vec![127],
        Op::PackUnorm4x8 => vec![255],
        // A sample of the 32,767 and 65,535 steps; others occur among random inputs.
        Op::PackSnorm2x16 | Op::PackUnorm2x16 => vec![127, 255],
        _ => Vec::new(),
    }
}

fn integers(call: Option<&Call>, width: u32, signed: bool) -> (Vec<u64>, Vec<u64>) {
    let mask = u64::MAX >> (64 - width);
    let top = 1u64 << (width - 1);
    let mut core = vec![0, 1, mask, top, top - 1, 2, mask - 1, top + 1];
    match call.map(|call| (call, call.op)) {
        Some((call, Op::Ldexp)) => {
            let format = call.operands[0].scalar.format().unwrap_or(F16);
            let ends = [format.max_exponent(), format.min_normal_exponent(), format.quantum(), 2 * format.bias(), 16];
            for end in ends {
                core.extend((-2..=2).flat_map(|n| [end + n, -end - n]).map(|n| n as u64 & mask));
            }
        }
        Some((
            _,
            Op::UnpackSnorm4x8 | Op::UnpackUnorm4x8 | Op::UnpackSnorm2x16 | Op::UnpackUnorm2x16 | Op::UnpackHalf2x16,
        )) => {
            core.extend([0x7f80_8101, 0x8000_7fff, 0x8001_ffff, 0x7c00_fc00, 0x7e00_7c01, 0x0001_83ff, 0x3c00_bc00]);
        }
        _ => {}
    }
    let mut all = Vec::new();
    for bit in 0..width {
        let power = 1u64 << bit;
        all.extend([power, power - 1, power + 1, !power & mask, power.wrapping_neg() & mask]);
    }
    // Ties and near ties of conversions to formats with these numbers of fraction bits.
    for fraction in [10, 7, 23, 52u32] {
        for exponent in fraction + 1..width {
            let (value, half) = (1u64 << exponent, 1u64 << (exponent - fraction - 1));
            for tie in [value | half, value | half | half << 1] {
                all.extend([tie, tie - 1, tie + 1]);
                if signed {
                    all.extend([tie, tie - 1, tie + 1].map(|n| n.wrapping_neg() & mask));
                }
            }
        }
    }
    all.retain(|&value| value <= mask);
    (core, all)
}

/// Returns the bits of `value` truncated towards zero to the format. Special values need not be
/// exact, because their neighbours are included.
pub(super) fn near(format: Format, value: f64) -> u64 {
    let bits = value.to_bits();
    let sign = if value.is_sign_negative() { format.sign_mask() } else { 0 };
    if !value.is_finite() {
        return sign | format.infinity() as u64 & format.magnitude_mask();
    }
    let field = (bits >> 52 & 0x7ff) as i32;
    let mantissa = bits & ((1 << 52) - 1) | u64::from(field != 0) << 52;
    let exponent = field.max(1) - 1075;
    // The value is mantissa * 2^exponent; `unit` is the exponent of the format's last place.
    let binade = exponent + 63 - mantissa.leading_zeros().min(63) as i32;
    let unit = (binade - format.fraction_bits as i32).max(format.quantum());
    let significand = match unit - exponent {
        drop @ 64.. => {
            let _ = drop;
            0
        }
        drop @ 0..64 => mantissa >> drop,
        keep => mantissa << -keep,
    };
    // The leading one of a normal significand adds one to the exponent field.
    let steps = (unit - format.quantum()) as u64;
    let magnitude = (steps << format.fraction_bits) + significand;
    sign | magnitude.min(format.max_finite() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_float::{F32, F64};

    #[test]
    fn near_truncates() {
        for value in [1.0, 0.1, -PI, 1e-40, 3e38, -65_504.0, 5e-324, 0.0, -0.0] {
            assert_eq!(near(F64, value), value.to_bits());
            let host = (value as f32).to_bits() as u64;
            assert!(near(F32, value).abs_diff(host) <= 1, "{value}");
            assert!(F32.to_f64(near(F32, value)).abs() <= value.abs());
        }
        assert_eq!(near(F16, 65_504.0), 0x7bff);
        assert_eq!(near(F16, 1e9), 0x7bff);
        assert_eq!(near(F16, 6e-8), 1);
        assert_eq!(near(F16, f64::INFINITY), 0x7c00);
    }
}
