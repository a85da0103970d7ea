//! The precision table as data, for readers other than Assay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the table's schema.
pub const TABLE_SCHEMA: u32 = 1;

/// Accuracy rules by which results are judged, and the places where their text can be read in two
/// ways.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct PrecisionTable {
    /// Schema version, [`TABLE_SCHEMA`].
    pub schema: u32,
    /// Version of the Vulkan specification.
    pub vulkan: String,
    /// Version of the WGSL specification.
    pub wgsl: String,
    /// A row for each instruction on each type.
    pub rows: Vec<TableRow>,
    /// Doubtful places of the texts.
    pub doubts: Vec<Doubt>,
}

/// The rule for an instruction on one type.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct TableRow {
    /// Instruction in SPIR-V's spelling: `OpFAdd`, `Exp2`.
    pub instruction: String,
    /// Family of the cases that test it: `arithmetic`.
    pub family: String,
    /// Operand types: `f32`, `vec4<f16>`.
    pub operands: Vec<String>,
    /// Result types.
    pub results: Vec<String>,
    /// Permitted results in words; bounds are expressions in the operands, such as `3 + 2 * |x| ULP`.
    pub rule: String,
    /// Anchor of the clause in the Vulkan specification.
    pub clause: String,
    /// Lists of the clause that name the instruction: the execution modes that it must respect.
    pub lists: Vec<String>,
    /// The rule of WGSL; `None` if WGSL cannot express the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wgsl: Option<WgslRule>,
}

/// The rule of WGSL for a call.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct WgslRule {
    /// Permitted results in words.
    pub rule: String,
    /// Anchor of the clause in the WGSL specification.
    pub clause: String,
}

/// A place of a text that can be read in two ways. Between the readings, the verdict is
/// `QualityWarning`.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Doubt {
    /// The doubt in words.
    pub doubt: String,
    /// `Vulkan` or `WGSL`.
    pub specification: String,
    /// Anchor of the clause.
    pub clause: String,
    /// Instructions for which the readings differ with the inputs of some case.
    pub instructions: Vec<String>,
    /// An input that tells the readings apart.
    pub example: DoubtExample,
}

/// An input for which two readings permit different results.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct DoubtExample {
    /// The case that has the input.
    pub case: String,
    /// Operands as bits in hexadecimal.
    pub operands: Vec<String>,
    /// Index of the result scalar.
    pub slot: usize,
    /// Results that both readings permit.
    pub strict: PermittedText,
    /// Results that the lenient reading permits.
    pub lenient: PermittedText,
    /// Command that derives both sets.
    pub explain: String,
}

/// A permitted set.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct PermittedText {
    /// Ranges of bits in hexadecimal, with their ends.
    pub ranges: Vec<[String; 2]>,
    /// Set if NaNs are permitted.
    pub nan: bool,
    /// Set if every result is permitted.
    pub any: bool,
}
