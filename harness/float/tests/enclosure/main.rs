//! Tests of the enclosures against each other and against independent implementations.

mod big;
mod common;
mod core_math;
mod decisions;
mod fast;
mod ranks;
