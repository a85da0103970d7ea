//! Concurrency of the invocations of a dispatch: data races, atomics, and the modification orders
//! that a device recorded. Vulkan, appendix "Memory Model".

pub(super) mod atomics;
pub(super) mod data_race;
pub(super) mod modification_order;
