//! Memory: addresses, loads and stores, accesses out of bounds, and variables that share memory.

pub(super) mod address;
pub(super) mod aliasing;
mod load;
mod local;
pub(super) mod robustness;
mod scalar;
mod store;
