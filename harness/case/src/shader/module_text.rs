//! Text of a module under construction: its declarations and instructions.

use assay_float::{BF16, F8_E4M3, F8_E5M2, F16, F32, F64, Format};
use assay_precision::{Scalar, Type};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Parts of a module that fill the placeholders of a template.
#[derive(Default)]
pub(super) struct ModuleText {
    template: &'static str,
    capabilities: BTreeSet<&'static str>,
    extensions: BTreeSet<&'static str>,
    pub(super) execution_modes: String,
    pub(super) decorations: String,
    declared: BTreeSet<String>,
    declarations: String,
    pub(super) variables: String,
    text: String,
    ids: usize,
}

impl ModuleText {
    /// Creates a module without contents besides the declarations of its template.
    pub(super) fn new(template: &'static str) -> ModuleText {
        let declarations = template.lines().take_while(|line| *line != "{{declarations}}");
        let declared = declarations.filter_map(|line| line.split_once(" = ")).map(|(id, _)| id.trim().to_owned());
        ModuleText { template, declared: declared.collect(), ..ModuleText::default() }
    }

    /// Declares a capability.
    pub(super) fn capability(&mut self, name: &'static str) {
        self.capabilities.insert(name);
    }

    /// Declares a SPIR-V extension.
    pub(super) fn extension(&mut self, name: &'static str) {
        self.extensions.insert(name);
    }

    /// Declares an id of the given name once, with `declaration` after the `=`.
    pub(super) fn declare(&mut self, id: String, declaration: impl FnOnce() -> String) -> String {
        if self.declared.insert(id.clone()) {
            let declaration = declaration();
            writeln!(self.declarations, "{id:>12} = {declaration}").expect("a string takes all");
        }
        id
    }

    /// Writes an instruction without a result.
    pub(super) fn line(&mut self, text: &str) {
        writeln!(self.text, "{:15}{text}", "").expect("a string takes all");
    }

    /// Writes an instruction with a result of that type, and returns the id of the result.
    pub(super) fn value(&mut self, opcode: &str, ty: &str, operands: &str) -> String {
        let id = format!("%v{}", self.ids);
        self.ids += 1;
        writeln!(self.text, "{id:>12} = {opcode} {ty} {operands}").expect("a string takes all");
        id
    }

    /// Returns the text since the last call.
    pub(super) fn take_text(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// Returns the id of a scalar type, declaring it and its capability.
    pub(super) fn scalar(&mut self, scalar: Scalar) -> String {
        let declaration = match scalar {
            Scalar::Bool => "OpTypeBool".to_owned(),
            Scalar::Int { width, signed } => {
                match width {
                    8 => self.capability("Int8"),
                    16 => self.capability("Int16"),
                    64 => self.capability("Int64"),
                    _ => {}
                }
                format!("OpTypeInt {width} {}", i32::from(signed))
            }
            Scalar::Float(format) => self.float(format),
        };
        self.declare(format!("%{scalar}"), || declaration)
    }

    fn float(&mut self, format: Format) -> String {
        match format {
            BF16 => {
                self.capability("BFloat16TypeKHR");
                self.extension("SPV_KHR_bfloat16");
                return "OpTypeFloat 16 BFloat16KHR".into();
            }
            F8_E4M3 | F8_E5M2 => {
                self.capability("Float8EXT");
                self.extension("SPV_EXT_float8");
                // It is transferred as an integer of its width.
                self.capability("Int8");
                let encoding = if format == F8_E4M3 { "Float8E4M3EXT" } else { "Float8E5M2EXT" };
                return format!("OpTypeFloat 8 {encoding}");
            }
            _ => {}
        }
        match format.width {
            16 => self.capability("Float16"),
            64 => self.capability("Float64"),
            _ => {}
        }
        format!("OpTypeFloat {}", format.width)
    }

    /// Returns the id of a type.
    pub(super) fn ty(&mut self, ty: Type) -> String {
        let scalar = self.scalar(ty.scalar);
        if ty.is_scalar() {
            return scalar;
        }
        let column = format!("%v{}{}", ty.rows, ty.scalar);
        self.declare(column.clone(), || format!("OpTypeVector {scalar} {}", ty.rows));
        if ty.columns == 1 {
            return column;
        }
        self.declare(format!("%mat{}x{}{}", ty.columns, ty.rows, ty.scalar), || {
            format!("OpTypeMatrix {column} {}", ty.columns)
        })
    }

    /// Returns the id of a constant.
    pub(super) fn constant(&mut self, scalar: Scalar, bits: u64) -> String {
        let ty = self.scalar(scalar);
        let id = format!("%c_{scalar}_x{bits:x}");
        match scalar {
            Scalar::Bool => {
                self.declare(id, || format!("{} {ty}", if bits == 0 { "OpConstantFalse" } else { "OpConstantTrue" }))
            }
            Scalar::Int { .. } | Scalar::Float(_) => {
                self.declare(id, || format!("OpConstant {ty} {}", literal(scalar, bits)))
            }
        }
    }

    /// Returns the id of a `u32` constant, for indices and offsets.
    pub(super) fn word(&mut self, value: u32) -> String {
        self.constant(Scalar::Int { width: 32, signed: false }, value.into())
    }

    /// Fills the placeholders of the template: lines of the form `{{name}}`.
    pub(super) fn fill(self, parts: &[(&str, &str)]) -> String {
        let list = |opcode: &str, names: &BTreeSet<&str>, quote: &str| {
            names.iter().fold(String::new(), |text, name| text + &format!("{:15}{opcode} {quote}{name}{quote}\n", ""))
        };
        let capabilities = list("OpCapability", &self.capabilities, "");
        let extensions = list("OpExtension", &self.extensions, "\"");
        let own = [
            ("capabilities", capabilities.as_str()),
            ("extensions", extensions.as_str()),
            ("execution_modes", self.execution_modes.as_str()),
            ("decorations", self.decorations.as_str()),
            ("declarations", self.declarations.as_str()),
            ("variables", self.variables.as_str()),
        ];
        let mut text = String::with_capacity(self.template.len() + self.declarations.len());
        for line in self.template.lines() {
            match line.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")) {
                Some(hole) => {
                    let part = own.iter().chain(parts).find(|(name, _)| *name == hole);
                    text += part.unwrap_or_else(|| panic!("a template of ours has the unknown hole {hole}")).1;
                }
                None => {
                    text += line;
                    text.push('\n');
                }
            }
        }
        text
    }
}

/// Returns the assembler's literal for a value with all its bits. Infinities and NaNs are
/// hexadecimal floats with an exponent above the largest.
pub(super) fn literal(scalar: Scalar, bits: u64) -> String {
    match scalar {
        // The assembler reads text in the three IEEE formats; other formats are given as a raw
        // word.
        Scalar::Float(format) if ![F16, F32, F64].contains(&format) => format!("!{bits}"),
        Scalar::Float(format) if format.is_finite(bits) => format.hex_float(bits),
        Scalar::Float(format) => {
            let fraction = bits & ((1 << format.fraction_bits) - 1);
            let digits = format.fraction_bits.div_ceil(4);
            let fraction = fraction << (4 * digits - format.fraction_bits);
            let sign = if format.is_negative(bits) { "-" } else { "" };
            format!("{sign}0x1.{fraction:0width$x}p+{}", format.max_exponent() + 1, width = digits as usize)
        }
        Scalar::Int { width, signed: true } => ((bits << (64 - width)) as i64 >> (64 - width)).to_string(),
        Scalar::Int { signed: false, .. } | Scalar::Bool => bits.to_string(),
    }
}
