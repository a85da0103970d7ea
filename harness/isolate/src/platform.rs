//! Process handling of the operating system: process groups, ends of processes, memory, stdout.
//!
//! On Unix it uses process groups, signals and `/proc`. The version for other systems has the parts
//! that Rust's standard library offers; `ARCHITECTURE.md` lists the parts that are missing there.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use other::*;
#[cfg(unix)]
pub(crate) use unix::*;
