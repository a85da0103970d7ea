//! Features, extensions and properties of a device as plain data with the registry's names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use assay_spirv_rules::requirements::{self, DeviceCaps};
use serde::Serialize;

use crate::device_properties::Properties;
use crate::version::ApiVersion;

/// The value of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PropertyValue {
    /// A `VkBool32`.
    Bool(bool),
    /// An integer, flags, or the value of an enumerant.
    Number(u64),
}

impl fmt::Display for PropertyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
        }
    }
}

/// Everything that a shader can require of a device. Names are spelled as in the registry:
/// `shaderFloat16`, `VK_KHR_shader_clock`, `shaderDenormPreserveFloat32`. Those of a
/// [`PhysicalDevice`](crate::PhysicalDevice) are offered, those of a [`Device`](crate::Device) are
/// enabled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// The usable core version: that of the device, at most the newest that this crate requests.
    pub api_version: ApiVersion,
    /// Features of all structures.
    pub features: BTreeSet<String>,
    /// Device extensions.
    pub extensions: BTreeSet<String>,
    /// The properties to which rules about shaders refer: float controls, subgroups and compute
    /// limits. Properties that could not be queried are absent.
    pub properties: BTreeMap<String, PropertyValue>,
}

impl Capabilities {
    /// Converts to the form of the requirements check: only
    /// [`Requirements::check`](assay_spirv_rules::requirements::Requirements::check) decides whether
    /// a module may run on the device.
    #[must_use]
    pub fn device_caps(&self) -> DeviceCaps {
        let number = |value: &PropertyValue| match *value {
            PropertyValue::Bool(value) => u64::from(value),
            PropertyValue::Number(value) => value,
        };
        DeviceCaps {
            api_version: requirements::ApiVersion { major: self.api_version.major, minor: self.api_version.minor },
            features: self.features.clone(),
            extensions: self.extensions.clone(),
            properties: self.properties.iter().map(|(name, value)| (name.clone(), number(value))).collect(),
        }
    }

    /// Returns true if the device has the feature.
    #[must_use]
    pub fn has_feature(&self, name: &str) -> bool {
        self.features.contains(name)
    }

    /// Returns true if the device has the extension.
    #[must_use]
    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions.contains(name)
    }

    /// Returns the value of a `VkBool32` property; false if it could not be queried.
    #[must_use]
    pub fn has_property(&self, property: &str) -> bool {
        self.properties.get(property) == Some(&PropertyValue::Bool(true))
    }
}

/// Returns the properties by name.
pub(crate) fn properties_by_name(properties: &Properties) -> BTreeMap<String, PropertyValue> {
    let mut map = BTreeMap::new();
    let swizzle_one = PropertyValue::Bool(properties.depth_swizzle_one);
    map.insert("depthStencilSwizzleOneSupport".to_owned(), swizzle_one);
    let mut number = |name: &str, value: u64| {
        map.insert(name.to_owned(), PropertyValue::Number(value));
    };
    let limits = &properties.limits;
    number("maxComputeWorkGroupInvocations", limits.max_workgroup_invocations.into());
    number("maxComputeSharedMemorySize", limits.max_shared_memory.into());
    number("maxPushConstantsSize", limits.max_push_constants.into());
    number("maxStorageBufferRange", limits.max_storage_buffer_range);
    number("maxPerStageDescriptorStorageBuffers", limits.max_storage_buffers.into());
    number("minStorageBufferOffsetAlignment", limits.min_storage_buffer_alignment);
    number("subTexelPrecisionBits", limits.sub_texel_bits.into());
    for (least, most, (min, max)) in [
        ("minTexelGatherOffset", "maxTexelGatherOffset", limits.texel_gather_offset),
        ("minTexelOffset", "maxTexelOffset", limits.texel_offset),
    ] {
        number(least, i64::from(min).cast_unsigned());
        number(most, i64::from(max).cast_unsigned());
    }
    number("mipmapPrecisionBits", limits.mipmap_bits.into());
    for (i, axis) in ["X", "Y", "Z"].into_iter().enumerate() {
        number(&format!("maxComputeWorkGroupSize{axis}"), limits.max_workgroup_size[i].into());
        number(&format!("maxComputeWorkGroupCount{axis}"), limits.max_workgroups[i].into());
    }
    if let Some(alignment) = &properties.robust_alignment {
        number("robustStorageBufferAccessSizeAlignment", alignment.storage);
        number("robustUniformBufferAccessSizeAlignment", alignment.uniform);
    }
    if let Some(subgroup) = &properties.subgroup {
        number("subgroupSize", subgroup.size.into());
        number("minSubgroupSize", subgroup.min_size.into());
        number("maxSubgroupSize", subgroup.max_size.into());
        number("subgroupSupportedStages", subgroup.stages.into());
        number("subgroupSupportedOperations", subgroup.operations.into());
        number("requiredSubgroupSizeStages", subgroup.required_size_stages.into());
        number("maxComputeWorkgroupSubgroups", subgroup.max_workgroup_subgroups.into());
        map.insert("subgroupQuadOperationsInAllStages".to_owned(), PropertyValue::Bool(subgroup.quad_in_all_stages));
    }
    if let Some(float) = &properties.float_controls {
        let mut number = |name: &str, value: u64| {
            map.insert(name.to_owned(), PropertyValue::Number(value));
        };
        number("denormBehaviorIndependence", float.denorm_independence.number());
        number("roundingModeIndependence", float.rounding_independence.number());
        for (name, per_width) in [
            ("shaderSignedZeroInfNanPreserve", float.signed_zero_inf_nan_preserve),
            ("shaderDenormPreserve", float.denorm_preserve),
            ("shaderDenormFlushToZero", float.denorm_flush_to_zero),
            ("shaderRoundingModeRTE", float.rounding_mode_rte),
            ("shaderRoundingModeRTZ", float.rounding_mode_rtz),
        ] {
            for (width, value) in [(16, per_width.float16), (32, per_width.float32), (64, per_width.float64)] {
                map.insert(format!("{name}Float{width}"), PropertyValue::Bool(value));
            }
        }
    }
    map
}
