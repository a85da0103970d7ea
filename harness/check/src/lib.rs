//! Checks a shader: runs a dispatch on a device and in the oracle, and compares the results.
//!
//! * [`Subject`]: the shader, from WGSL, SPIR-V text or SPIR-V words.
//! * [`Options`]: the user's choices; [`Setup`] applies them to the shader's interface.
//! * [`Check`]: rounds on a [`Target`] (a Vulkan device, or a substitute in tests), each compared
//!   with the oracle element by element.

mod atomic_order;
pub mod bundle;
mod case_file;
mod check;
mod compare;
mod composite_types;
mod device_address;
mod dispatch_setup;
mod equivalence;
mod error;
mod expectation;
mod image_config;
mod image_contents;
mod instrument;
mod memory_layout;
mod mutate;
mod nesting;
mod options;
mod parameter;
mod parameter_search;
mod picture;
mod reduce;
mod shader_source;
mod status;
mod subgroup_layout;
mod target;
mod translation;
mod workgroup_sample;
mod written_resources;

pub use case_file::CaseFile;
pub use check::{BundleTo, Check, TIME_LIMIT};
pub use compare::Comparison;
pub use device_address::{AddressWord, PointedForm, made_up, pointed_slot};
pub use dispatch_setup::{Descriptor, Setup, Spec};
pub use equivalence::{Translated, against, translated, without_source};
pub use error::CheckError;
pub use image_config::{ImageForm, SamplerForm};
pub use image_contents::Texels;
pub use instrument::{Reading, Recorded, TraceError, Traced, Writer, instrument};
pub use memory_layout::{Contents, Element, Step, path_text, runtime_stride, size_with, walk};
pub use mutate::{Mutating, Mutation, MutationKind, Planted};
pub use nesting::{control_flow_too_deep, with_deep_stack};
pub use options::{BindingName, Expectation, Kernel, Options, Source, assignment, groups, robustness};
pub use parameter_search::{ChosenParameters, search_parameters};
pub use picture::approximate;
pub use reduce::{Effort, Reduced, reduce};
pub use shader_source::{Subject, Wgsl, capabilities_but, compile_wgsl, with_overrides};
pub use target::{DeviceWork, Job, Left, Placed, Target, TargetError, VulkanTarget};
pub use translation::{load_translation, options_of_translation};
