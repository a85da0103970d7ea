//! Checks a shader: runs a dispatch on a device and in the oracle, and compares the results.
//!
//! * [`ShaderSource`]: the shader, from a file in any [`Language`].
//! * [`Options`]: the user's choices; [`DispatchSetup`] applies them to the shader's interface.
//! * [`CheckSession`]: a shader with its options, as data, and the steps from it to a result.
//! * [`Check`]: rounds on a [`Target`](assay_exec::Target), each compared with the oracle,
//!   element by element.

mod address_flow;
mod address_setup;
mod amber;
mod atomic_accesses;
mod atomic_failures;
mod base_variable;
mod binding_name;
mod built_in;
pub mod bundle;
mod case_file;
mod case_writer;
mod caught_panic;
mod changing_target;
mod check;
mod check_run;
mod chosen_parameters;
mod communication;
mod compare;
mod compared_constants;
mod compared_extents;
mod compile_options;
mod compiler_table;
mod composite_types;
mod compute_guards;
mod decimal_points;
mod default_groups;
mod defined_variant;
mod derived_buffers;
mod descriptor_arrays;
mod device_address;
mod dispatch_setup;
mod entry_names;
mod equivalence;
mod error;
mod expectation;
mod external_compiler;
mod external_tool;
mod fault_kinds;
mod fault_text;
mod fixed_lengths;
mod hlsl_text;
mod image_config;
mod image_contents;
mod image_handles;
mod include_search;
mod infinite_constants;
mod instruction_check;
mod instrument;
mod integer_memory;
mod invocation_choice;
mod joined_files;
mod language;
mod loop_variables;
mod matrix_swizzles;
mod member_contents;
mod memory_access;
mod memory_layout;
mod missing_macros;
mod mutate;
mod mutation_score;
mod ncnn_dialect;
mod nesting;
mod observed_choices;
mod open_results;
mod operand_guards;
mod options;
mod own_elements;
mod parameter;
mod parameter_search;
mod picture;
mod provenance;
mod raw_string;
mod reduce;
mod repeated_blocks;
mod robust_run;
mod rolled_loops;
mod scalar_text;
mod selected_access;
mod sequence;
mod sequence_file;
mod session;
mod shader_source;
mod source_name;
mod status;
mod store_bounds;
mod subgroup_control;
mod subgroup_layout;
mod subject_request;
mod timed_target;
mod translation;
mod uniform_initializers;
mod uniform_locations;
mod wgsl;
mod wgsl_conditions;
mod wgsl_declarations;
mod wgsl_directives;
mod wgsl_imports;
mod wgsl_includes;
mod wgsl_spans;
mod workgroup_sample;
mod writable_globals;
mod written_resources;
mod written_values;

pub use binding_name::BindingName;
pub use case_file::CaseFile;
pub use case_writer::write_case;
pub use changing_target::{ChangingTarget, ModuleChange};
pub use check::{BundleDestination, Check, TIME_LIMIT};
pub use chosen_parameters::{ChosenParameters, SearchExtent};
pub use compare::Comparison;
pub use compile_options::CompileOptions;
pub use compute_guards::compute_guards;
pub use device_address::{AddressWord, AddressedBuffer};
pub use dispatch_setup::DispatchSetup;
pub use entry_names::entry_names_of_file;
pub use equivalence::{
    TranslationVerdict, check_equivalence, check_translation_of_target, interpret_only, without_source,
};
pub use error::CheckError;
pub use external_compiler::CompilerRun;
pub use external_tool::{ToolOutput, run_tool};
pub use image_config::{ImageConfig, SamplerConfig};
pub use instrument::{ElementStore, InstrumentedModule, ProbeSelection, TraceError, TraceReader, instrument};
pub use language::Language;
pub use memory_layout::{
    Element, MemoryContents, PathStep, path_text, runtime_stride, size_with_elements, walk_scalars,
};
pub use mutate::{MutatingTarget, Mutation, MutationKind, PlantedError};
pub use nesting::{control_flow_too_deep, with_deep_stack};
pub use options::{BindingSource, Expectation, KernelLaunch, Options, assignment, groups, robustness};
pub use parameter_search::{ParameterSearch, SEARCH_TIME, search_parameters};
pub use picture::{approximate, number_type};
pub use reduce::{Reduction, ReductionLimits, RunIsolated, reduce};
pub use sequence::{
    Action, Comparator, DataLayout, DataScalar, ElementCondition, MemoryBinding, NamedMemory, RequiredSubgroupSize,
    Sequence, SequenceDispatch, SequencePush, SequenceRequest, SequenceSession, Step, Tolerance,
};
pub use session::{
    Attribution, BUNDLE_FOLDER, CheckSession, Diagnosis, SessionOutput, SessionRequest, refuse_foreign_bundles,
    remove_bundles,
};
pub use shader_source::{CompiledShader, ShaderSource};
pub use subgroup_control::subgroup_size;
pub use subject_request::SubjectRequest;
pub use translation::{load_translation, translation_options};
pub use wgsl::{capabilities_except, compile_wgsl, with_overrides};
pub use wgsl_directives::without_enable_subgroups;
