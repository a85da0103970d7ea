//! One case and its name.

use assay_precision::{Call, Modes, Op, Scalar, Shape};
use std::fmt;
use std::sync::Arc;

/// Source of the operands. Drivers fold constants with different code than they run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperandSource {
    /// A storage buffer.
    #[default]
    Buffer,
    /// `OpConstant` instructions in the module.
    Constant,
    /// `OpSpecConstant` instructions with values given at pipeline creation.
    SpecConstant,
}

impl OperandSource {
    /// Every source.
    pub const ALL: [OperandSource; 3] = [OperandSource::Buffer, OperandSource::Constant, OperandSource::SpecConstant];

    /// Returns `buffer`, `constant` or `specconstant`.
    pub const fn name(self) -> &'static str {
        match self {
            OperandSource::Buffer => "buffer",
            OperandSource::Constant => "constant",
            OperandSource::SpecConstant => "specconstant",
        }
    }
}

impl fmt::Display for OperandSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One instruction on concrete types, in a concrete environment, with one source of operands.
#[derive(Clone, Debug)]
pub struct Case {
    /// `precision.f32.exp2.scalar.default`. The prefix is the directory of the family's file; see
    /// [`crate::load`].
    pub name: String,
    /// The call to test.
    pub call: Call,
    /// Type of the main operand; for a conversion, of the result.
    pub scalar: Scalar,
    /// Operand type of a conversion.
    pub from: Option<Scalar>,
    /// Shape of the call.
    pub shape: Shape,
    /// Source of the operands.
    pub source: OperandSource,
    /// Set if the quick budget includes it even if no filter names it.
    pub quick: bool,
    /// Name of its family: that of the file, without the extension.
    pub family: Arc<str>,
}

/// The parts of the names of cases that differ in modes and operand source only.
pub(crate) struct NameParts {
    /// `PREFIX.SCALAR.INSTRUCTION.SHAPE.`
    stem: String,
    /// `.from_SCALAR` for a conversion.
    conversion: String,
}

impl NameParts {
    pub(crate) fn new(prefix: &str, scalar: Scalar, op: Op, shape: Shape, from: Option<Scalar>) -> NameParts {
        NameParts {
            stem: format!("{prefix}.{scalar}.{}.{shape}.", op.case_name()),
            conversion: from.map_or_else(String::new, |from| format!(".from_{from}")),
        }
    }

    /// Returns the name: the parts with the name of the modes between them, see [`modes_name`], followed
    /// by `.constant` or `.specconstant` for operands that do not come from a buffer.
    pub(crate) fn name(&self, modes: &str, source: OperandSource) -> String {
        let (before, source) = if source == OperandSource::Buffer { ("", "") } else { (".", source.name()) };
        [&self.stem, modes, &self.conversion, before, source].concat()
    }
}

/// Returns the shape with that name.
pub(crate) fn shape_from_name(name: &str) -> Option<Shape> {
    let digit = |c: char| c.to_digit(10).filter(|n| (2..=4).contains(n));
    match name.chars().collect::<Vec<_>>().as_slice() {
        ['s', 'c', 'a', 'l', 'a', 'r'] => Some(Shape::Scalar),
        ['v', 'e', 'c', n] => Some(Shape::Vector(digit(*n)?)),
        ['m', 'a', 't', columns, 'x', rows] => Some(Shape::Matrix { columns: digit(*columns)?, rows: digit(*rows)? }),
        _ => None,
    }
}

/// Returns `default`, or the SPIR-V names in lower snake case joined by `_and_`. Flags of
/// `FPFastMathMode` begin with `fast_math_`.
pub(crate) fn modes_name(modes: &Modes) -> String {
    let names: Vec<String> = modes.names().into_iter().map(mode_name).collect();
    if names.is_empty() { "default".into() } else { names.join("_and_") }
}

fn mode_name(spirv: &str) -> String {
    let flag = Modes::default().with(spirv).is_some_and(|modes| modes.fast_math.is_some());
    let mut name = String::from(if flag { "fast_math_" } else { "" });
    let mut after_word = false;
    for c in spirv.replace("NaN", "Nan").chars() {
        if c.is_ascii_uppercase() && after_word {
            name.push('_');
        }
        after_word = c.is_ascii_lowercase() || c.is_ascii_digit();
        name.push(c.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lower_snake_with_parameters_last() {
        let f32 = Scalar::from_name("f32").unwrap();
        let name = |op, shape, from: Option<&str>, modes: &[&str], source| {
            let modes = modes.iter().fold(Modes::default(), |m, name| m.with(name).unwrap());
            let from = from.and_then(Scalar::from_name);
            NameParts::new("precision", f32, op, shape, from).name(&modes_name(&modes), source)
        };
        assert_eq!(
            name(Op::Exp2, Shape::Scalar, None, &[], OperandSource::Buffer),
            "precision.f32.exp2.scalar.default"
        );
        let modes = ["RoundingModeRTE", "DenormPreserve"];
        assert_eq!(
            name(Op::ConvertSToF, Shape::Vector(3), Some("i32"), &modes, OperandSource::Constant),
            "precision.f32.convertstof.vec3.denorm_preserve_and_rounding_mode_rte.from_i32.constant"
        );
        let shape = Shape::Matrix { columns: 2, rows: 3 };
        assert_eq!(
            name(Op::MatrixTimesVector, shape, None, &["NotNaN"], OperandSource::SpecConstant),
            "precision.f32.matrixtimesvector.mat2x3.fast_math_not_nan.specconstant"
        );
        assert_eq!(mode_name("None"), "fast_math_none");
        assert_eq!(mode_name("NSZ"), "fast_math_nsz");
        assert_eq!(mode_name("SignedZeroInfNanPreserve"), "signed_zero_inf_nan_preserve");
        let saturated = "saturated_to_largest_float8_normal_conversion_ext";
        assert_eq!(mode_name("SaturatedToLargestFloat8NormalConversionEXT"), saturated);
    }

    #[test]
    fn shape_names_round_trip() {
        for shape in [Shape::Scalar, Shape::Vector(4), Shape::Matrix { columns: 3, rows: 2 }] {
            assert_eq!(shape_from_name(&shape.to_string()), Some(shape));
        }
        for bad in ["vec5", "vec", "mat2", "mat2x1", ""] {
            assert_eq!(shape_from_name(bad), None);
        }
    }
}
