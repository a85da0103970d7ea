//! Errors of case files.

/// Reason why case files could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The file cannot be read.
    #[error("cannot read {file}: {source}")]
    Unreadable {
        /// Path of the file.
        file: String,
        /// The reason.
        source: std::io::Error,
    },
    /// The file is not a valid family.
    #[error("{file}:{line}: {what}")]
    Malformed {
        /// Path of the file.
        file: String,
        /// Number of the line, from 1.
        line: usize,
        /// Description of the problem and of the expected contents.
        what: String,
    },
}
