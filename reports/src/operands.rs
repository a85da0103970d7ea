//! What bits mean: the types of a case, and its operands and results in numbers.

use assay_float::Format;
use assay_runner::Example;

/// The type of one scalar among the operands or results of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A floating-point number.
    Float(Format),
    /// A signed integer of so many bits.
    Signed(u32),
    /// An unsigned integer, a boolean, or something this version does not know.
    Plain,
}

impl Slot {
    /// The value in decimal.
    pub fn decimal(self, bits: u64) -> String {
        match self {
            Slot::Float(format) => format.decimal(bits & format.mask()),
            Slot::Signed(width) => {
                let unused = 64 - width.clamp(1, 64);
                ((bits << unused).cast_signed() >> unused).to_string()
            }
            Slot::Plain => bits.to_string(),
        }
    }

    /// The value as a hex float, for floating-point numbers other than zeros, infinities and NaNs.
    pub fn hex_float(self, bits: u64) -> Option<String> {
        match self {
            Slot::Float(format) if format.is_finite(bits) && !format.is_zero(bits) => Some(format.hex_float(bits)),
            Slot::Float(_) | Slot::Signed(_) | Slot::Plain => None,
        }
    }
}

/// The type of a result of a case of those types: of a program, the element's own.
pub(crate) fn result_slot(example: &Example, types: &str) -> Slot {
    match &example.scalar {
        Some(scalar) => slots(scalar).0.first().copied(),
        None => slots(types).0.get(example.slot).copied(),
    }
    .unwrap_or(Slot::Plain)
}

/// The scalars of the results and of the operands of a case, from its types: `vec2<f32> <- vec2<f32>, f32`.
pub fn slots(types: &str) -> (Vec<Slot>, Vec<Slot>) {
    let side = |list: &str| list.split(", ").flat_map(type_slots).collect();
    match types.split_once(" <- ") {
        Some((results, operands)) => (side(results), side(operands)),
        None => (side(types), Vec::new()),
    }
}

/// The slots of one type: `f32`, `vec3<f32>`, `mat2x3<f32>`.
fn type_slots(text: &str) -> Vec<Slot> {
    let (shape, scalar) = match text.trim().split_once('<') {
        Some((shape, scalar)) => (shape, scalar.trim_end_matches('>')),
        None => ("", text.trim()),
    };
    let digits = shape.trim_start_matches(|c: char| !c.is_ascii_digit());
    let count = digits.split('x').map(|n| n.parse().unwrap_or(1)).product();
    let slot = match Format::from_name(scalar) {
        Some(format) => Slot::Float(format),
        None => match scalar.strip_prefix('i').and_then(|width| width.parse().ok()) {
            Some(width) => Slot::Signed(width),
            None => Slot::Plain,
        },
    };
    vec![slot; count]
}

/// Which width a case is about: `f32`, or `f16 <- f32` for a conversion.
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

/// Bits with their values: `0x3f9d70a4 = 1.23`, `0x3f800000, 0x40400000 = 1, 3`. At most four scalars are spelled
/// out.
pub fn describe(bits: &[String], slots: &[Slot]) -> String {
    const SHOWN: usize = 4;
    let value = |(text, slot): (&String, &Slot)| {
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

/// Bits with what they stand for: `0x3fc00000 = 1.5 = 0x1.8p+0`.
pub(crate) fn value(slot: Slot, bits: &str) -> String {
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
    fn types_say_what_each_scalar_is() {
        let (results, operands) = slots("mat2x3<f32> <- vec2<f16>, i32");
        assert_eq!(results, [Slot::Float(F32); 6]);
        assert_eq!(operands, [Slot::Float(F16), Slot::Float(F16), Slot::Signed(32)]);
    }

    /// A program's types are those of its case, which need not be those of each element.
    #[test]
    fn an_element_of_a_program_has_a_type_of_its_own() {
        let case = crate::testing::case("p.a", assay_runner::Status::Fail);
        let mut example = case.worst.unwrap();
        assert_eq!(result_slot(&example, "u32 <- f32"), Slot::Plain);
        example.scalar = Some("f16".to_owned());
        assert_eq!(result_slot(&example, "u32 <- f32"), Slot::Float(F16));
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
        let (_, operands) = slots("f32 <- f32, i32");
        assert_eq!(describe(&bits(&["0x3f9d70a4", "0xfffffffe"]), &operands), "0x3f9d70a4, 0xfffffffe = 1.23, -2");
        assert_eq!(describe(&bits(&["0x3f9d70a4"]), &[]), "0x3f9d70a4");
        let (_, many) = slots("f32 <- mat2x3<f16>");
        assert_eq!(
            describe(&vec!["0x3c00".to_owned(); 6], &many),
            "0x3c00, 0x3c00, 0x3c00, 0x3c00, .. = 1, 1, 1, 1, .."
        );
    }
}
