//! Tests of the enclosures against each other and against independent implementations.

mod common;
mod core_math;
mod fast;
