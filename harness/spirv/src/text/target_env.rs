//! Target environments of spirv-as, by their names on its command line.

use std::fmt;
use std::str::FromStr;

use crate::grammar::{V1_0, V1_1, V1_2, V1_3, V1_4, V1_5, V1_6, Version};

/// Environments, each with its version of SPIR-V.
const ENVIRONMENTS: [(&str, Version); 13] = [
    ("spv1.0", V1_0),
    ("spv1.1", V1_1),
    ("spv1.2", V1_2),
    ("spv1.3", V1_3),
    ("spv1.4", V1_4),
    ("spv1.5", V1_5),
    ("spv1.6", V1_6),
    ("vulkan1.0", V1_0),
    ("vulkan1.1", V1_3),
    ("vulkan1.1spv1.4", V1_4),
    ("vulkan1.2", V1_5),
    ("vulkan1.3", V1_6),
    ("vulkan1.4", V1_6),
];

/// A target environment for assembly, which determines the version of SPIR-V.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetEnv {
    name: &'static str,
    version: Version,
}

impl TargetEnv {
    /// Returns its name, such as `vulkan1.3`.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns its version of SPIR-V.
    pub fn version(self) -> Version {
        self.version
    }
}

impl fmt::Display for TargetEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// An unknown name of a target environment.
#[derive(Clone, Debug, thiserror::Error)]
#[error("unknown target environment '{name}': expected one of {}", ENVIRONMENTS.map(|(name, _)| name).join(", "))]
pub struct UnknownTargetEnv {
    name: String,
}

impl FromStr for TargetEnv {
    type Err = UnknownTargetEnv;

    fn from_str(text: &str) -> Result<TargetEnv, UnknownTargetEnv> {
        let known = ENVIRONMENTS.into_iter().find(|(name, _)| *name == text);
        known
            .map(|(name, version)| TargetEnv { name, version })
            .ok_or_else(|| UnknownTargetEnv { name: text.to_owned() })
    }
}
