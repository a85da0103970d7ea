//! The axis of a first operand: its bit patterns in the order of their values, in equal parts.

use crate::ScalarType;
use assay_float::Format;

/// The axis for one type of operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct OperandAxis {
    scalar: ScalarType,
    width: u32,
}

impl OperandAxis {
    /// Returns the axis of a type such as `f32` or `u16`; `None` for a type that this version does
    /// not know.
    pub(super) fn new(operand: &str) -> Option<OperandAxis> {
        if let Some(format) = Format::from_name(operand) {
            return Some(OperandAxis { scalar: ScalarType::Float(format), width: format.width });
        }
        let width = operand.strip_prefix(['i', 'u'])?.parse().ok().filter(|width| [8, 16, 32, 64].contains(width))?;
        let scalar = if operand.starts_with('i') { ScalarType::Signed(width) } else { ScalarType::Plain };
        Some(OperandAxis { scalar, width })
    }

    fn sign(self) -> u64 {
        1 << (self.width - 1)
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// Returns the pattern at a place of the order, the inverse of [`OperandAxis::order`].
    fn bits(self, order: u64) -> u64 {
        match self.scalar {
            ScalarType::Float(_) if order & self.sign() == 0 => !order & self.mask(),
            ScalarType::Float(_) | ScalarType::Signed(_) => order ^ self.sign(),
            ScalarType::Plain => order,
        }
    }

    /// Returns the place of a pattern in the order of the values.
    fn order(self, bits: u64) -> u64 {
        match self.scalar {
            ScalarType::Float(_) if bits & self.sign() != 0 => !bits & self.mask(),
            ScalarType::Float(_) => bits | self.sign(),
            ScalarType::Signed(_) => bits ^ self.sign(),
            ScalarType::Plain => bits,
        }
    }

    /// Returns the position of a pattern on the axis, from 0 to 1.
    fn position(self, bits: u64) -> f64 {
        self.order(bits) as f64 / 2f64.powi(self.width as i32)
    }

    /// Returns the least and the greatest value of the parts `first ..= last` of `count`, as text.
    pub(super) fn ends(self, first: usize, last: usize, count: usize) -> [String; 2] {
        // Fewer patterns than parts cannot occur: a type has at least 8 bits, a profile 128 parts.
        let size = (u128::from(self.mask()) + 1) / count.max(1) as u128;
        let ends = [first as u128 * size, (last as u128 + 1) * size - 1];
        ends.map(|order| self.text(self.bits(order as u64 & self.mask())))
    }

    fn text(self, bits: u64) -> String {
        match self.scalar {
            ScalarType::Float(format) if format.is_nan(bits) => {
                if format.is_negative(bits) { "-NaN" } else { "NaN" }.to_owned()
            }
            scalar => scalar.decimal(bits),
        }
    }

    /// Returns labels with their positions, in order.
    pub(super) fn ticks(self) -> Vec<(f64, String)> {
        let ScalarType::Float(format) = self.scalar else {
            let [least, greatest] = [0, self.mask()].map(|order| self.text(self.bits(order)));
            let zero = matches!(self.scalar, ScalarType::Signed(_)).then(|| (self.position(0), "0".to_owned()));
            return std::iter::once((0.0, least)).chain(zero).chain([(1.0, greatest)]).collect();
        };
        // A power of ten near the middle of the exponents, so that the labels have room.
        let digits = (f64::from(format.max_exponent()) * 0.151).round().max(1.0) as i32;
        let mut ticks = vec![(self.position(0), "0".to_owned())];
        for (value, text) in [
            (10f64.powi(-digits), format!("1e-{digits}")),
            (1.0, "1".to_owned()),
            (10f64.powi(digits), format!("1e{digits}")),
            (f64::INFINITY, "inf".to_owned()),
        ] {
            let bits = pattern_at(format, value);
            ticks.push((self.position(bits), text.clone()));
            ticks.push((self.position(bits | format.sign_mask()), format!("-{text}")));
        }
        ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
        ticks
    }
}

/// Returns the least positive pattern whose value is at least `value`; that of the largest finite one
/// in a format without infinities.
fn pattern_at(format: Format, value: f64) -> u64 {
    let (mut low, mut high) = (0, format.max_finite() + i64::from(format.has_infinity()));
    while low < high {
        let middle = low + (high - low) / 2;
        if format.to_f64(format.bits(middle)) < value { low = middle + 1 } else { high = middle }
    }
    format.bits(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_values_of_the_profile() {
        let f32 = OperandAxis::new("f32").unwrap();
        // 0x3d800000 = 2^-4 begins the part of its binade; see `assay_precision::Profile`.
        let part = ((0x3d80_0000u64 | 1 << 31) >> 23) as usize;
        assert_eq!(f32.ends(part, part, 512), ["0.0625", "0.12499999"]);
        assert_eq!(f32.ends(511 - part, 511 - part, 512), ["-0.12499999", "-0.0625"]);
        assert_eq!(f32.ends(0, 511, 512), ["-NaN", "NaN"]);
        assert_eq!(OperandAxis::new("i16").unwrap().ends(0, 0, 128), ["-32768", "-32257"]);
        assert_eq!(OperandAxis::new("u64").unwrap().ends(0, 127, 128)[1], u64::MAX.to_string());
        assert!(OperandAxis::new("bool").is_none() && OperandAxis::new("i7").is_none());
    }

    #[test]
    fn ticks_are_in_order_and_have_room() {
        for name in ["f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2", "i32", "u8"] {
            let ticks = OperandAxis::new(name).unwrap().ticks();
            assert!(ticks.windows(2).all(|pair| pair[1].0 - pair[0].0 > 0.04), "{name}: {ticks:?}");
            assert!(ticks.iter().all(|tick| (0.0..=1.0).contains(&tick.0)), "{name}: {ticks:?}");
        }
        let texts: Vec<String> = OperandAxis::new("f32").unwrap().ticks().into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["-inf", "-1e19", "-1", "-1e-19", "0", "1e-19", "1", "1e19", "inf"]);
    }
}
