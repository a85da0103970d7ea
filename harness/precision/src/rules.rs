//! Specifications by which results are judged.

use std::fmt;

/// The specification whose accuracy rules hold for a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rules {
    /// "Precision and Operation of SPIR-V Instructions" of the Vulkan specification.
    #[default]
    Vulkan,
    /// "Floating Point Evaluation" of the WebGPU Shading Language.
    Wgsl,
}

impl Rules {
    /// `Vulkan` or `WGSL`.
    pub const fn name(self) -> &'static str {
        match self {
            Rules::Vulkan => "Vulkan",
            Rules::Wgsl => "WGSL",
        }
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
