//! What a device has, in the registry's words and as plain data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use assay_spirv::need::{self, Have};
use serde::Serialize;

use crate::properties::Properties;
use crate::version::ApiVersion;

/// The value of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PropertyValue {
    /// A `VkBool32`.
    Bool(bool),
    /// A number, or flags, or an enumerant's number.
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

/// What a shader may need of a device. Names are spelled as in the registry: `shaderFloat16`, `VK_KHR_shader_clock`,
/// `shaderDenormPreserveFloat32`. Of a [`PhysicalDevice`](crate::PhysicalDevice): what it offers; of a
/// [`Device`](crate::Device): what is enabled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// The version whose core may be used: the device's, at most the newest that this crate asks for.
    pub api_version: ApiVersion,
    /// Features, of all structures alike.
    pub features: BTreeSet<String>,
    /// Device extensions.
    pub extensions: BTreeSet<String>,
    /// The properties that rules about shaders refer to: those of float controls, subgroups and compute limits.
    /// Absent ones could not be asked for.
    pub properties: BTreeMap<String, PropertyValue>,
}

impl Capabilities {
    /// The same as negotiation takes it: what a module may do here is decided by
    /// [`Need::check`](assay_spirv::need::Need::check) and nowhere else.
    #[must_use]
    pub fn have(&self) -> Have {
        let number = |value: &PropertyValue| match *value {
            PropertyValue::Bool(value) => u64::from(value),
            PropertyValue::Number(value) => value,
        };
        Have {
            api_version: need::ApiVersion { major: self.api_version.major, minor: self.api_version.minor },
            features: self.features.clone(),
            extensions: self.extensions.clone(),
            properties: self.properties.iter().map(|(name, value)| (name.clone(), number(value))).collect(),
        }
    }

    /// Whether the device has this feature.
    #[must_use]
    pub fn has_feature(&self, name: &str) -> bool {
        self.features.contains(name)
    }

    /// Whether the device has this extension.
    #[must_use]
    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions.contains(name)
    }

    /// A `VkBool32` property; false where it could not be asked for.
    #[must_use]
    pub fn is(&self, property: &str) -> bool {
        self.properties.get(property) == Some(&PropertyValue::Bool(true))
    }
}

/// The properties by name.
pub(crate) fn named(properties: &Properties) -> BTreeMap<String, PropertyValue> {
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
