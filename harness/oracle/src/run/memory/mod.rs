//! Memory: pointers, loads and stores, accesses out of bounds, and variables that share memory.

pub(super) mod access;
pub(super) mod aliasing;
pub(super) mod robustness;
