//! What can be wrong with a case file.

/// Why case files could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The file cannot be read.
    #[error("cannot read {file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The file does not say what a family must say.
    #[error("{file}:{line}: {what}")]
    Malformed {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what was expected.
        what: String,
    },
}
