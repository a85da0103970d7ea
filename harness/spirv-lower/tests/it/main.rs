//! Tests of the lowering.

mod bindless;
#[path = "../../../spirv-rules/tests/it/support/corpus.rs"]
mod corpus;
mod layout_decorations;
mod lower;
mod repeated_inputs;
mod selected_descriptors;
mod short_texels;
mod skipped_accesses;
mod support;
