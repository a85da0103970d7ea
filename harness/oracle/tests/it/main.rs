//! Tests of the interpreter on whole shaders.
//!
//! Expected results come from the texts of the specifications and from second methods: evaluation
//! by random choices of an implementation, and textbook loops.

mod bit_preserving;
mod chained_blocks;
mod coverage;
mod float_sets;
mod image_sampling;
mod integer_programs;
mod invocation_order;
mod invocation_subsets;
mod kernels;
mod multisampled_images;
mod no_wrap;
mod nondeterministic_choices;
mod one_result;
mod parallel_workgroups;
mod pointer_values;
mod random_modules;
mod random_programs;
mod random_rewrites;
mod rearranged_chains;
mod relaxed_precision;
mod robustness;
mod run_time_rules;
mod single_instructions;
mod size_limits;
mod storage_images;
mod subgroups;
mod support;
mod tile_shading;
mod undefined_behaviour;
mod wgsl_semantics;
mod written_bytes;
