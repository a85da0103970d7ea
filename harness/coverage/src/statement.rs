//! The statements of the documents, as data.

use serde::Deserialize;

/// A document, or a part of one, and its statements.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Name, which is the prefix of its statements' names: `SPV_KHR_8bit_storage`.
    pub name: String,
    /// File of the specification sources with its text.
    pub file: String,
    /// Remarks on all of its rows, in particular the limits of their checks.
    pub about: String,
    /// Places in the text without a statement.
    pub nothing: NoStatement,
    /// Lists that the project has as tables of its own, each row a statement, after the document's
    /// own statements.
    #[serde(default)]
    pub lists: Vec<GeneratedList>,
    /// Rows of these lists that no case declares, with reasons.
    #[serde(default)]
    pub without: Vec<NotApplicable>,
    /// The statements, in the order of the text.
    #[serde(rename = "statement")]
    pub statements: Vec<Statement>,
}

/// Places without a statement: headings, names, dates, numbers that the tables have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoStatement {
    /// Reason why they need no row.
    pub why: String,
    /// Their fingerprints.
    pub text: Vec<String>,
}

/// Rows of a list that no case declares.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotApplicable {
    /// Reason.
    pub why: String,
    /// Names of the rows.
    pub names: Vec<String>,
}

/// A list of rows that are data elsewhere in the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GeneratedList {
    /// The capabilities that Vulkan allows.
    Capabilities,
    /// The SPIR-V extensions that Vulkan allows.
    Extensions,
    /// Rules for modules alone.
    Standalone,
    /// Rules for modules on a device.
    Runtime,
}

/// A statement or a row of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The heading above it.
    pub section: String,
    /// A short name, unique within the document.
    pub id: String,
    /// The requirement, in our own words. Empty for instructions whose rule the precision table
    /// states.
    #[serde(default)]
    pub says: String,
    /// Fingerprints of its places in the text.
    #[serde(default)]
    pub text: Vec<String>,
    /// Rules that state the requirement, by their names in the text (a VUID, a clause).
    #[serde(default)]
    pub rules: Vec<String>,
    /// Instructions, or instructions with an enumerant among their operands (`OpTypeImage R8`). A
    /// case whose modules contain any of them covers the statement.
    #[serde(default)]
    pub uses: Vec<String>,
    /// Suites to which `uses` applies; all suites if empty.
    #[serde(default)]
    pub suites: Vec<String>,
    /// Instructions of the precision table.
    #[serde(default)]
    pub ops: Vec<String>,
    /// Modes of the floating-point environment.
    #[serde(default)]
    pub modes: Vec<String>,
    /// Result formats (`bf16`) that the statement is about.
    #[serde(default)]
    pub formats: Vec<String>,
    /// Functions that compute the permitted results: `oracle::run::images::in_tile`. A test checks
    /// that they exist.
    #[serde(default)]
    pub functions: Vec<String>,
    /// Modules that violate it statically; one of its rules rejects each. Written as lines that are
    /// added to a small compute shader, in the format of `harness/spirv-rules/tests/rules`.
    #[serde(default)]
    pub breaks: Vec<String>,
    /// Modules that violate it at run time, in the same format; the interpreter reports undefined
    /// behaviour.
    #[serde(default)]
    pub undefined: Vec<String>,
    /// Modules that violate it on a device with Vulkan 1.3 and no features, in the same format;
    /// their requirements reject them there.
    #[serde(default)]
    pub lacking: Vec<String>,
    /// Driver faults under which its cases fail.
    #[serde(default)]
    pub faults: Vec<PlantedFault>,
    /// Modules of `harness/spirv-rules/tests/rules` that violate it, each by its rule and its number
    /// among the modules of that rule, from 1: `tile-attachment-type 2`.
    #[serde(default)]
    pub broken_by: Vec<String>,
    /// Tests that plant a violation and fail if the coverage accepts it, each by its crate and name:
    /// `suite::every_planted_fault_is_found`.
    #[serde(default)]
    pub planted_by: Vec<String>,
    /// Reason why no violation is planted.
    pub unplanted: Option<String>,
    /// Reason why nothing covers it.
    pub why: Option<String>,
    /// Limits of its coverage.
    pub note: Option<String>,
}

impl Statement {
    /// Returns the planted violations that the coverage of the statement detects, in words.
    pub fn proofs(&self) -> Vec<String> {
        let modules = self.breaks.len() + self.undefined.len() + self.lacking.len() + self.broken_by.len();
        let modules = match modules {
            0 => None,
            1 => Some("a module".to_owned()),
            many => Some(format!("{many} modules")),
        };
        let faults = self.faults.iter().map(|planted| format!("`{}`", planted.fault));
        let tests = self.planted_by.iter().map(|test| format!("`{test}`"));
        modules.into_iter().chain(faults).chain(tests).collect()
    }
}

/// A driver fault and the cases that must fail under it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlantedFault {
    /// The fault, as the shim names it: `flush@OpBitcast`.
    pub fault: String,
    /// Names of cases of the statement that must all fail.
    pub cases: Vec<String>,
}

/// A built-in list of statements that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("statements/{file}: {why}")]
pub struct StatementError {
    file: &'static str,
    why: String,
}

const FILES: [(&str, &str); 6] = [
    ("environment.toml", include_str!("../statements/environment.toml")),
    ("precision.toml", include_str!("../statements/precision.toml")),
    ("tile_shading.toml", include_str!("../statements/tile_shading.toml")),
    ("image_processing3.toml", include_str!("../statements/image_processing3.toml")),
    ("bindless_images.toml", include_str!("../statements/bindless_images.toml")),
    ("8bit_storage.toml", include_str!("../statements/8bit_storage.toml")),
];

/// Returns the built-in documents.
///
/// # Errors
/// One of them is malformed, which a test rules out.
pub fn documents() -> Result<Vec<Document>, StatementError> {
    FILES
        .iter()
        .map(|&(file, text)| toml::from_str(text).map_err(|error| StatementError { file, why: error.to_string() }))
        .collect()
}
