//! Sequences of dispatches over named buffers and images.
//!
//! Every step of a sequence is a check of its own with one round. Its inputs are the contents that
//! the device really left, the oracle computes the permitted sets from these, the device runs the
//! dispatch, and every element is compared. The outputs become the contents of the named memories.
//! So each dispatch is judged for itself. A sequence also has expectations on the contents, which
//! are the user's own: a value that is not expected is a failure of the class `Expectation`, and
//! does not accuse the device under the specification.
//!
//! # Limits
//!
//! The contents are read back after every dispatch. Missing barriers between dispatches are
//! therefore not tested.

mod contents;
mod run;
mod session;

pub use contents::{Comparator, DataLayout, DataScalar, ElementCondition, Tolerance};
pub use session::{SequenceRequest, SequenceSession};

use crate::image_config::{ImageConfig, SamplerConfig};
use crate::options::base64_bytes;
use crate::{BindingName, CheckError, ShaderSource};
use assay_oracle::Robustness;
use serde::{Deserialize, Serialize};

/// Largest number of steps, after repetitions.
pub(crate) const MAX_STEPS: usize = 1 << 12;

/// Largest size of all memories together in bytes.
pub(crate) const MAX_MEMORY: u64 = 1 << 26;

/// Largest number of conditions on single elements, after repetitions.
pub(crate) const MAX_CONDITIONS: usize = 1 << 20;

/// Dispatches over named memories, with expectations on the contents.
#[derive(Debug)]
pub struct Sequence {
    /// Name in messages: the path of the file.
    pub name: String,
    /// Purpose that the file states.
    pub why: Option<String>,
    /// Shaders, which the dispatches name by index.
    pub shaders: Vec<ShaderSource>,
    /// Buffers and images, which everything else names by index.
    pub memories: Vec<NamedMemory>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Robustness of accesses out of bounds.
    pub robustness: Robustness,
    /// Notes on parts of the file that have no effect.
    pub notes: Vec<String>,
}

/// A buffer or an image, with its contents before the first step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedMemory {
    /// Name in the file.
    pub name: String,
    /// Contents; of an image as in [`assay_oracle::Image::data`].
    #[serde(with = "base64_bytes")]
    pub bytes: Vec<u8>,
    /// Layout of one element, for messages and expectations.
    pub layout: DataLayout,
    /// Size and format of an image; only the format of a texel buffer.
    pub image: ImageConfig,
}

/// A step, with its place in the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    /// Line in the file.
    pub line: usize,
    /// Text for messages, such as `RUN fill 4 1 1`.
    pub text: String,
    /// Action of the step.
    pub action: Action,
}

/// Action of a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Action {
    /// Runs a shader.
    Dispatch(Box<SequenceDispatch>),
    /// Replaces the contents of a memory by those of another.
    Copy {
        /// Index of the source.
        from: usize,
        /// Index of the destination.
        to: usize,
    },
    /// Replaces the contents of a memory from an offset.
    Write {
        /// Index of the memory.
        to: usize,
        /// Offset in bytes.
        offset: u64,
        /// New contents.
        #[serde(with = "base64_bytes")]
        bytes: Vec<u8>,
    },
    /// Compares elements of a memory with values.
    Expect {
        /// Index of the memory.
        memory: usize,
        /// Conditions on its elements.
        elements: Vec<ElementCondition>,
    },
    /// Compares a memory with another one.
    ExpectEqual {
        /// Index of the memory.
        memory: usize,
        /// Index of the memory with the expected contents.
        expected: usize,
        /// Largest permitted difference; `None` for equal bytes.
        tolerance: Option<Tolerance>,
    },
}

/// A dispatch of a sequence.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SequenceDispatch {
    /// Index of the shader.
    pub shader: usize,
    /// Entry point, if the shader has several.
    pub entry: Option<String>,
    /// Workgroups along x, y and z.
    pub workgroups: [u32; 3],
    /// Values of specialisation constants: `SpecId` or name, and the value as text.
    pub specs: Vec<(String, String)>,
    /// Push constants.
    pub push: Option<SequencePush>,
    /// Memories of the bindings.
    pub bindings: Vec<MemoryBinding>,
    /// Samplers of the bindings.
    pub samplers: Vec<(BindingName, SamplerConfig)>,
    /// Required subgroup size.
    pub subgroup_size: Option<RequiredSubgroupSize>,
    /// Set if every subgroup must be full.
    pub full_subgroups: bool,
}

/// Push constants of a dispatch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SequencePush {
    /// Contents of a memory, by index.
    Memory(usize),
    /// Values of single constants, by path or offset.
    Values(Vec<(String, String)>),
}

/// A required subgroup size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequiredSubgroupSize {
    /// A number.
    Of(u32),
    /// The smallest size of the device.
    Least,
    /// The largest size of the device.
    Greatest,
}

/// Part of a memory at a binding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryBinding {
    /// The binding.
    pub place: BindingName,
    /// Index of the memory.
    pub memory: usize,
    /// First byte.
    pub offset: u64,
    /// Number of bytes; `None` for all after the offset.
    pub range: Option<u64>,
}

impl Action {
    /// Returns the number of conditions on single elements.
    pub(crate) fn conditions(&self) -> usize {
        if let Action::Expect { elements, .. } = self { elements.len() } else { 0 }
    }
}

impl Sequence {
    /// Returns an error at a line of the file.
    pub(crate) fn error(&self, line: usize, what: impl Into<String>) -> CheckError {
        CheckError::CaseFile { file: self.name.clone(), line, what: what.into() }
    }

    /// Returns the number of dispatches.
    pub fn dispatches(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step.action, Action::Dispatch(_))).count()
    }
}
