//! Tests of the precision table and of the checker.

mod checker;
mod devices;
mod pairs;
mod planted;
mod rules;
mod second_method;
mod sentences;
mod set_extension;
mod synthetic;
mod wgsl;
