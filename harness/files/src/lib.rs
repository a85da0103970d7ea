//! Files that Assay reads from outside, and files that it writes into directories of the user.
//!
//! Result directories, bundles, case files, shaders and lists may come from untrusted sources.
//! [`input`] reads them: only regular files, only up to a limit, and files that other files refer
//! to only below their directory. [`OwnedFiles`] records the files that Assay wrote into a
//! directory, so that it removes and overwrites no others.
//! that it removes and overwrites no others.

pub mod input;
mod owned_files;

pub use owned_files::{OwnedFiles, RECORD_FILE, create_temporary, remove_stale_temporaries};
