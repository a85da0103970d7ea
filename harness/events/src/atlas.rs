//! The accuracy atlas as data: the schema of `atlas.json`.

use crate::{Example, Profile, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the atlas's schema.
pub const ATLAS_SCHEMA: u32 = 1;

/// Contents of `atlas.json`: results of precision cases on one or several devices.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Atlas {
    /// Schema version, [`ATLAS_SCHEMA`].
    pub schema: u32,
    /// Version of Assay that wrote the atlas.
    pub version: String,
    /// The devices, in the order of the result folders.
    pub devices: Vec<AtlasDevice>,
    /// The runs, one for each result folder.
    pub runs: Vec<AtlasRun>,
    /// The instructions, in the order of the precision table.
    pub instructions: Vec<AtlasInstruction>,
    /// The result of each case on each device, by instruction, format, types and device.
    pub results: Vec<AtlasResult>,
}

/// A device with one version of its driver. Two boards of one model are one device; for a software
/// driver, the processor belongs to the device.
#[derive(Clone, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct AtlasDevice {
    /// `deviceName`, with the API if it is not Vulkan.
    pub name: String,
    /// `vulkan` or `wgpu`.
    pub api: String,
    /// `driverName`.
    pub driver_name: String,
    /// `driverInfo`.
    pub driver_info: String,
    /// `driverVersion`, as the driver encodes it.
    pub driver_version: u32,
    /// Processor of a software driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<String>,
}

/// A run whose results are in the atlas.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct AtlasRun {
    /// Index into [`Atlas::devices`].
    pub device: usize,
    /// The result folder, as it was given.
    pub folder: String,
    /// Start time, RFC 3339.
    pub started: String,
    /// `quick`, `sampled` or `exhaustive`.
    pub budget: String,
    /// The seed of the inputs.
    pub seed: u64,
    /// The range that the first operands were restricted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// Version of Assay.
    pub version: String,
    /// The specification that the results are judged by.
    pub specification: String,
    /// Number of finished precision cases in the folder.
    pub cases: usize,
    /// Number of these that the atlas shows; other runs tested more inputs of the rest.
    pub shown: usize,
}

/// An instruction of the atlas.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct AtlasInstruction {
    /// Name in SPIR-V's spelling: `OpFAdd`, `Exp2`.
    pub name: String,
    /// Family of its cases: `arithmetic`.
    pub family: String,
    /// Path of its page from the folder of `atlas.json`.
    pub page: String,
}

/// The result of a case on a device. If several runs have one, it is the one with the most inputs;
/// of equal ones the latest.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct AtlasResult {
    /// The instruction.
    pub instruction: String,
    /// Format of the float result, else of the first float operand; `int` without a float.
    pub format: String,
    /// Types of results and operands: `f32 <- f32, f32`.
    pub types: String,
    /// Shape of the widest operand: `scalar`, `vec2`.
    pub shape: String,
    /// The declared modes: `default`, or SPIR-V names joined by `+`.
    pub modes: String,
    /// Source of the operands: `buffer`, `constant`, `specconstant`.
    pub source: String,
    /// Index into [`Atlas::devices`].
    pub device: usize,
    /// Index into [`Atlas::runs`].
    pub run: usize,
    /// Name of the case.
    pub case: String,
    /// Outcome.
    pub status: Status,
    /// The reason in one line, for every status except `Pass`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The rule that judged it.
    pub rule: String,
    /// The clause of the specification.
    pub clause: String,
    /// Inputs run.
    pub inputs_tested: u64,
    /// Number of possible inputs as a decimal number.
    pub inputs_possible: String,
    /// The part of the possible inputs that was run, in words.
    pub coverage: String,
    /// Inputs with a failing scalar.
    pub failing_inputs: u64,
    /// Inputs with a warning and no failing scalar.
    pub warning_inputs: u64,
    /// Wrong scalars by class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<AtlasClass>,
    /// The result with the largest error divided by its bound, which is its margin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<Example>,
    /// Distribution of the errors; missing if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Command that repeats the case.
    pub command: String,
    /// Results of the case on the device in other runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<AtlasOther>,
}

/// Wrong scalars of one class.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct AtlasClass {
    /// `QualityWarning` or `Fail`.
    pub status: Status,
    /// Name of the class, such as `FewUlp`.
    pub class: String,
    /// Number of scalars.
    pub count: u64,
}

/// A result that another one of the same case and device replaces.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct AtlasOther {
    /// Index into [`Atlas::runs`].
    pub run: usize,
    /// Outcome.
    pub status: Status,
    /// Inputs run.
    pub inputs_tested: u64,
}
