//! Types of data in scripts, their layout in memory, and their values.

use super::ScriptError;
use crate::memory_layout::write_bits;
use crate::sequence::{Comparator, DataLayout, DataScalar, ElementCondition, MAX_MEMORY, Tolerance};
use assay_float::{F16, F32, F64};
use assay_precision::Scalar;
use std::rc::Rc;

/// Largest number of scalars in one element.
const MAX_SCALARS: usize = 1 << 12;

/// A type of data.
#[derive(Clone, Debug)]
pub(super) enum DataType {
    /// A vector, or a scalar as a vector of one.
    Vector { scalar: Scalar, count: u64 },
    /// A matrix, stored by columns.
    Matrix { scalar: Scalar, columns: u64, rows: u64 },
    /// An element of an array, whose stride `std140` rounds up.
    ArrayElement(Box<DataType>),
    /// An array of fixed size.
    Array { element: Box<DataType>, count: u64 },
    /// A structure.
    Struct(Rc<StructType>),
    /// A texel.
    Texel(TexelType),
}

/// A structure.
#[derive(Clone, Debug, Default)]
pub(super) struct StructType {
    /// Stride, if the script gives it.
    pub(super) stride: Option<u64>,
    pub(super) members: Vec<StructMember>,
}

/// A member of a structure.
#[derive(Clone, Debug)]
pub(super) struct StructMember {
    pub(super) ty: DataType,
    /// Offset, if the script gives it.
    pub(super) offset: Option<u64>,
}

/// Rules for the layout of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LayoutRules {
    Std140,
    Std430,
}

/// A texel of a format, by its name in Vulkan without `VK_FORMAT_`.
#[derive(Clone, Debug)]
pub(super) struct TexelType {
    scalars: Vec<Scalar>,
    /// Name of the format in SPIR-V, such as `Rgba8`; `None` if SPIR-V has none.
    pub(super) spirv: Option<String>,
}

/// Returns an integer type.
const fn int(width: u32, signed: bool) -> Scalar {
    Scalar::Int { width, signed }
}

/// Returns a scalar type by its name in AmberScript.
pub(super) fn scalar(name: &str) -> Option<Scalar> {
    Some(match name {
        "int8" => int(8, true),
        "int16" => int(16, true),
        "int32" => int(32, true),
        "int64" => int(64, true),
        "uint8" => int(8, false),
        "uint16" => int(16, false),
        "uint32" => int(32, false),
        "uint64" => int(64, false),
        "float16" => Scalar::Float(F16),
        "float" => Scalar::Float(F32),
        "double" => Scalar::Float(F64),
        _ => return None,
    })
}

/// Returns the digit at the start of a text, from 2 to 4, and the rest.
fn dimension(text: &str) -> Option<(u64, &str)> {
    let count = text.chars().next()?.to_digit(10).filter(|count| (2..=4).contains(count))?;
    Some((u64::from(count), &text[1..]))
}

impl DataType {
    /// Parses a type of AmberScript: `uint32`, `vec2<float>`, `mat2x3<float>`, `vec4<int8>[]`, or a
    /// format such as `R8G8B8A8_UNORM`.
    pub(super) fn parse(text: &str) -> Option<DataType> {
        if let Some(element) = text.strip_suffix("[]") {
            return Some(DataType::ArrayElement(Box::new(DataType::parse(element)?)));
        }
        if let Some(scalar) = scalar(text) {
            return Some(DataType::Vector { scalar, count: 1 });
        }
        let inner = |text: &str| scalar(text.strip_prefix('<')?.strip_suffix('>')?);
        if let Some(rest) = text.strip_prefix("vec") {
            let (count, rest) = dimension(rest)?;
            return Some(DataType::Vector { scalar: inner(rest)?, count });
        }
        if let Some(rest) = text.strip_prefix("mat") {
            let (columns, rest) = dimension(rest)?;
            let (rows, rest) = dimension(rest.strip_prefix('x')?)?;
            return Some(DataType::Matrix { scalar: inner(rest)?, columns, rows });
        }
        TexelType::parse(text).map(DataType::Texel)
    }

    /// Parses a type of VkScript: `uint`, `float16_t`, `vec3`, `u8vec4`, `mat2x3`, `dmat2`.
    pub(super) fn parse_vkscript(text: &str) -> Option<DataType> {
        let kinds = [
            ("i8", int(8, true)),
            ("u8", int(8, false)),
            ("i16", int(16, true)),
            ("u16", int(16, false)),
            ("i64", int(64, true)),
            ("u64", int(64, false)),
            ("f16", Scalar::Float(F16)),
            ("i", int(32, true)),
            ("u", int(32, false)),
            ("d", Scalar::Float(F64)),
            ("", Scalar::Float(F32)),
        ];
        let number = match text {
            "int" => Some(int(32, true)),
            "uint" => Some(int(32, false)),
            "float" => Some(Scalar::Float(F32)),
            "double" => Some(Scalar::Float(F64)),
            _ => text.strip_suffix("_t").and_then(scalar),
        };
        if let Some(scalar) = number {
            return Some(DataType::Vector { scalar, count: 1 });
        }
        for (prefix, scalar) in kinds {
            let Some(rest) = text.strip_prefix(prefix) else { continue };
            if rest == "vec" {
                return Some(DataType::Vector { scalar, count: 1 });
            }
            if let Some((count, "")) = rest.strip_prefix("vec").and_then(dimension) {
                return Some(DataType::Vector { scalar, count });
            }
            let Some((columns, rest)) = rest.strip_prefix("mat").and_then(dimension) else { continue };
            let rows = if rest.is_empty() { Some((columns, "")) } else { rest.strip_prefix('x').and_then(dimension) };
            if let Some((rows, "")) = rows {
                return Some(DataType::Matrix { scalar, columns, rows });
            }
        }
        None
    }

    /// Returns the layout of the elements of a buffer.
    ///
    /// # Errors
    /// The element is too large, or offsets overlap.
    pub(super) fn layout(&self, rules: LayoutRules) -> Result<DataLayout, String> {
        let mut scalars = Vec::new();
        let size = self.place(rules, 0, &mut scalars)?;
        let stride = match self {
            DataType::Vector { .. } => self.padded(size),
            DataType::Struct(of) => of.stride.unwrap_or(size.next_multiple_of(self.alignment(rules))),
            _ => size.next_multiple_of(self.alignment(rules)),
        };
        if stride < size || scalars.is_empty() {
            return Err("the type has no members, or its stride is less than its size".to_owned());
        }
        Ok(DataLayout { stride, scalars })
    }

    /// Checks that the type has at most [`MAX_SCALARS`] scalars.
    ///
    /// # Errors
    /// It has more.
    pub(super) fn must_be_small(&self) -> Result<(), String> {
        self.place(LayoutRules::Std430, 0, &mut Vec::new()).map(drop)
    }

    /// Returns the size of a vector with the padding of one of three.
    fn padded(&self, size: u64) -> u64 {
        match self {
            DataType::Vector { count: 3, .. } => size / 3 * 4,
            _ => size,
        }
    }

    /// Returns the alignment in bytes.
    fn alignment(&self, rules: LayoutRules) -> u64 {
        let bytes = |scalar: &Scalar| u64::from(scalar.width() / 8);
        let rounded = |alignment: u64| match rules {
            LayoutRules::Std140 => alignment.next_multiple_of(16),
            LayoutRules::Std430 => alignment,
        };
        let vector = |scalar: &Scalar, count: u64| bytes(scalar) * if count == 3 { 4 } else { count };
        match self {
            DataType::Vector { scalar, count } => vector(scalar, *count),
            DataType::Matrix { scalar, rows, .. } => rounded(vector(scalar, *rows)),
            DataType::ArrayElement(element) | DataType::Array { element, .. } => rounded(element.alignment(rules)),
            DataType::Struct(of) => {
                rounded(of.members.iter().map(|member| member.ty.alignment(rules)).max().unwrap_or(1))
            }
            DataType::Texel(texel) => texel.scalars.first().map_or(1, bytes),
        }
    }

    /// Appends the scalars from an offset, and returns the size without padding at the end.
    fn place(&self, rules: LayoutRules, at: u64, scalars: &mut Vec<DataScalar>) -> Result<u64, String> {
        let mut push = |scalar: Scalar, offset: u64| match scalars.len() < MAX_SCALARS && offset < MAX_MEMORY {
            true => {
                scalars.push(DataScalar { offset, scalar });
                Ok(offset + u64::from(scalar.width() / 8))
            }
            false => Err(format!("the type has more than {MAX_SCALARS} scalars or {MAX_MEMORY} bytes")),
        };
        let bytes = |scalar: Scalar| u64::from(scalar.width() / 8);
        match self {
            DataType::Vector { scalar, count } => {
                for i in 0..*count {
                    push(*scalar, at + i * bytes(*scalar))?;
                }
                Ok(count * bytes(*scalar))
            }
            DataType::Matrix { scalar, columns, rows } => {
                let stride = self.alignment(rules);
                for column in 0..*columns {
                    for row in 0..*rows {
                        push(*scalar, at + column * stride + row * bytes(*scalar))?;
                    }
                }
                Ok(columns * stride)
            }
            DataType::ArrayElement(element) => element.place(rules, at, scalars),
            DataType::Array { element, count } => {
                let mut size = 0;
                let stride = element.layout(rules)?.stride.next_multiple_of(self.alignment(rules));
                for i in 0..*count {
                    element.place(rules, at + i * stride, scalars)?;
                    size = (i + 1) * stride;
                }
                Ok(size)
            }
            DataType::Struct(of) => {
                let mut end = 0;
                for member in &of.members {
                    let offset = member.offset.unwrap_or(u64::next_multiple_of(end, member.ty.alignment(rules)));
                    if offset < end {
                        return Err(format!("a member at offset {offset} overlaps the one before it"));
                    }
                    end = offset + member.ty.place(rules, at.saturating_add(offset), scalars)?;
                    if matches!(member.ty, DataType::Struct(_)) {
                        end = end.next_multiple_of(member.ty.alignment(rules));
                    }
                }
                Ok(end)
            }
            DataType::Texel(texel) => {
                let mut end = 0;
                for scalar in &texel.scalars {
                    end = push(*scalar, at + end)? - at;
                }
                Ok(end)
            }
        }
    }

    /// Returns the format of a texel with this type.
    pub(super) fn texel(&self) -> Option<TexelType> {
        let (scalar, count) = match self {
            DataType::Texel(texel) => return Some(texel.clone()),
            DataType::Vector { scalar, count } => (*scalar, *count as usize),
            DataType::ArrayElement(element) => return element.texel(),
            _ => return None,
        };
        let mode = match scalar {
            Scalar::Float(_) => "SFLOAT",
            Scalar::Int { signed: true, .. } => "SINT",
            _ => "UINT",
        };
        let channels: String = ["R", "G", "B", "A"][..count].iter().map(|c| format!("{c}{}", scalar.width())).collect();
        TexelType::parse(&format!("{channels}_{mode}"))
    }
}

impl TexelType {
    fn parse(name: &str) -> Option<TexelType> {
        let packed = |spirv: &str| TexelType { scalars: vec![int(32, false)], spirv: Some(spirv.into()) };
        match name {
            "B10G11R11_UFLOAT_PACK32" => return Some(packed("R11fG11fB10f")),
            "A2B10G10R10_UNORM_PACK32" => return Some(packed("Rgb10A2")),
            "A2B10G10R10_UINT_PACK32" => return Some(packed("Rgb10a2ui")),
            _ => {}
        }
        let (channels, mode) = name.split_once('_')?;
        let mut rest = channels;
        let (mut width, mut count) = (0, 0);
        for letter in ['R', 'G', 'B', 'A'] {
            let Some(digits) = rest.strip_prefix(letter) else { break };
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let bits: u32 = digits[..end].parse().ok()?;
            if ![8, 16, 32, 64].contains(&bits) || (count > 0 && bits != width) {
                return None;
            }
            (width, count, rest) = (bits, count + 1, &digits[end..]);
        }
        if !rest.is_empty() || count == 0 {
            return None;
        }
        let (scalar, suffix) = match mode {
            "UNORM" | "SRGB" | "USCALED" => (int(width, false), ""),
            "SNORM" | "SSCALED" => (int(width, true), "Snorm"),
            "UINT" => (int(width, false), "ui"),
            "SINT" => (int(width, true), "i"),
            "SFLOAT" if width == 16 => (Scalar::Float(F16), "f"),
            "SFLOAT" if width == 32 => (Scalar::Float(F32), "f"),
            "SFLOAT" if width == 64 => (Scalar::Float(F64), "f"),
            _ => return None,
        };
        let letters = match count {
            1 => Some("R"),
            2 => Some("Rg"),
            4 => Some("Rgba"),
            _ => None,
        };
        let in_spirv = !matches!(mode, "SRGB" | "USCALED" | "SSCALED");
        let spirv = letters.filter(|_| in_spirv).map(|letters| format!("{letters}{width}{suffix}"));
        Some(TexelType { scalars: vec![scalar; count], spirv })
    }
}

/// Returns the bits of a value: a number, or a whole number after `0x`. Integers wrap, and may be
/// written as `0.0`, as in Amber.
pub(super) fn bits(scalar: Scalar, text: &str) -> Option<u64> {
    match scalar {
        Scalar::Float(format) => match hexadecimal(text) {
            Some(number) => Some(format.parse(&number.to_string()).ok()?.bits),
            None => Some(format.parse(text).ok()?.bits),
        },
        Scalar::Int { .. } | Scalar::Bool => {
            let decimal =
                || text.parse().ok().filter(|number: &f64| number.fract() == 0.0).map(|number| number as i128);
            let number: i128 = hexadecimal(text).map(i128::from).or_else(|| text.parse().ok()).or_else(decimal)?;
            (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&number).then_some(())?;
            Some(number as u64 & u64::MAX >> (64 - scalar.width()))
        }
    }
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Returns the bytes of a memory with this number of scalars, whose bits `value` gives by index and
/// type. Padding is zero.
///
/// # Errors
/// The memory would be too large.
pub(super) fn filled(
    layout: &DataLayout,
    count: u64,
    mut value: impl FnMut(u64, Scalar) -> Result<u64, String>,
) -> Result<Vec<u8>, String> {
    let size = count.div_ceil(layout.scalars.len() as u64).checked_mul(layout.stride);
    let size =
        size.filter(|size| *size <= MAX_MEMORY).ok_or_else(|| format!("the data have more than {MAX_MEMORY} bytes"))?;
    let mut bytes = vec![0; size as usize];
    for index in 0..count {
        let element = layout.element(index);
        let bits = value(index, element.scalar)?;
        write_bits(&mut bytes, element.offset, element.scalar.width(), bits);
    }
    Ok(bytes)
}

/// Returns the bytes of a memory whose scalars have these values, in turn.
///
/// # Errors
/// A value does not have its type, or there are too many.
pub(super) fn bytes_of(layout: &DataLayout, values: &[(String, usize)]) -> Result<Vec<u8>, ScriptError> {
    let mut line = values.first().map_or(0, |(_, line)| *line);
    let value = |index: u64, scalar: Scalar| {
        let (text, at) = &values[index as usize];
        line = *at;
        bits(scalar, text).ok_or_else(|| format!("`{text}` is not a value of type {scalar}"))
    };
    let bytes = filled(layout, values.len() as u64, value);
    bytes.map_err(|what| ScriptError { line, what })
}

/// Returns the bytes of a memory with this number of scalars, each with this value.
///
/// # Errors
/// The value does not have the type.
pub(super) fn fill(layout: &DataLayout, count: u64, text: &str) -> Result<Vec<u8>, String> {
    let wrong = |scalar: Scalar| format!("`{text}` is not a value of type {scalar}");
    let each = layout.scalars.iter().map(|of| bits(of.scalar, text).ok_or_else(|| wrong(of.scalar)));
    let each = each.collect::<Result<Vec<_>, _>>()?;
    filled(layout, count, |index, _| Ok(each[index as usize % each.len()]))
}

/// Returns the bytes of a memory whose scalars count upwards from a value by a step.
///
/// # Errors
/// The values do not have the type.
pub(super) fn series(layout: &DataLayout, count: u64, first: &str, step: &str) -> Result<Vec<u8>, String> {
    let scalar = layout.scalars[0].scalar;
    let wrong = || format!("`{first}` or `{step}` is not a value of type {scalar}");
    if let Scalar::Float(format) = scalar {
        let (mut next, step) = real(first).zip(real(step)).ok_or_else(wrong)?;
        return filled(layout, count, |_, _| {
            let value = next;
            next += step;
            match () {
                () if format == F32 => Ok(u64::from((value as f32).to_bits())),
                () if format == F64 => Ok(value.to_bits()),
                () => format.parse(&format!("{value:e}")).map(|number| number.bits).map_err(|_| wrong()),
            }
        });
    }
    let (first, step) = bits(scalar, first).zip(bits(scalar, step)).ok_or_else(wrong)?;
    let mask = u64::MAX >> (64 - scalar.width());
    filled(layout, count, |index, _| Ok(first.wrapping_add(step.wrapping_mul(index)) & mask))
}

/// Returns the conditions that scalars from a byte on have these values. `tolerances` apply to the
/// scalars of an element, in turn.
///
/// # Errors
/// A value does not have its type.
pub(super) fn conditions(
    layout: &DataLayout,
    offset: u64,
    comparator: Comparator,
    values: &[(String, usize)],
    tolerances: &[Tolerance],
) -> Result<Vec<ElementCondition>, ScriptError> {
    /// Tolerance of equal floats in Amber: 0.000001 %.
    const USUAL: Tolerance = Tolerance::Relative(1e-8);
    let first = offset / layout.stride * layout.scalars.len() as u64;
    let condition = |(index, (text, line)): (u64, &(String, usize))| {
        let element = layout.element(index);
        let at = index as usize % layout.scalars.len();
        let is_float = matches!(element.scalar, Scalar::Float(_));
        let value = match element.scalar {
            Scalar::Float(format) => real(text).map(|value| match format == F64 {
                true => value.to_bits(),
                // Amber converts it to a single.
                false => f64::from(value as f32).to_bits(),
            }),
            scalar => bits(scalar, text),
        };
        let value = value.ok_or_else(|| ScriptError {
            line: *line,
            what: format!("`{text}` is not a value of type {}", element.scalar),
        })?;
        let equality = matches!(comparator, Comparator::Equal | Comparator::NotEqual);
        let given = tolerances.get(at).or_else(|| tolerances.first()).copied();
        Ok(ElementCondition {
            offset: element.offset,
            scalar: element.scalar,
            path: layout.path(index),
            comparator,
            value,
            tolerance: given.or((is_float && equality).then_some(USUAL)),
        })
    };
    (first..).zip(values).map(condition).collect()
}

/// Returns the value of a number.
fn real(text: &str) -> Option<f64> {
    match hexadecimal(text) {
        Some(number) => Some(number as f64),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(ty: &DataType, rules: LayoutRules) -> (u64, Vec<u64>) {
        let layout = ty.layout(rules).unwrap();
        (layout.stride, layout.scalars.iter().map(|scalar| scalar.offset).collect())
    }

    #[test]
    fn layouts_follow_the_rules() {
        let ty = |text: &str| DataType::parse(text).unwrap_or_else(|| panic!("{text}"));
        let (std140, std430) = (LayoutRules::Std140, LayoutRules::Std430);
        assert_eq!(offsets(&ty("vec3<float>"), std430), (16, vec![0, 4, 8]));
        assert_eq!(offsets(&ty("vec3<int8>"), std430), (4, vec![0, 1, 2]));
        assert_eq!(offsets(&ty("int32[]"), std140), (16, vec![0]));
        assert_eq!(offsets(&ty("mat2x3<float>"), std430), (32, vec![0, 4, 8, 16, 20, 24]));
        assert_eq!(offsets(&ty("mat2x2<float>"), std430), (16, vec![0, 4, 8, 12]));
        assert_eq!(offsets(&ty("mat2x2<float>"), std140), (32, vec![0, 4, 16, 20]));
        assert_eq!(offsets(&ty("R8G8B8A8_UNORM"), std430), (4, vec![0, 1, 2, 3]));
        let vkscript = |text: &str| offsets(&DataType::parse_vkscript(text).unwrap(), std430).0;
        assert_eq!(
            ["uint", "vec3", "u8vec4", "mat2", "dmat2x3", "int64_t", "float16_t"].map(vkscript),
            [4, 16, 4, 16, 64, 8, 2]
        );
        for wrong in ["vec5<float>", "mat2<float>", "uint", "vec2", "R8_FLOAT", "", "vec"] {
            assert!(DataType::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn structures_pad_their_members() {
        let member = |text: &str| StructMember { ty: DataType::parse(text).unwrap(), offset: None };
        let of = StructType { stride: None, members: vec![member("int32"), member("vec3<float>"), member("float")] };
        let ty = DataType::Struct(Rc::new(of));
        assert_eq!(offsets(&ty, LayoutRules::Std430), (32, vec![0, 16, 20, 24, 28]));
        let nested = StructType { stride: None, members: vec![StructMember { ty, offset: None }, member("float")] };
        assert_eq!(offsets(&DataType::Struct(Rc::new(nested)), LayoutRules::Std430).0, 48);
    }

    #[test]
    fn formats_have_the_names_of_spirv() {
        let spirv = |text: &str| TexelType::parse(text).and_then(|texel| texel.spirv);
        assert_eq!(spirv("R8G8B8A8_UNORM").as_deref(), Some("Rgba8"));
        assert_eq!(spirv("R32_SFLOAT").as_deref(), Some("R32f"));
        assert_eq!(spirv("R16G16_SNORM").as_deref(), Some("Rg16Snorm"));
        assert_eq!(spirv("R64_UINT").as_deref(), Some("R64ui"));
        assert_eq!(spirv("R32G32B32_SFLOAT"), None);
        let vec4 = DataType::parse("vec4<float>").unwrap();
        assert_eq!(vec4.texel().unwrap().spirv.as_deref(), Some("Rgba32f"));
    }

    #[test]
    fn values_have_the_type_of_their_scalar() {
        assert_eq!(bits(int(8, false), "-1"), Some(255));
        assert_eq!(bits(int(32, false), "0xffffffff"), Some(0xffff_ffff));
        assert_eq!(bits(int(32, false), "1.5"), None);
        assert_eq!(bits(int(32, false), "2.0"), Some(2));
        assert_eq!(bits(Scalar::Float(F32), "0x10"), Some(16f32.to_bits().into()));
        assert_eq!(bits(Scalar::Float(F16), "1"), Some(0x3c00));
    }
}
