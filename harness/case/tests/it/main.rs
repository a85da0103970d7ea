//! Tests of the precision cases: their shaders are valid, and their inputs can show an error.

mod falsifiable;
mod shaders;
