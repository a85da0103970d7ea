//! Tests of the suites against independent references, faulty targets and the software drivers.

mod altered;
mod bindless;
mod compute;
mod environment;
mod flipped_bits;
mod gather;
mod programs;
mod storage8;
mod support;
mod tile;
