//! Checks a shader: the same dispatch on a device and in the oracle, and what differs.
//!
//! * [`Subject`]: the shader, from WGSL, SPIR-V text or words.
//! * [`Options`]: what it is to be run with; [`Setup`] makes that fit the shader's interface.
//! * [`Check`]: rounds on a [`Target`], a Vulkan device or in tests anything else, held against the oracle element by
//!   element.

mod against;
pub mod bundle;
mod case_file;
mod changed;
mod check;
mod composites;
mod device;
mod elements;
mod error;
mod expectation;
mod layout;
mod mutate;
mod nesting;
mod options;
mod picture;
mod pointed;
mod reduce;
mod replay;
mod sample;
mod setup;
mod states;
mod status;
mod subject;
mod texels;
mod trace;
mod translation;
mod verdict;

pub use against::{Translated, against, translated, without_source};
pub use case_file::CaseFile;
pub use check::{BundleTo, Check, TIME_LIMIT};
pub use device::{DeviceWork, Job, Left, Placed, Target, TargetError, VulkanTarget};
pub use elements::{Contents, Element, Step, path_text, runtime_stride, size_with, walk};
pub use error::CheckError;
pub use mutate::{Mutating, Mutation, MutationKind, Planted};
pub use nesting::{control_flow_too_deep, with_deep_stack};
pub use options::{BindingName, Expectation, Kernel, Options, Source, assignment, groups, robustness};
pub use picture::approximate;
pub use pointed::{AddressWord, PointedForm, made_up, pointed_slot};
pub use reduce::{Effort, Reduced, reduce};
pub use setup::{Descriptor, Setup, Spec};
pub use states::{ImageForm, SamplerForm};
pub use subject::{Subject, Wgsl, capabilities_but, compile_wgsl, with_overrides};
pub use texels::Texels;
pub use trace::{Reading, Recorded, TraceError, Traced, Writer, instrument};
pub use translation::{load_translation, options_of_translation};
pub use verdict::Comparison;
