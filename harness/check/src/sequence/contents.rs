//! Expectations on the contents of a named memory.

use crate::compare::hex;
use crate::memory_layout::Element;
use assay_precision::Scalar;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Layout of the elements of a memory, which follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataLayout {
    /// Size of an element with its padding in bytes.
    pub stride: u64,
    /// Scalars of an element.
    pub scalars: Vec<DataScalar>,
}

/// A scalar of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataScalar {
    /// Offset in the element in bytes.
    pub offset: u64,
    /// Type.
    #[serde(with = "scalar_name")]
    pub scalar: Scalar,
}

/// Serialised form of a scalar type: its name.
mod scalar_name {
    use assay_precision::Scalar;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(scalar: &Scalar, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(scalar)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Scalar, D::Error> {
        let name = String::deserialize(from)?;
        Scalar::from_name(&name).ok_or_else(|| D::Error::custom(format!("unknown type `{name}`")))
    }
}

impl DataLayout {
    /// Returns the layout of an array of scalars.
    pub fn of(scalar: Scalar) -> DataLayout {
        DataLayout { stride: u64::from(scalar.width() / 8), scalars: vec![DataScalar { offset: 0, scalar }] }
    }

    /// Returns the position of a scalar, counted from the first byte of a memory. The index counts
    /// scalars, without padding.
    pub fn element(&self, index: u64) -> Element {
        let per_element = self.scalars.len().max(1) as u64;
        let DataScalar { offset, scalar } = self.scalars[(index % per_element) as usize];
        Element { offset: index / per_element * self.stride + offset, scalar }
    }

    /// Returns the number of scalars in a memory of this size.
    pub fn count(&self, bytes: u64) -> u64 {
        bytes / self.stride.max(1) * self.scalars.len() as u64
    }

    /// Returns the path of a scalar: `[3]`, or `[3][1]` for the second scalar of an element.
    pub fn path(&self, index: u64) -> String {
        match self.scalars.len().max(1) as u64 {
            1 => format!("[{index}]"),
            scalars => format!("[{}][{}]", index / scalars, index % scalars),
        }
    }
}

/// Relation between a value and the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Comparator {
    /// Equal, or within the tolerance. All NaNs are equal, and so are the zeros.
    Equal,
    /// Not equal, and not within the tolerance.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
}

/// Largest permitted difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Tolerance {
    /// Absolute.
    Absolute(f64),
    /// As a factor on the magnitude of the expected value.
    Relative(f64),
}

impl FromStr for Tolerance {
    type Err = String;

    /// Parses `0.5`, or `1%` of the expected value.
    fn from_str(text: &str) -> Result<Tolerance, String> {
        let (number, percent) = match text.strip_suffix('%') {
            Some(number) => (number, true),
            None => (text, false),
        };
        match number.trim().parse() {
            Ok(number) if f64::is_finite(number) && number >= 0.0 => {
                Ok(if percent { Tolerance::Relative(number / 100.0) } else { Tolerance::Absolute(number) })
            }
            _ => Err(format!("tolerance `{text}`: expected a number that is not negative, or one with %")),
        }
    }
}

impl Tolerance {
    /// Returns the permitted difference from a value.
    fn around(self, expected: f64) -> f64 {
        match self {
            Tolerance::Absolute(difference) => difference,
            Tolerance::Relative(factor) => factor * expected.abs(),
        }
    }
}

/// Condition on one scalar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ElementCondition {
    /// Offset in bytes.
    pub offset: u64,
    /// Type.
    #[serde(with = "scalar_name")]
    pub scalar: Scalar,
    /// Path for messages.
    pub path: String,
    /// Relation to the expected value.
    pub comparator: Comparator,
    /// Expected value: bits of the integer type, or bits of the value as `f64` for a float.
    pub value: u64,
    /// Tolerance of `Equal` and `NotEqual`.
    pub tolerance: Option<Tolerance>,
}

impl ElementCondition {
    /// Returns the element.
    pub(crate) fn element(&self) -> Element {
        Element { offset: self.offset, scalar: self.scalar }
    }

    /// Returns whether a value meets the condition.
    pub(crate) fn is_met(&self, bits: u64) -> bool {
        match self.scalar {
            Scalar::Float(format) => self.is_met_by(format.to_f64(bits), f64::from_bits(self.value)),
            Scalar::Int { .. } | Scalar::Bool if self.tolerance.is_some() => {
                self.is_met_by(whole(self.scalar, bits) as f64, whole(self.scalar, self.value) as f64)
            }
            Scalar::Int { .. } | Scalar::Bool => {
                compare(self.comparator, &whole(self.scalar, bits), &whole(self.scalar, self.value))
            }
        }
    }

    fn is_met_by(&self, got: f64, expected: f64) -> bool {
        let near = || match self.tolerance {
            _ if got.is_nan() || expected.is_nan() => got.is_nan() && expected.is_nan(),
            _ if got == expected => true,
            Some(tolerance) => (got - expected).abs() <= tolerance.around(expected),
            None => false,
        };
        match self.comparator {
            Comparator::Equal => near(),
            Comparator::NotEqual => !near(),
            other => compare(other, &got, &expected),
        }
    }

    /// Returns the ends of the expected range as bits of the type. The ends of an order belong to
    /// the range.
    pub(crate) fn ends(&self) -> [String; 2] {
        let Scalar::Float(format) = self.scalar else {
            let (least, greatest) = match self.scalar {
                Scalar::Int { width, signed: true } => (1u64 << (width - 1), u64::MAX >> (65 - width)),
                Scalar::Int { width, .. } => (0, u64::MAX >> (64 - width)),
                _ => (0, 1),
            };
            return self.between(least, greatest, self.value, self.value).map(|bits| hex(self.scalar, bits));
        };
        let expected = f64::from_bits(self.value);
        if expected.is_nan() {
            return ["nan", "nan"].map(str::to_owned);
        }
        let bits = |value: f64| match value {
            _ if value == f64::INFINITY => "inf".to_owned(),
            _ if value == f64::NEG_INFINITY => "-inf".to_owned(),
            _ => format!("{value:e}"),
        };
        let bits = |value: f64| format.parse(&bits(value)).map_or(0, |number| number.bits);
        let around = self.tolerance.map_or(0.0, |tolerance| tolerance.around(expected));
        let (low, high) = (bits(expected - around), bits(expected + around));
        self.between(bits(f64::NEG_INFINITY), bits(f64::INFINITY), low, high).map(|bits| hex(self.scalar, bits))
    }

    fn between(&self, least: u64, greatest: u64, low: u64, high: u64) -> [u64; 2] {
        match self.comparator {
            Comparator::Equal => [low, high],
            Comparator::NotEqual => [least, greatest],
            Comparator::Less | Comparator::LessOrEqual => [least, high],
            Comparator::Greater | Comparator::GreaterOrEqual => [low, greatest],
        }
    }
}

/// Returns the conditions that the scalars of a memory equal those of another one of the same
/// layout, within a tolerance; bit for bit without one.
pub(crate) fn equal_to<'a>(
    layout: &'a DataLayout,
    expected: &'a [u8],
    tolerance: Option<Tolerance>,
) -> impl Iterator<Item = ElementCondition> + 'a {
    (0..layout.count(expected.len() as u64)).filter_map(move |index| {
        let Element { offset, scalar } = layout.element(index);
        let bits = Element { offset, scalar }.read(expected)?;
        let (scalar, value) = match scalar {
            Scalar::Float(format) if tolerance.is_some() => (scalar, format.to_f64(bits).to_bits()),
            Scalar::Int { .. } => (scalar, bits),
            other => (Scalar::Int { width: other.width(), signed: false }, bits),
        };
        let path = layout.path(index);
        Some(ElementCondition { offset, scalar, path, comparator: Comparator::Equal, value, tolerance })
    })
}

fn compare<T: PartialOrd>(comparator: Comparator, got: &T, expected: &T) -> bool {
    match comparator {
        Comparator::Equal => got == expected,
        Comparator::NotEqual => got != expected,
        Comparator::Less => got < expected,
        Comparator::LessOrEqual => got <= expected,
        Comparator::Greater => got > expected,
        Comparator::GreaterOrEqual => got >= expected,
    }
}

/// Returns the value of an integer.
fn whole(scalar: Scalar, bits: u64) -> i128 {
    match scalar {
        Scalar::Int { width, signed: true } => i128::from(bits.cast_signed() << (64 - width) >> (64 - width)),
        _ => i128::from(bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_float::{F16, F32};

    fn condition(scalar: Scalar, comparator: Comparator, value: u64, tolerance: Option<Tolerance>) -> ElementCondition {
        ElementCondition { offset: 0, scalar, path: String::new(), comparator, value, tolerance }
    }

    #[test]
    fn conditions_compare_values_of_the_type() {
        let int = Scalar::Int { width: 8, signed: true };
        let minus_one = |comparator| condition(int, comparator, 0xff, None);
        assert!(minus_one(Comparator::Equal).is_met(0xff) && !minus_one(Comparator::Equal).is_met(1));
        assert!(minus_one(Comparator::Less).is_met(0x80) && !minus_one(Comparator::Less).is_met(0));
        assert!(minus_one(Comparator::GreaterOrEqual).is_met(0xff) && minus_one(Comparator::NotEqual).is_met(0));
        let float = Scalar::Float(F32);
        let bits = |value: f32| u64::from(value.to_bits());
        let near = |tolerance| condition(float, Comparator::Equal, 100f64.to_bits(), Some(tolerance));
        assert!(near(Tolerance::Absolute(0.5)).is_met(bits(100.5)));
        assert!(!near(Tolerance::Absolute(0.5)).is_met(bits(100.75)));
        assert!(near(Tolerance::Relative(0.01)).is_met(bits(99.0)));
        assert!(!near(Tolerance::Relative(0.01)).is_met(bits(f32::NAN)));
        assert!(condition(float, Comparator::Equal, f64::NAN.to_bits(), None).is_met(bits(f32::NAN)));
        assert!(condition(float, Comparator::Equal, 0f64.to_bits(), None).is_met(bits(-0.0)));
        assert!(condition(Scalar::Float(F16), Comparator::Less, 2f64.to_bits(), None).is_met(0x3c00));
    }

    #[test]
    fn tolerances_are_absolute_or_relative() {
        assert_eq!("0.5".parse(), Ok(Tolerance::Absolute(0.5)));
        assert_eq!("1%".parse(), Ok(Tolerance::Relative(0.01)));
        for wrong in ["-1", "nan", "inf%", "", "%"] {
            assert!(wrong.parse::<Tolerance>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_expected_range_is_given_in_bits_of_the_type() {
        let float = Scalar::Float(F32);
        let near = condition(float, Comparator::Equal, 1f64.to_bits(), Some(Tolerance::Absolute(0.5)));
        assert_eq!(near.ends(), ["0x3f000000", "0x3fc00000"]);
        let below = condition(Scalar::Int { width: 8, signed: true }, Comparator::Less, 3, None);
        assert_eq!(below.ends(), ["0x80", "0x03"]);
    }

    #[test]
    fn scalars_are_counted_without_padding() {
        let scalar = Scalar::Float(F32);
        let vec3 = DataLayout { stride: 16, scalars: [0, 4, 8].map(|offset| DataScalar { offset, scalar }).into() };
        assert_eq!((vec3.element(4).offset, vec3.path(4), vec3.count(32)), (20, "[1][1]".to_owned(), 6));
    }
}
