//! Mutations of rows.

use super::{Rng, Row, SpecialValues};
use crate::inputs::random_rows::scalar_bits;
use assay_float::Format;
use assay_precision::Scalar;

/// Largest number of mutations of a row.
const MUTATIONS: u64 = 4;

/// Changes a row in one to four ways: often few, so that a search can climb, sometimes many.
pub(super) fn mutate(slots: &[Scalar], specials: &[&SpecialValues], other: &Row, rng: &mut Rng, row: &mut Row) {
    let count = 1 + u64::from(rng.next().trailing_ones()).min(MUTATIONS - 1);
    for _ in 0..count {
        let slot = rng.below(slots.len() as u64) as usize;
        match rng.below(16) {
            // A new value, or that of another row.
            0 => row[slot] = scalar_bits(slots[slot], specials[slot], rng.below(5), rng),
            1 | 2 => row[slot] = other[slot],
            3 => copy_operand(slots, slot, rng, row),
            4 => shift_all_exponents(slots, rng, row),
            _ => row[slot] = changed(slots[slot], row[slot], rng),
        }
    }
}

/// Replaces a scalar by a neighbour of another one of the row with the same type.
fn copy_operand(slots: &[Scalar], slot: usize, rng: &mut Rng, row: &mut Row) {
    let from = rng.below(slots.len() as u64) as usize;
    if slots[from] != slots[slot] || slots[slot] == Scalar::Bool {
        return;
    }
    let mask = u64::MAX >> (64 - slots[slot].width());
    let sign = rng.below(2) << (slots[slot].width() - 1);
    row[slot] = (row[from] ^ sign).wrapping_add(rng.between(-2, 2).cast_unsigned()) & mask;
}

/// Multiplies all floats by one power of two, as far as their exponents allow.
fn shift_all_exponents(slots: &[Scalar], rng: &mut Rng, row: &mut Row) {
    let by = rng.between(-8, 8);
    for (bits, scalar) in row.iter_mut().zip(slots) {
        if let Scalar::Float(format) = *scalar {
            *bits = shifted(format, *bits, by);
        }
    }
}

/// Changes one scalar.
fn changed(scalar: Scalar, bits: u64, rng: &mut Rng) -> u64 {
    let mask = u64::MAX >> (64 - scalar.width());
    // A step of one bit's weight, up or down.
    let step = |rng: &mut Rng, bits: u64, width: u32| {
        let by = 1u64 << rng.below(u64::from(width));
        (if rng.below(2) == 0 { bits.wrapping_add(by) } else { bits.wrapping_sub(by) }) & mask
    };
    match scalar {
        Scalar::Bool => bits ^ 1,
        Scalar::Int { width, .. } => match rng.below(3) {
            0 => bits ^ 1 << rng.below(u64::from(width)),
            1 => step(rng, bits, width),
            _ => (if rng.below(2) == 0 { bits << 1 } else { bits >> 1 }) & mask,
        },
        Scalar::Float(format) => match rng.below(8) {
            0 | 1 => bits ^ 1 << rng.below(u64::from(format.fraction_bits)),
            2 | 3 => step(rng, bits, format.fraction_bits),
            4 => shifted(format, bits, rng.between(-3, 3)),
            5 => bits & !low_bits(format, rng),
            6 => bits | low_bits(format, rng),
            _ => bits ^ format.sign_mask(),
        },
    }
}

/// Mask of the lowest bits of the fraction.
fn low_bits(format: Format, rng: &mut Rng) -> u64 {
    (1 << rng.below(u64::from(format.fraction_bits) + 1)) - 1
}

/// Adds to the exponent of a float, unless it leaves the finite numbers.
fn shifted(format: Format, bits: u64, by: i64) -> u64 {
    let magnitude = (bits & format.magnitude_mask()).cast_signed() + (by << format.fraction_bits);
    let fits = (0..=format.max_finite()).contains(&magnitude);
    if fits { bits & format.sign_mask() | magnitude.cast_unsigned() } else { bits }
}
