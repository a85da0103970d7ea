//! Why a shader cannot be checked.

use std::path::PathBuf;

/// A mistake in what is to be checked: one message, with place and remedy. No device is at fault.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is no shader, or one that does not compile.
    #[error("{name}: {what}")]
    Shader {
        /// The file's name.
        name: String,
        /// What is wrong and where.
        what: String,
    },
    /// The module breaks rules, so that no device may be given it.
    #[error("{name} breaks rules of the specification, so it is not sent to a device:\n{}", list.join("\n"))]
    Illegal {
        /// The file's name.
        name: String,
        /// Each broken rule with its place.
        list: Vec<String>,
    },
    /// An option does not fit the shader.
    #[error("{0}")]
    Option(String),
    /// An option does not fit the shader, which a table of a case file may have.
    #[error("{what}")]
    Entry {
        /// The table: `input`, `expect`, ..
        table: &'static str,
        /// The key in it; of an array of tables the number, from 0.
        key: String,
        /// What is wrong.
        what: String,
    },
    /// The oracle cannot interpret the module or run the dispatch.
    #[error("{name}: {what}")]
    Oracle {
        /// The file's name.
        name: String,
        /// What stands in the way, and where.
        what: String,
    },
    /// The shader has undefined behaviour, or a dynamic error by WGSL, so that nothing can be held against a device.
    #[error("{name} {what} with these inputs, so it is not sent to a device:\n{}", list.join("\n"))]
    Undefined {
        /// The file's name.
        name: String,
        /// What the specification calls it, and leaves of its consequences.
        what: &'static str,
        /// What it does, with invocation and place, and the remedy.
        list: Vec<String>,
    },
    /// A case file does not say what it must.
    #[error("{file}:{line}: {what}")]
    CaseFile {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what was expected.
        what: String,
    },
    /// A bundle cannot be read or written.
    #[error("{}: {what}", path.display())]
    Bundle {
        /// The file in the bundle.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

impl CheckError {
    /// An option that does not fit.
    pub(crate) fn option(what: impl Into<String>) -> CheckError {
        CheckError::Option(what.into())
    }

    /// One that a table of a case file may have.
    pub(crate) fn entry(table: &'static str, key: impl Into<String>, what: impl Into<String>) -> CheckError {
        CheckError::Entry { table, key: key.into(), what: what.into() }
    }
}
