//! The statements of the documents, as data.

use serde::Deserialize;

/// A document, or a part of one, and its statements.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Its name, which names of its statements begin with: `SPV_KHR_8bit_storage`.
    pub name: String,
    /// The file of the specification material that has its text.
    pub file: String,
    /// What is to be known of all of its rows: in particular what a check of it cannot show.
    pub about: String,
    /// The text's places that state nothing.
    pub nothing: Nothing,
    /// Lists that the project has as tables of its own, each row a statement, after the document's own statements.
    #[serde(default)]
    pub lists: Vec<List>,
    /// Rows of these lists that no case declares, and why.
    #[serde(default)]
    pub without: Vec<Without>,
    /// The statements, in the order of the text.
    #[serde(rename = "statement")]
    pub statements: Vec<Statement>,
}

/// Places that state nothing: headings, names, dates, numbers that the tables have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {
    /// Why they need no row.
    pub why: String,
    /// Their fingerprints.
    pub text: Vec<String>,
}

/// Rows of a list that no case can or does declare.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Without {
    /// Why.
    pub why: String,
    /// Their names.
    pub names: Vec<String>,
}

/// A list of rows that are data elsewhere in the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum List {
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
    /// The heading that it stands under.
    pub section: String,
    /// A short name, of its own within the document.
    pub id: String,
    /// What it asks for, in words of our own; of rows of instructions, the table has the words.
    #[serde(default)]
    pub says: String,
    /// Fingerprints of its places in the text.
    #[serde(default)]
    pub text: Vec<String>,
    /// Rules that state the same, by the name that the text gives them (a VUID, a clause).
    #[serde(default)]
    pub rules: Vec<String>,
    /// What modules of cases for it hold: an instruction (`OpImageRead`), or one with an enumerant among its operands
    /// (`OpTypeImage R8`). Any of these.
    #[serde(default)]
    pub uses: Vec<String>,
    /// Of which suites; all if none is named.
    #[serde(default)]
    pub suites: Vec<String>,
    /// Instructions of the precision table.
    #[serde(default)]
    pub ops: Vec<String>,
    /// Modes of the floating-point environment.
    #[serde(default)]
    pub modes: Vec<String>,
    /// Formats of results (`bf16`), for statements about these.
    #[serde(default)]
    pub formats: Vec<String>,
    /// Functions that compute what it permits: `oracle::run::images::in_tile`. A test sees that they exist.
    #[serde(default)]
    pub functions: Vec<String>,
    /// Modules that break it, each refused by one of its rules: lines that are added to a small compute shader, written as those of
    /// `harness/spirv/tests/rules` are.
    #[serde(default)]
    pub breaks: Vec<String>,
    /// Modules that break it when they run, written in the same way: the reference finds their behaviour undefined.
    #[serde(default)]
    pub undefined: Vec<String>,
    /// Modules that break it on a device that has Vulkan 1.3 and no feature, written in the same way: their needs refuse them there.
    #[serde(default)]
    pub lacking: Vec<String>,
    /// Faults of drivers under which cases of it fail.
    #[serde(default)]
    pub faults: Vec<PlantedFault>,
    /// Modules of `harness/spirv/tests/rules` that break it, each by its rule and its number among those of this rule, from 1:
    /// `tile-attachment-type 2`.
    #[serde(default)]
    pub broken_by: Vec<String>,
    /// Tests that hold a violation of it against its cover and fail if it is let pass: `suite::every_planted_fault_is_found`, the
    /// name of a crate's directory and that of the test.
    #[serde(default)]
    pub planted_by: Vec<String>,
    /// Reason for which no violation of it is planted.
    pub unplanted: Option<String>,
    /// Why nothing covers it.
    pub why: Option<String>,
    /// What its cover does not show.
    pub note: Option<String>,
}

impl Statement {
    /// The planted violations of the statement that its cover is shown to catch, in words; empty if there are none.
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

/// A fault of a driver, and cases that it is planted under.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlantedFault {
    /// The fault, as the shim names it: `flush@OpBitcast`.
    pub fault: String,
    /// Names of cases of the statement: all of them fail.
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

/// The documents that are built in.
///
/// # Errors
/// One of them is malformed, which a test rules out.
pub fn documents() -> Result<Vec<Document>, StatementError> {
    FILES
        .iter()
        .map(|&(file, text)| toml::from_str(text).map_err(|error| StatementError { file, why: error.to_string() }))
        .collect()
}
