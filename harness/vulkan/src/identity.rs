//! Identity of a device: the names and versions that every result carries.

use std::fmt;

use ash::vk;
use serde::Serialize;

use crate::version::ApiVersion;

/// Kind of a device, in order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceType {
    /// A card with its own memory.
    Discrete,
    /// Part of the processor, sharing its memory.
    Integrated,
    /// A device of a virtual machine.
    Virtual,
    /// Software on the host's processor: lavapipe, SwiftShader.
    Cpu,
    /// Any other kind.
    Other,
}

impl DeviceType {
    pub(crate) fn from_vk(kind: vk::PhysicalDeviceType) -> Self {
        match kind {
            vk::PhysicalDeviceType::DISCRETE_GPU => Self::Discrete,
            vk::PhysicalDeviceType::INTEGRATED_GPU => Self::Integrated,
            vk::PhysicalDeviceType::VIRTUAL_GPU => Self::Virtual,
            vk::PhysicalDeviceType::CPU => Self::Cpu,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for DeviceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discrete => "discrete GPU",
            Self::Integrated => "integrated GPU",
            Self::Virtual => "virtual GPU",
            Self::Cpu => "CPU",
            Self::Other => "other",
        })
    }
}

/// A device UUID or driver UUID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Uuid(pub [u8; 16]);

impl fmt::Display for Uuid {
    /// The usual form: `6d657361-3232-2e33-2e36-000000000000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Uuid {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Uuid {
    /// Parses 32 hexadecimal digits with hyphens at any position; returns `None` for any other
    /// text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits: Vec<u8> =
            text.chars().filter(|&c| c != '-').map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>()?;
        let bytes: Vec<u8> = digits.chunks_exact(2).map(|p| p[0] << 4 | p[1]).collect();
        if digits.len() == 32 { bytes.try_into().ok().map(Self) } else { None }
    }
}

/// Name, vendor, driver and versions of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// Position in the loader's list.
    pub index: usize,
    /// `deviceName`.
    pub name: String,
    /// `deviceType`.
    pub device_type: DeviceType,
    /// `vendorID`: a PCI id, or a `VkVendorId` above 0xffff.
    pub vendor_id: u32,
    /// `deviceID`, unique for the vendor.
    pub device_id: u32,
    /// `driverID` without its prefix and suffix (`MESA_LLVMPIPE`, `NVIDIA_PROPRIETARY`); empty
    /// before Vulkan 1.2.
    pub driver_id: String,
    /// `driverName`; empty before Vulkan 1.2.
    pub driver_name: String,
    /// `driverInfo`, where drivers describe their version as text; empty before Vulkan 1.2.
    pub driver_info: String,
    /// `driverVersion` in the vendor's own notation.
    pub driver_version: String,
    /// `driverVersion` as a number.
    pub driver_version_raw: u32,
    /// `apiVersion` of the device.
    pub api_version: ApiVersion,
    /// `conformanceVersion`, such as `1.3.1.1`: the conformance tests that the driver claims to
    /// pass. Empty before Vulkan 1.2, `0.0.0.0` if it claims none.
    pub conformance_version: String,
    /// `deviceUUID`; all zero before Vulkan 1.1.
    pub device_uuid: Uuid,
    /// `driverUUID`; all zero before Vulkan 1.1.
    pub driver_uuid: Uuid,
}

impl Identity {
    /// Returns true if both describe the same device and driver, possibly at different indices.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        *self == Self { index: self.index, ..other.clone() }
    }

    /// Returns true if this is Mesa's software driver.
    #[must_use]
    pub fn is_lavapipe(&self) -> bool {
        self.driver_id == "MESA_LLVMPIPE"
    }
}

impl fmt::Display for Identity {
    /// One line: `0: llvmpipe (LLVM 15.0.6, 256 bits) [CPU, llvmpipe Mesa 22.3.6 .., Vulkan
    /// 1.3.230, uuid]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}, ", self.index, self.name, self.device_type)?;
        let name = if self.driver_name.is_empty() { "driver" } else { &self.driver_name };
        let version = if self.driver_info.is_empty() { &self.driver_version } else { &self.driver_info };
        write!(f, "{name} {version}")?;
        write!(f, ", Vulkan {}, {}]", self.api_version, self.device_uuid)
    }
}

/// A driver version in the notation of its vendor.
pub(crate) fn driver_version(vendor: u32, raw: u32) -> String {
    const NVIDIA: u32 = 0x10de;
    if vendor == NVIDIA {
        return format!("{}.{}.{}.{}", raw >> 22, raw >> 14 & 0xff, raw >> 6 & 0xff, raw & 0x3f);
    }
    ApiVersion::from_raw(raw).to_string()
}
