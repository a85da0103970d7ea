//! The parts of a precision case that place it in the atlas.

use crate::scalar_types::{ScalarType, parse_types};
use assay_precision::Scalar;

/// Formats in the order of the atlas. Cases without a float have the last one.
pub(super) const FORMATS: [&str; 7] = ["f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2", "int"];

/// Returns the shape in the name of a precision case; `None` for a case of another kind, whose name
/// is not `PREFIX.SCALAR.INSTRUCTION.SHAPE.MODES` with this instruction.
pub(super) fn shape_of<'a>(name: &'a str, instruction: &str) -> Option<&'a str> {
    let mut parts = name.split('.').skip(1);
    let (scalar, op, shape, modes) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    Scalar::from_name(scalar)?;
    let named = instruction.strip_prefix("Op").unwrap_or(instruction);
    (named.eq_ignore_ascii_case(op) && is_shape(shape) && !modes.is_empty()).then_some(shape)
}

/// Returns true for `scalar`, `vec2` .. `vec4` and `mat2x2` .. `mat4x4`.
fn is_shape(text: &str) -> bool {
    let sizes = |text: &str| text.split('x').all(|size| matches!(size, "2" | "3" | "4"));
    text == "scalar"
        || text.strip_prefix("vec").is_some_and(|size| size.len() == 1 && sizes(size))
        || text.strip_prefix("mat").is_some_and(|size| size.len() == 3 && sizes(size))
}

/// Returns the index in [`FORMATS`] of the float result, else of the first float operand.
pub(super) fn format_of(types: &str) -> u8 {
    let (results, operands) = parse_types(types);
    let float = results.iter().chain(&operands).find_map(|scalar| match scalar {
        ScalarType::Float(format) => Some(format.name),
        ScalarType::Signed(_) | ScalarType::Plain => None,
    });
    let place = FORMATS.iter().position(|&name| Some(name) == float);
    place.unwrap_or(FORMATS.len() - 1) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_cases_are_recognised_by_their_names() {
        for (name, instruction, shape) in [
            ("precision.f32.exp2.scalar.default", "Exp2", Some("scalar")),
            ("mine.f16.fadd.vec4.rounding_mode_rte.constant", "OpFAdd", Some("vec4")),
            ("precision.f64.determinant.mat3x3.default", "Determinant", Some("mat3x3")),
            ("precision.f32.exp.scalar.default", "Exp2", None),
            ("environment.integer.uconvert.u32.scalar", "OpUConvert", None),
            ("precision.f32.exp2.mat5x1.default", "Exp2", None),
            ("precision.f32.exp2.scalar", "Exp2", None),
            ("compute.blur", "", None),
        ] {
            assert_eq!(shape_of(name, instruction), shape, "{name}");
        }
    }

    #[test]
    fn the_format_is_that_of_a_float() {
        let format = |types: &str| FORMATS[usize::from(format_of(types))];
        assert_eq!(
            ["f16 <- f32", "bool <- f64, f64", "i32 <- bf16", "vec2<u8> <- vec2<u8>", "vec4<f8e4m3> <- vec4<i16>"]
                .map(format),
            ["f16", "f64", "bf16", "int", "f8e4m3"]
        );
    }
}
