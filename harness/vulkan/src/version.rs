//! Vulkan versions.

use std::fmt;

use ash::vk;
use serde::Serialize;

/// A Vulkan API version, without its variant (which is 0 for Vulkan proper).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ApiVersion {
    /// 1 in all versions so far.
    pub major: u32,
    /// 0 to 4 in the versions so far.
    pub minor: u32,
    /// The header version that the driver was built against.
    pub patch: u32,
}

impl ApiVersion {
    /// The newest version that this crate requests.
    pub(crate) const NEWEST: Self = Self { major: 1, minor: 4, patch: 0 };

    pub(crate) fn from_raw(raw: u32) -> Self {
        Self { major: vk::api_version_major(raw), minor: vk::api_version_minor(raw), patch: vk::api_version_patch(raw) }
    }

    pub(crate) fn to_raw(self) -> u32 {
        vk::make_api_version(0, self.major, self.minor, self.patch)
    }

    /// Returns true if this version includes core version `major.minor`.
    #[must_use]
    pub fn at_least(self, major: u32, minor: u32) -> bool {
        (self.major, self.minor) >= (major, minor)
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}
