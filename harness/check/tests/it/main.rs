//! Tests of checks on synthetic targets and on software drivers.

mod atomic_order;
mod avoided_faults;
mod bounds;
mod bundles;
mod descriptor_arrays;
mod device_addresses;
mod equivalence;
mod hollow;
mod images;
mod instruction_check;
mod languages;
mod multisampled;
mod mutation_score;
mod parameter_search;
mod planted_errors;
mod plausible_inputs;
mod rearranged_chains;
mod reduction;
mod robustness;
mod rounds;
mod sequences;
mod serial_invocations;
mod subgroup_layouts;
mod support;
mod traces;
mod workgroup_sample;
