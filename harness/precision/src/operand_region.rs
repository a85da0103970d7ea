//! Regions of the operands of a result, by which failures are grouped.

use crate::Scalar;
use assay_float::Format;

/// Region of the operands that a result depends on.
///
/// If its float operands lie in different regions, the first of these in the order of the variants
/// counts: a NaN explains a failure better than the number beside it. Integers and booleans do not
/// count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperandRegion {
    /// A NaN.
    Nan,
    /// An infinity.
    Infinite,
    /// A denormal number.
    Denormal,
    /// A zero of either sign.
    Zero,
    /// A number in the two highest binades of its format.
    NearOverflow,
    /// A normal number in the two lowest binades of its format.
    NearUnderflow,
    /// A magnitude from which on a format has integers only: 2^23 for `f32`.
    Large,
    /// None of these: a float of moderate size.
    Moderate,
    /// No float operand.
    Integer,
}

impl OperandRegion {
    /// All regions, in the order in which they take precedence.
    pub const ALL: [OperandRegion; 9] = [
        OperandRegion::Nan,
        OperandRegion::Infinite,
        OperandRegion::Denormal,
        OperandRegion::Zero,
        OperandRegion::NearOverflow,
        OperandRegion::NearUnderflow,
        OperandRegion::Large,
        OperandRegion::Moderate,
        OperandRegion::Integer,
    ];

    /// Region of operands with these types and bits.
    pub fn of(operands: impl IntoIterator<Item = (Scalar, u64)>) -> OperandRegion {
        let regions = operands.into_iter().filter_map(|(scalar, bits)| Some(of_float(scalar.format()?, bits)));
        regions.min().unwrap_or(OperandRegion::Integer)
    }

    /// Parses the name of a variant: `NearOverflow`.
    pub fn from_name(name: &str) -> Option<OperandRegion> {
        OperandRegion::ALL.into_iter().find(|region| region.name() == name)
    }

    /// Name of the variant.
    pub fn name(self) -> &'static str {
        match self {
            OperandRegion::Nan => "Nan",
            OperandRegion::Infinite => "Infinite",
            OperandRegion::Denormal => "Denormal",
            OperandRegion::Zero => "Zero",
            OperandRegion::NearOverflow => "NearOverflow",
            OperandRegion::NearUnderflow => "NearUnderflow",
            OperandRegion::Large => "Large",
            OperandRegion::Moderate => "Moderate",
            OperandRegion::Integer => "Integer",
        }
    }

    /// The region as an adjective of "operands".
    pub fn adjective(self) -> &'static str {
        match self {
            OperandRegion::Nan => "NaN",
            OperandRegion::Infinite => "infinite",
            OperandRegion::Denormal => "denormal",
            OperandRegion::Zero => "zero",
            OperandRegion::NearOverflow => "near-overflow",
            OperandRegion::NearUnderflow => "near-underflow",
            OperandRegion::Large => "large",
            OperandRegion::Moderate => "moderate",
            OperandRegion::Integer => "integer",
        }
    }
}

fn of_float(format: Format, bits: u64) -> OperandRegion {
    let bits = bits & format.mask();
    let magnitude = (bits & format.magnitude_mask()).cast_signed();
    let binade = 1i64 << format.fraction_bits;
    // The bits of the power of two from which on the unit in the last place is 1.
    let integers = format.rank_of_one() + binade * i64::from(format.fraction_bits);
    if format.is_nan(bits) {
        OperandRegion::Nan
    } else if format.is_infinite(bits) {
        OperandRegion::Infinite
    } else if format.is_denormal(bits) {
        OperandRegion::Denormal
    } else if format.is_zero(bits) {
        OperandRegion::Zero
    } else if magnitude > format.max_finite() - 2 * binade {
        OperandRegion::NearOverflow
    } else if magnitude < format.min_normal() + 2 * binade {
        OperandRegion::NearUnderflow
    } else if magnitude >= integers {
        OperandRegion::Large
    } else {
        OperandRegion::Moderate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_float::{F16, F32, F64};

    #[test]
    fn the_borders_of_a_region_are_powers_of_two() {
        let region = |value: f32| of_float(F32, u64::from(value.to_bits()));
        let power = |exponent: i32| 2f32.powi(exponent);
        for (value, expected) in [
            (f32::NAN, OperandRegion::Nan),
            (-f32::INFINITY, OperandRegion::Infinite),
            (f32::MAX, OperandRegion::NearOverflow),
            (power(126), OperandRegion::NearOverflow),
            (power(126).next_down(), OperandRegion::Large),
            (-power(23), OperandRegion::Large),
            (power(23).next_down(), OperandRegion::Moderate),
            (1.0, OperandRegion::Moderate),
            (power(-124), OperandRegion::Moderate),
            (power(-124).next_down(), OperandRegion::NearUnderflow),
            (f32::MIN_POSITIVE, OperandRegion::NearUnderflow),
            (-f32::MIN_POSITIVE.next_down(), OperandRegion::Denormal),
            (-0.0, OperandRegion::Zero),
        ] {
            assert_eq!(region(value), expected, "{value:e}");
        }
        assert_eq!(of_float(F64, 2f64.powi(52).to_bits()), OperandRegion::Large);
        assert_eq!(of_float(F64, 2f64.powi(52).next_down().to_bits()), OperandRegion::Moderate);
        assert_eq!(of_float(F16, 0x6400), OperandRegion::Large, "1024");
        assert_eq!(of_float(F16, 0x63ff), OperandRegion::Moderate);
    }

    #[test]
    fn the_most_special_float_operand_decides() {
        let f32 = |value: f32| (Scalar::Float(F32), u64::from(value.to_bits()));
        let integer = (Scalar::Int { width: 32, signed: true }, 0);
        assert_eq!(OperandRegion::of([f32(1.0), integer, f32(1e-40)]), OperandRegion::Denormal);
        assert_eq!(OperandRegion::of([f32(0.0), f32(f32::NAN)]), OperandRegion::Nan);
        assert_eq!(OperandRegion::of([integer, (Scalar::Bool, 1)]), OperandRegion::Integer);
        assert_eq!(OperandRegion::of([]), OperandRegion::Integer);
    }

    #[test]
    fn every_region_has_a_name_that_is_parsed() {
        for region in OperandRegion::ALL {
            assert_eq!(OperandRegion::from_name(region.name()), Some(region));
            assert_eq!(format!("{region:?}"), region.name());
        }
        assert!(OperandRegion::ALL.is_sorted() && OperandRegion::from_name("nan").is_none());
    }
}
