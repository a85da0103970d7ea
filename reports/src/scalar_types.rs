//! Types of operands and results, and values of their bit patterns.

use assay_events::Example;
use assay_float::Format;

/// Type of a scalar operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarType {
    /// A floating-point number.
    Float(Format),
    /// A signed integer of this width.
    Signed(u32),
    /// An unsigned integer, a boolean, or a type that this version does not know.
    Plain,
}

impl ScalarType {
    /// Formats the value in decimal.
    pub fn decimal(self, bits: u64) -> String {
        match self {
            ScalarType::Float(format) => format.decimal(bits & format.mask()),
            ScalarType::Signed(width) => {
                let unused = 64 - width.clamp(1, 64);
                ((bits << unused).cast_signed() >> unused).to_string()
            }
            ScalarType::Plain => bits.to_string(),
        }
    }

    /// Formats the value as a hexadecimal float; `None` for non-floats, zeros, infinities and NaNs.
    pub fn hex_float(self, bits: u64) -> Option<String> {
        match self {
            ScalarType::Float(format) if format.is_finite(bits) && !format.is_zero(bits) => {
                Some(format.hex_float(bits))
            }
            ScalarType::Float(_) | ScalarType::Signed(_) | ScalarType::Plain => None,
        }
    }
}

/// Returns the type of a result. An element of a program has its own type.
pub(crate) fn result_type(example: &Example, types: &str) -> ScalarType {
    match &example.scalar {
        Some(scalar) => parse_types(scalar).0.first().copied(),
        None => parse_types(types).0.get(example.slot).copied(),
    }
    .unwrap_or(ScalarType::Plain)
}

/// Returns the ranges of permitted results of an example as text, lowest value first.
pub(crate) fn permitted_texts(example: &Example, types: &str) -> Vec<String> {
    let slot = result_type(example, types);
    let range = |[lo, hi]: &[String; 2]| match (lo.as_str(), lo == hi) {
        ("nan", _) => "any NaN".to_owned(),
        (_, true) => value(slot, lo),
        (_, false) => format!("{} .. {}", value(slot, lo), value(slot, hi)),
    };
    example.permitted.iter().map(range).collect()
}

/// Parses the types of a case, `vec2<f32> <- vec2<f32>, f32`, into the scalars of results and
/// operands.
pub fn parse_types(types: &str) -> (Vec<ScalarType>, Vec<ScalarType>) {
    let side = |list: &str| list.split(", ").flat_map(parse_type).collect();
    match types.split_once(" <- ") {
        Some((results, operands)) => (side(results), side(operands)),
        None => (side(types), Vec::new()),
    }
}

/// Parses one type: `f32`, `vec3<f32>`, `mat2x3<f32>`.
fn parse_type(text: &str) -> Vec<ScalarType> {
    let (shape, scalar) = match text.trim().split_once('<') {
        Some((shape, scalar)) => (shape, scalar.trim_end_matches('>')),
        None => ("", text.trim()),
    };
    let digits = shape.trim_start_matches(|c: char| !c.is_ascii_digit());
    let count = digits.split('x').map(|n| n.parse().unwrap_or(1)).product();
    let slot = match Format::from_name(scalar) {
        Some(format) => ScalarType::Float(format),
        None => match scalar.strip_prefix('i').and_then(|width| width.parse().ok()) {
            Some(width) => ScalarType::Signed(width),
            None => ScalarType::Plain,
        },
    };
    vec![slot; count]
}

/// Returns the width of a case: `f32`, or `f16 <- f32` for a conversion.
pub(crate) fn width(types: &str) -> String {
    let scalar = |list: &str| {
        let first = list.split(", ").next().unwrap_or(list).trim();
        first.rsplit('<').next().unwrap_or(first).trim_end_matches('>').to_owned()
    };
    match types.split_once(" <- ") {
        Some((results, operands)) => {
            let (result, operand) = (scalar(results), scalar(operands));
            if result == operand || result == "bool" { operand } else { format!("{result} <- {operand}") }
        }
        None => scalar(types),
    }
}

/// Returns the shape of the first operand, `scalar` or `vec2`; `None` without operands.
pub(crate) fn shape(types: &str) -> Option<&str> {
    let (_, operands) = types.split_once(" <- ")?;
    Some(operands.split(", ").next()?.split_once('<').map_or("scalar", |(shape, _)| shape))
}

/// Formats bits with their values: `0x3f9d70a4 = 1.23`, `0x3f800000, 0x40400000 = 1, 3`. At most
/// four scalars are shown.
pub fn describe(bits: &[String], slots: &[ScalarType]) -> String {
    const SHOWN: usize = 4;
    let value = |(text, slot): (&String, &ScalarType)| {
        let bits = u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()?;
        Some(slot.decimal(bits))
    };
    let values: Option<Vec<String>> = bits.iter().zip(slots).take(SHOWN).map(value).collect();
    let shown = bits[..bits.len().min(SHOWN)].join(", ");
    let more = if bits.len() > SHOWN { ", .." } else { "" };
    match values {
        Some(values) if values.len() == bits.len().min(SHOWN) && !values.is_empty() => {
            format!("{shown}{more} = {}{more}", values.join(", "))
        }
        _ => format!("{shown}{more}"),
    }
}

/// Formats bits with their value: `0x3fc00000 = 1.5 = 0x1.8p+0`.
pub(crate) fn value(slot: ScalarType, bits: &str) -> String {
    match u64::from_str_radix(bits.trim_start_matches("0x"), 16) {
        Ok(number) => {
            let hex = slot.hex_float(number).map_or_else(String::new, |hex| format!(" = {hex}"));
            format!("{bits} = {}{hex}", slot.decimal(number))
        }
        Err(_) => bits.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_float::{F16, F32};

    #[test]
    fn types_are_parsed_into_scalars() {
        let (results, operands) = parse_types("mat2x3<f32> <- vec2<f16>, i32");
        assert_eq!(results, [ScalarType::Float(F32); 6]);
        assert_eq!(operands, [ScalarType::Float(F16), ScalarType::Float(F16), ScalarType::Signed(32)]);
    }

    /// The types of a program are those of its case, which elements need not have.
    #[test]
    fn an_element_of_a_program_has_a_type_of_its_own() {
        let case = crate::test_events::case("p.a", assay_events::Status::Fail);
        let mut example = case.worst.unwrap();
        assert_eq!(result_type(&example, "u32 <- f32"), ScalarType::Plain);
        example.scalar = Some("f16".to_owned());
        assert_eq!(result_type(&example, "u32 <- f32"), ScalarType::Float(F16));
    }

    #[test]
    fn widths_name_conversions_only() {
        assert_eq!(width("vec2<f32> <- vec2<f32>, f32"), "f32");
        assert_eq!(width("bool <- f16, f16"), "f16");
        assert_eq!(width("f16 <- f32"), "f16 <- f32");
        assert_eq!(width("f32, i32 <- f32"), "f32");
        assert_eq!(width("u32 <- vec4<f32>"), "u32 <- f32");
    }

    #[test]
    fn operands_are_shown_with_their_values() {
        let bits = |list: &[&str]| list.iter().map(|&s| s.to_owned()).collect::<Vec<_>>();
        let (_, operands) = parse_types("f32 <- f32, i32");
        assert_eq!(describe(&bits(&["0x3f9d70a4", "0xfffffffe"]), &operands), "0x3f9d70a4, 0xfffffffe = 1.23, -2");
        assert_eq!(describe(&bits(&["0x3f9d70a4"]), &[]), "0x3f9d70a4");
        let (_, many) = parse_types("f32 <- mat2x3<f16>");
        assert_eq!(
            describe(&vec!["0x3c00".to_owned(); 6], &many),
            "0x3c00, 0x3c00, 0x3c00, 0x3c00, .. = 1, 1, 1, 1, .."
        );
    }
}
