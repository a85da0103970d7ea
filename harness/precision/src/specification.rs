//! Specifications by which results are judged.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The specification whose accuracy rules hold for a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Specification {
    /// "Precision and Operation of SPIR-V Instructions" of the Vulkan specification.
    #[default]
    Vulkan,
    /// "Floating Point Evaluation" of the WebGPU Shading Language.
    Wgsl,
}

impl Specification {
    /// `Vulkan` or `WGSL`.
    pub const fn name(self) -> &'static str {
        match self {
            Specification::Vulkan => "Vulkan",
            Specification::Wgsl => "WGSL",
        }
    }
}

impl fmt::Display for Specification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
