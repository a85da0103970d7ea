//! The suites against the oracle's second references, spoilt devices and the software drivers.

mod altered;
mod bindless;
mod compute;
mod environment;
mod gather;
mod hollow;
mod programs;
mod storage8;
mod support;
mod tile;
