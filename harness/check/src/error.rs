//! Errors in the input of a check.

use std::path::PathBuf;

/// A mistake in the input, as one message with the place and a remedy. It is not the fault of a
/// device.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a shader, or does not compile.
    #[error("{name}: {what}")]
    Shader {
        /// Name of the file.
        name: String,
        /// The mistake and its place.
        what: String,
    },
    /// The module breaks rules of the specification, so it must not be sent to a device.
    #[error("{name} breaks rules of the specification, so it is not sent to a device:\n{}", list.join("\n"))]
    Illegal {
        /// Name of the file.
        name: String,
        /// Each broken rule with its place.
        list: Vec<String>,
    },
    /// An option does not fit the shader.
    #[error("{0}")]
    Option(String),
    /// An option does not fit the shader, and may come from a table of a case file.
    #[error("{what}")]
    Entry {
        /// Name of the table, such as `input` or `expect`.
        table: &'static str,
        /// Key in the table; for an array of tables the index, from 0.
        key: String,
        /// The mistake.
        what: String,
    },
    /// The oracle cannot interpret the module or run the dispatch.
    #[error("{name}: {what}")]
    Oracle {
        /// Name of the file.
        name: String,
        /// The obstacle and its place.
        what: String,
    },
    /// The shader has undefined behaviour, or a dynamic error in WGSL, so no result of a device
    /// would be wrong.
    #[error("{name} {what} with these inputs, so it is not sent to a device:\n{}", list.join("\n"))]
    Undefined {
        /// Name of the file.
        name: String,
        /// The specification's term for it, and its consequences.
        what: &'static str,
        /// Each fault with invocation and place, and a remedy.
        list: Vec<String>,
    },
    /// A case file is invalid.
    #[error("{file}:{line}: {what}")]
    CaseFile {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The mistake and the expected form.
        what: String,
    },
    /// A bundle cannot be read or written.
    #[error("{}: {what}", path.display())]
    Bundle {
        /// Path of the file in the bundle.
        path: PathBuf,
        /// The mistake.
        what: String,
    },
}

impl CheckError {
    /// Returns an error for an option that does not fit.
    pub(crate) fn option(what: impl Into<String>) -> CheckError {
        CheckError::Option(what.into())
    }

    /// Returns an error for an option that may come from a table of a case file.
    pub(crate) fn entry(table: &'static str, key: impl Into<String>, what: impl Into<String>) -> CheckError {
        CheckError::Entry { table, key: key.into(), what: what.into() }
    }
}
