//! Device properties that restrict compute shaders.

use ash::vk;
use serde::Serialize;

/// A property given for each floating-point width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct PerWidth {
    /// 16 bits.
    pub float16: bool,
    /// 32 bits.
    pub float32: bool,
    /// 64 bits.
    pub float64: bool,
}

/// Freedom to set a mode for one width only: `VkShaderFloatControlsIndependence`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Independence {
    /// The 32-bit mode is independent; 16 and 64 bits must agree.
    Float32Only,
    /// Each width is independent.
    All,
    /// All widths must agree.
    None,
}

impl Independence {
    fn from_vk(value: vk::ShaderFloatControlsIndependence) -> Self {
        match value {
            vk::ShaderFloatControlsIndependence::ALL => Self::All,
            vk::ShaderFloatControlsIndependence::TYPE_32_ONLY => Self::Float32Only,
            _ => Self::None,
        }
    }

    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Float32Only => 0,
            Self::All => 1,
            Self::None => 2,
        }
    }
}

/// `VkPhysicalDeviceFloatControlsProperties`: the execution modes that shaders may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FloatControls {
    /// `denormBehaviorIndependence`.
    pub denorm_independence: Independence,
    /// `roundingModeIndependence`.
    pub rounding_independence: Independence,
    /// `shaderSignedZeroInfNanPreserveFloat*`.
    pub signed_zero_inf_nan_preserve: PerWidth,
    /// `shaderDenormPreserveFloat*`.
    pub denorm_preserve: PerWidth,
    /// `shaderDenormFlushToZeroFloat*`.
    pub denorm_flush_to_zero: PerWidth,
    /// `shaderRoundingModeRTEFloat*`.
    pub rounding_mode_rte: PerWidth,
    /// `shaderRoundingModeRTZFloat*`.
    pub rounding_mode_rtz: PerWidth,
}

impl FloatControls {
    pub(crate) fn from_vk(p: &vk::PhysicalDeviceFloatControlsProperties<'_>) -> Self {
        let per_width =
            |a, b, c| PerWidth { float16: a != vk::FALSE, float32: b != vk::FALSE, float64: c != vk::FALSE };
        Self {
            denorm_independence: Independence::from_vk(p.denorm_behavior_independence),
            rounding_independence: Independence::from_vk(p.rounding_mode_independence),
            signed_zero_inf_nan_preserve: per_width(
                p.shader_signed_zero_inf_nan_preserve_float16,
                p.shader_signed_zero_inf_nan_preserve_float32,
                p.shader_signed_zero_inf_nan_preserve_float64,
            ),
            denorm_preserve: per_width(
                p.shader_denorm_preserve_float16,
                p.shader_denorm_preserve_float32,
                p.shader_denorm_preserve_float64,
            ),
            denorm_flush_to_zero: per_width(
                p.shader_denorm_flush_to_zero_float16,
                p.shader_denorm_flush_to_zero_float32,
                p.shader_denorm_flush_to_zero_float64,
            ),
            rounding_mode_rte: per_width(
                p.shader_rounding_mode_rte_float16,
                p.shader_rounding_mode_rte_float32,
                p.shader_rounding_mode_rte_float64,
            ),
            rounding_mode_rtz: per_width(
                p.shader_rounding_mode_rtz_float16,
                p.shader_rounding_mode_rtz_float32,
                p.shader_rounding_mode_rtz_float64,
            ),
        }
    }
}

/// Subgroup properties of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Subgroup {
    /// `subgroupSize`, in invocations.
    pub size: u32,
    /// `minSubgroupSize`, in invocations; equal to `size` if it cannot be queried.
    pub min_size: u32,
    /// `maxSubgroupSize`, in invocations; equal to `size` if it cannot be queried.
    pub max_size: u32,
    /// `subgroupSupportedStages`: `VkShaderStageFlags`.
    pub stages: u32,
    /// `subgroupSupportedOperations`: `VkSubgroupFeatureFlags`.
    pub operations: u32,
    /// `requiredSubgroupSizeStages`: `VkShaderStageFlags`; zero if it cannot be queried.
    pub required_size_stages: u32,
    /// `maxComputeWorkgroupSubgroups`: subgroups in a workgroup with a required subgroup size; zero
    /// if it cannot be queried.
    pub max_workgroup_subgroups: u32,
    /// `subgroupQuadOperationsInAllStages`.
    pub quad_in_all_stages: bool,
}

/// The limits of `VkPhysicalDeviceLimits` that concern compute work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limits {
    /// `maxComputeWorkGroupCount`: workgroups of a dispatch, for x, y and z.
    pub max_workgroups: [u32; 3],
    /// `maxComputeWorkGroupSize`: invocations of a workgroup, for x, y and z.
    pub max_workgroup_size: [u32; 3],
    /// `maxComputeWorkGroupInvocations`: invocations of a workgroup in all.
    pub max_workgroup_invocations: u32,
    /// `maxComputeSharedMemorySize`, in bytes.
    pub max_shared_memory: u32,
    /// `maxPushConstantsSize`, in bytes.
    pub max_push_constants: u32,
    /// `maxStorageBufferRange`, in bytes.
    pub max_storage_buffer_range: u64,
    /// `maxMemoryAllocationSize`, in bytes; the largest number if it cannot be queried.
    pub max_allocation: u64,
    /// `maxPerStageDescriptorStorageBuffers`.
    pub max_storage_buffers: u32,
    /// `maxPerStageResources`: descriptors in all.
    pub max_resources: u32,
    /// `maxBoundDescriptorSets`.
    pub max_sets: u32,
    /// `maxUniformBufferRange`, in bytes.
    pub max_uniform_buffer_range: u64,
    /// `maxTexelBufferElements`.
    pub max_texel_buffer_elements: u64,
    /// `minTexelGatherOffset` and `maxTexelGatherOffset`; 0 without `shaderImageGatherExtended`.
    pub texel_gather_offset: (i32, i32),
    /// `minTexelOffset` and `maxTexelOffset`.
    pub texel_offset: (i32, i32),
    /// `subTexelPrecisionBits`: fraction bits of a texel coordinate that the weights of linear
    /// filtering keep.
    pub sub_texel_bits: u32,
    /// `mipmapPrecisionBits`: fraction bits of a level of detail that the weights between levels
    /// keep.
    pub mipmap_bits: u32,
    /// `minStorageBufferOffsetAlignment`, in bytes.
    pub min_storage_buffer_alignment: u64,
    /// `timestampPeriod`: nanoseconds per timestamp tick.
    pub timestamp_period: f32,
}

/// All properties of a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Properties {
    /// The limits.
    pub limits: Limits,
    /// The float controls; `None` if the device has neither Vulkan 1.2 nor
    /// `VK_KHR_shader_float_controls`.
    pub float_controls: Option<FloatControls>,
    /// Subgroups; `None` before Vulkan 1.1.
    pub subgroup: Option<Subgroup>,
    /// `depthStencilSwizzleOneSupport`; false if the device has neither Vulkan 1.4 nor
    /// `VK_KHR_maintenance5`.
    pub depth_swizzle_one: bool,
    /// Rounding of descriptor ranges under robustness; `None` if the device has neither
    /// `VK_KHR_robustness2` nor `VK_EXT_robustness2`.
    pub robust_alignment: Option<RobustAlignment>,
}

/// `VkPhysicalDeviceRobustness2PropertiesKHR`: multiples, in bytes, to which the ranges of
/// descriptors are rounded up before an access counts as out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RobustAlignment {
    /// `robustStorageBufferAccessSizeAlignment`.
    pub storage: u64,
    /// `robustUniformBufferAccessSizeAlignment`.
    pub uniform: u64,
}
