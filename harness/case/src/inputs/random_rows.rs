//! Random operands, with relations between them that are difficult for instructions.

use super::rng::Rng;
use super::special_values::{SpecialValues, near};
use assay_float::Format;
use assay_precision::{Call, Op, Scalar};

/// Fills one row.
pub(super) fn row(call: &Call, slots: &[Scalar], specials: &[&SpecialValues], rng: &mut Rng, bits: &mut [u64]) {
    // Kinds 0 to 4 apply to the whole row; otherwise each scalar has a kind of its own.
    let kind = rng.below(8);
    for ((bits, &scalar), values) in bits.iter_mut().zip(slots).zip(specials) {
        let kind = if kind >= 5 { rng.below(5) } else { kind };
        *bits = scalar_bits(scalar, values, kind, rng);
    }
    if slots.len() > 1 && rng.below(2) == 0 {
        relate(call, slots, rng, bits);
    }
}

pub(super) fn scalar_bits(scalar: Scalar, values: &SpecialValues, kind: u64, rng: &mut Rng) -> u64 {
    let width = scalar.width();
    let uniform = rng.next() >> (64 - width);
    match (scalar, kind) {
        (Scalar::Bool, _) => uniform & 1,
        (Scalar::Int { .. } | Scalar::Float(_), 0) => uniform,
        // Next to a special value.
        (_, 1) => {
            let mask = u64::MAX >> (64 - width);
            rng.pick(&values.all).wrapping_add(rng.between(-8, 8) as u64) & mask
        }
        // Uniform over bit lengths.
        (Scalar::Int { .. }, _) => uniform >> rng.below(u64::from(width)),
        (Scalar::Float(format), 2) => log_uniform(format, rng),
        (Scalar::Float(format), 3) => short(format, rng),
        (Scalar::Float(format), _) => linear(format, rng),
    }
}

/// Returns a value whose magnitude is from 2^-12 up to 2^12 (fewer binades in a smaller format),
/// uniform over binades.
fn log_uniform(format: Format, rng: &mut Rng) -> u64 {
    let reach = i64::from((format.bias() - 1).min(12));
    let exponent = (rng.between(-reach, reach - 1) + i64::from(format.bias())) as u64;
    let fraction = rng.next() >> (64 - format.fraction_bits);
    let sign = (rng.next() & 1) << (format.width - 1);
    sign | exponent << format.fraction_bits | fraction
}

/// Returns a value with few significant bits, so that sums and products are ties or exact.
fn short(format: Format, rng: &mut Rng) -> u64 {
    let bits = log_uniform(format, rng);
    let keep = rng.below(u64::from(format.fraction_bits / 2) + 2);
    bits & !((1u64 << (u64::from(format.fraction_bits) - keep.min(u64::from(format.fraction_bits)))) - 1)
}

/// Returns a value that is uniform in `[-s, s)`, truncated to the format; `s` is drawn from 1, 3.25,
/// 16 and 104.
pub(super) fn linear(format: Format, rng: &mut Rng) -> u64 {
    let scale = rng.pick(&[1.0, 3.25, 16.0, 104.0]);
    near(format, ((rng.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * scale)
}

/// Introduces relations between operands.
fn relate(call: &Call, slots: &[Scalar], rng: &mut Rng, bits: &mut [u64]) {
    let Scalar::Float(format) = slots[0] else {
        order_integers(call.op, slots, bits);
        return;
    };
    if slots.iter().any(|&slot| slot != slots[0]) {
        return;
    }
    let n = call.operands[0].len();
    match call.op {
        // x = n * y, or a neighbour.
        Op::FRem | Op::FMod => {
            for i in 0..n {
                let multiple = format.to_f64(bits[n + i]) * rng.between(-40, 40) as f64;
                bits[i] = step(format, near(format, multiple), rng.between(-1, 1));
            }
        }
        // min <= x <= max.
        Op::FClamp | Op::NClamp => {
            for i in 0..n {
                let key = |bits: u64| if format.is_nan(bits) { 0 } else { format.rank(bits) };
                if key(bits[n + i]) > key(bits[2 * n + i]) {
                    bits.swap(n + i, 2 * n + i);
                }
            }
        }
        // edge0 < edge1, and x between them.
        Op::SmoothStep => {
            for i in 0..n {
                let (a, b) = (format.to_f64(bits[i]), format.to_f64(bits[n + i]));
                if a > b {
                    bits.swap(i, n + i);
                }
                let at = a.min(b) + (a - b).abs() * (rng.below(1 << 20) as f64 / f64::from(1 << 20));
                bits[2 * n + i] = near(format, at);
            }
        }
        // Pairs of products that cancel: a0*b0 + a1*b1 with b0 = a1, b1 = -a0, and a little off.
        Op::Dot | Op::Cross | Op::Reflect | Op::Refract | Op::FaceForward => {
            for i in 0..n {
                let sign = if i % 2 == 0 { 0 } else { format.sign_mask() };
                bits[n + i] = step(format, bits[i ^ usize::from(i ^ 1 < n)] ^ sign, rng.between(-2, 2));
            }
        }
        // Second operands that are close to the first, its negative, half an ulp, or a multiple by
        // a power of two.
        _ if bits.len() == 2 * n => {
            for i in 0..n {
                bits[n + i] = related(format, bits[i], rng);
            }
        }
        // The third operand cancels the product of the first two.
        Op::Fma | Op::FmaKHR => {
            for i in 0..n {
                let product = -(format.to_f64(bits[i]) * format.to_f64(bits[n + i]));
                bits[2 * n + i] = step(format, near(format, product), rng.between(-2, 2));
            }
        }
        _ => {}
    }
}

/// Returns a second operand: close to the first or its negative, half an ulp of it, or the first
/// times a power of two.
fn related(format: Format, bits: u64, rng: &mut Rng) -> u64 {
    match rng.below(4) {
        0 => step(format, bits, rng.between(-4, 4)),
        1 => step(format, bits ^ format.sign_mask(), rng.between(-4, 4)),
        2 => {
            // Ties of sums: half an ulp of the first operand, and its neighbours.
            let exponent = bits >> format.fraction_bits & ((1 << format.exponent_bits) - 1);
            let lower = exponent.saturating_sub(u64::from(format.fraction_bits) + 1);
            let sign = (rng.next() & 1) << (format.width - 1);
            step(format, sign | lower << format.fraction_bits, rng.between(-1, 1))
        }
        _ => {
            let shift = rng.between(-3, 3) << format.fraction_bits;
            let magnitude = ((bits & format.magnitude_mask()) as i64).saturating_add(shift);
            if (0..=format.max_finite()).contains(&magnitude) {
                bits & format.sign_mask() | magnitude as u64
            } else {
                bits
            }
        }
    }
}

/// Moves away from zero by `by` representable values (towards zero if negative), up to the largest
/// finite value. NaNs are unchanged.
fn step(format: Format, bits: u64, by: i64) -> u64 {
    let magnitude = (bits & format.magnitude_mask()) as i64;
    if magnitude > format.infinity() {
        return bits;
    }
    bits & format.sign_mask() | (magnitude + by).clamp(0, format.max_finite()) as u64
}

fn order_integers(op: Op, slots: &[Scalar], bits: &mut [u64]) {
    let n = slots.len() / 3;
    if !matches!(op, Op::UClamp | Op::SClamp) {
        return;
    }
    for i in 0..n {
        let key = |bits| super::input_range::position(bits, slots[0]).unwrap_or(0);
        if key(bits[n + i]) > key(bits[2 * n + i]) {
            bits.swap(n + i, 2 * n + i);
        }
    }
}
