//! Files that Assay reads from outside, and files that it writes into directories of the user.
//!
//! Result directories, bundles, case files, shaders and lists may come from anybody. [`input`] reads them: regular
//! files only, up to a limit, and what a file names only below that file's own directory. [`Owned`] records the
//! files that Assay wrote into a directory, so that it removes and overwrites no others.

pub mod input;
mod owned;

pub use owned::{Owned, RECORD, scratch, sweep};
