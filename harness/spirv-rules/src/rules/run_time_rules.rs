//! Rules that only execution, or the objects bound to the shader, can show.
//! `assay_oracle::run_time_rules` states where each is enforced.

/// A rule that cannot be checked on the module alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTimeRule {
    /// Reference to the specification: a VUID, or a document and clause.
    pub id: &'static str,
    /// The requirement, in one sentence.
    pub requirement: &'static str,
}

/// All run-time rules that concern the pipelines that this project runs.
pub static RUN_TIME_RULES: &[RunTimeRule] = &[
    RunTimeRule {
        id: "VUID-RuntimeSpirv-UniformBufferArrayNonUniformIndexing-10134",
        requirement: "an array of uniform buffers must be indexed uniformly, except with UniformBufferArrayNonUniformIndexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-SampledImageArrayNonUniformIndexing-10135",
        requirement: "an array of sampled images or samplers must be indexed uniformly, except with SampledImageArrayNonUniformIndexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-StorageBufferArrayNonUniformIndexing-10136",
        requirement: "an array of storage buffers must be indexed uniformly, except with StorageBufferArrayNonUniformIndexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-StorageImageArrayNonUniformIndexing-10137",
        requirement: "an array of storage images must be indexed uniformly, except with StorageImageArrayNonUniformIndexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-InputAttachmentArrayNonUniformIndexing-10138",
        requirement: "an array of input attachments must be indexed uniformly, except with InputAttachmentArrayNonUniformIndexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-UniformTexelBufferArrayNonUniformIndexing-10139",
        requirement: "an array of uniform texel buffers must be indexed uniformly, except with UniformTexelBufferArrayNonUniformIndexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-StorageTexelBufferArrayNonUniformIndexing-10140",
        requirement: "an array of storage texel buffers must be indexed uniformly, except with StorageTexelBufferArrayNonUniformIndexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-None-04745",
        requirement: "arrays in push constants must be indexed uniformly",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-None-10148",
        requirement: "with a subgroup size of 1, a resource that is not uniform in the invocation group must be decorated NonUniform",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10149",
        requirement: "a resource that is uniform neither in the invocation group nor in the subgroup must be decorated NonUniform",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupBroadcastDynamicId-06276",
        requirement: "Index of OpGroupNonUniformQuadBroadcast must be uniform in the subgroup; before SPIR-V 1.5, or without subgroupBroadcastDynamicId, it must be a constant",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupBroadcastDynamicId-06277",
        requirement: "Id of OpGroupNonUniformBroadcast must be uniform in the subgroup; before SPIR-V 1.5, or without subgroupBroadcastDynamicId, it must be a constant",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-PhysicalStorageBuffer64-06315",
        requirement: "a physical pointer must be aligned to the literal of Aligned",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-PhysicalStorageBuffer64-11819",
        requirement: "a physical pointer must point into a buffer with a device address",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-None-10834",
        requirement: "without 64-bit indexing, buffer offsets must not exceed 32 bits",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpImage-06376",
        requirement: "texel offsets of a gather must be at least minTexelGatherOffset",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpImage-06377",
        requirement: "texel offsets of a gather must be at most maxTexelGatherOffset",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpImageSample-06435",
        requirement: "constant texel offsets of a sampling instruction must be at least minTexelOffset",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpImageSample-06436",
        requirement: "constant texel offsets of a sampling instruction must be at most maxTexelOffset",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-ConstOffset-10718",
        requirement: "texel offsets must not be used with a sampler that converts Y'CbCr",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-TileShadingQCOM-10700",
        requirement: "a shader with TileShadingQCOM must be executed in a tile shading render pass",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-TileShadingQCOM-10701",
        requirement: "a compute shader with TileShadingQCOM must be executed while per-tile execution is enabled",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-z-10704",
        requirement: "z of the tile shading rate must be at most the depth of the tile",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-tileSize-10705",
        requirement: "z of the tile shading rate must divide the depth of the tile",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeImage-10707",
        requirement: "a tile attachment backed by a colour attachment requires tileShadingColorAttachments",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeImage-10708",
        requirement: "a tile attachment backed by a depth attachment requires tileShadingDepthAttachments",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeImage-10709",
        requirement: "a tile attachment backed by a stencil attachment requires tileShadingStencilAttachments",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeImage-10710",
        requirement: "a tile attachment backed by an input attachment requires tileShadingInputAttachments",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeSampledImage-10711",
        requirement: "a sampled tile attachment requires tileShadingSampledAttachments",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-tileShadingImageProcessing-10712",
        requirement: "image processing of a tile attachment requires tileShadingImageProcessing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-Coordinate-10713",
        requirement: "reads and writes of a tile attachment must stay inside the tile; reads may extend to its apron",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-Coordinate-10714",
        requirement: "sampling of a tile attachment must not access texels outside the tile and its apron",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeCooperativeMatrixKHR-10163",
        requirement: "the size and types of a cooperative matrix must be a combination that the device lists",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeMatrixMulAddKHR-10060",
        requirement: "the operands of OpCooperativeMatrixMulAddKHR must be a combination that the device lists",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-cooperativeMatrixFlexibleDimensions-10165",
        requirement: "with cooperativeMatrixFlexibleDimensions, the size of a cooperative matrix must be one that the device lists",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-cooperativeMatrixFlexibleDimensions-10166",
        requirement: "with cooperativeMatrixFlexibleDimensions, the operands of a multiply-add must be a combination that the device lists",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-cooperativeMatrixFlexibleDimensionsMaxDimension-10167",
        requirement: "the dimensions of a cooperative matrix must not exceed cooperativeMatrixFlexibleDimensionsMaxDimension",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeCooperativeMatrixKHR-10770",
        requirement: "a pipeline with cooperative matrices must require full subgroups or use SPIR-V 1.6",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeMatrixLoadKHR-08986",
        requirement: "Pointer and Stride of a cooperative matrix load or store must be aligned",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulNV-10089",
        requirement: "the types of OpCooperativeVectorMatrixMulNV must be a combination that the device lists",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorReduceSumAccumulateNV-10092",
        requirement: "the type and storage class of OpCooperativeVectorReduceSumAccumulateNV must be supported by the device",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorOuterProductAccumulateNV-10093",
        requirement: "the types, layout and storage class of OpCooperativeVectorOuterProductAccumulateNV must be supported by the device",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeCooperativeVector-10095",
        requirement: "the component type of a cooperative vector must be one that the device lists",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulNV-10096",
        requirement: "strides of cooperative vector matrices must be multiples of 16 bytes",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulNV-10097",
        requirement: "cooperative vector matrices must be aligned to 64 bytes",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulAddNV-10098",
        requirement: "biases of cooperative vectors must be aligned to 16 bytes",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorLoadNV-10099",
        requirement: "cooperative vector loads and stores must be aligned to 16 bytes",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorReduceSumAccumulateNV-10100",
        requirement: "the pointer of OpCooperativeVectorReduceSumAccumulateNV must be aligned to 16 bytes",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorOuterProductAccumulateNV-10101",
        requirement: "the pointer of OpCooperativeVectorOuterProductAccumulateNV must be aligned to 64 bytes",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulAddNV-11808",
        requirement: "without 64-bit indexing, matrix and bias offsets must be 32-bit integers",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorLoadNV-11809",
        requirement: "without 64-bit indexing, cooperative vector offsets must be 32-bit integers",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-TaskEXT-07117",
        requirement: "a TaskEXT shader must execute OpEmitMeshTasksEXT exactly once, in uniform control flow",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-MeshEXT-07118",
        requirement: "a MeshEXT shader must execute OpSetMeshOutputsEXT at most once, in uniform control flow",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-Offset-06344",
        requirement: "the x offset of InterpolateAtOffset must be at least minInterpolationOffset",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-Offset-06345",
        requirement: "the x offset of InterpolateAtOffset must be at most maxInterpolationOffset",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-Offset-06346",
        requirement: "the y offset of InterpolateAtOffset must be at least minInterpolationOffset",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-Offset-06347",
        requirement: "the y offset of InterpolateAtOffset must be at most maxInterpolationOffset",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10141",
        requirement: "with a subgroup size of 1, an array of uniform buffers must be indexed uniformly in the invocation group, except with UniformBufferArrayNonUniformIndexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10142",
        requirement: "with a subgroup size of 1, an array of sampled images or samplers must be indexed uniformly in the invocation group, except with SampledImageArrayNonUniformIndexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10143",
        requirement: "with a subgroup size of 1, an array of storage buffers must be indexed uniformly in the invocation group, except with StorageBufferArrayNonUniformIndexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10144",
        requirement: "with a subgroup size of 1, an array of storage images must be indexed uniformly in the invocation group, except with StorageImageArrayNonUniformIndexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10145",
        requirement: "with a subgroup size of 1, an array of input attachments must be indexed uniformly in the invocation group, except with InputAttachmentArrayNonUniformIndexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10146",
        requirement: "with a subgroup size of 1, an array of uniform texel buffers must be indexed uniformly in the invocation group, except with UniformTexelBufferArrayNonUniformIndexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10147",
        requirement: "with a subgroup size of 1, an array of storage texel buffers must be indexed uniformly in the invocation group, except with StorageTexelBufferArrayNonUniformIndexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeUntypedPointerKHR-11166",
        requirement: "an access through an untyped pointer must be aligned as the offsets and strides of an explicit layout",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-samples-08725",
        requirement: "an image type with MS 0 must be bound to an image with one sample",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-samples-08726",
        requirement: "an image type with MS 1 must be bound to an image with several samples",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpControlBarrierArriveEXT-13558",
        requirement: "a split barrier with execution scope Workgroup must be executed in uniform control flow",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpControlBarrierWaitEXT-13559",
        requirement: "OpControlBarrierWaitEXT must follow an OpControlBarrierArriveEXT with the same scope",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpControlBarrierWaitEXT-13560",
        requirement: "each OpControlBarrierArriveEXT must be matched by one OpControlBarrierWaitEXT",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpControlBarrierArriveEXT-13561",
        requirement: "OpControlBarrierArriveEXT must follow the OpControlBarrierWaitEXT of the previous arrival",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpControlBarrierArriveEXT-13562",
        requirement: "with split barriers, workgroup memory must leave splitBarrierReservedSharedMemory bytes of maxComputeSharedMemorySize free",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-maxComputeSharedMemorySize-10168",
        requirement: "with cooperative matrices of scope Workgroup, workgroup memory must leave cooperativeMatrixWorkgroupScopeReservedSharedMemory bytes of maxComputeSharedMemorySize free",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulNV-10090",
        requirement: "a cooperative vector matrix of float8 components must have an optimal layout",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeSampler-12203",
        requirement: "a sampler variable must not be bound to a sampler that converts Y'CbCr",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeImage-12204",
        requirement: "an image variable must not be bound to a view that converts Y'CbCr",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-None-12205",
        requirement: "a view or sampler that converts Y'CbCr must be selected by constant indices",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeSampledImage-12206",
        requirement: "a sampled image that converts Y'CbCr must only be sampled",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeImage-12207",
        requirement: "an image that converts Y'CbCr must only be queried for levels and sizes",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeSampledImage-12208",
        requirement: "the view and the sampler of a sampled image that converts Y'CbCr must have been created with the same conversion",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-NSize-12352",
        requirement: "the length of the array operand of OpExtractSubArrayQCOM must be an NSize that the device lists",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-KSize-12353",
        requirement: "the length of the result of OpExtractSubArrayQCOM must be a KSize that the device lists",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpExtractSubArrayQCOM-12354",
        requirement: "the start index of OpExtractSubArrayQCOM must be a multiple of the length of its result",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-cooperativeMatrixProperties2-13382",
        requirement: "with cooperativeMatrixProperties2, the size and types of a cooperative matrix must be a combination from either list of the device",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-cooperativeMatrixProperties2-13383",
        requirement: "with cooperativeMatrixProperties2, the operands of a multiply-add must be a combination from either list of the device",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeMatrixLoadTensorNV-12429",
        requirement: "the block sizes of a decoding tensor load must be multiples of the size that its function returns",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeMatrix-12379",
        requirement: "cooperative matrix instructions must not access a null descriptor",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Precision: OpSRem and OpSMod",
        requirement: "without maintenance8 a negative operand of OpSRem or OpSMod makes the result poison",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Precision: denormalized values",
        requirement: "denormalized values must be flushed or preserved as the execution modes and the instruction lists specify",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Precision: float8 conversions",
        requirement: "denormalized float8 values must be preserved in conversions to binary16",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Precision of Individual Operations",
        requirement: "every result must be one that the precision table permits; a mathematically undefined result is poison",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Compatibility Between SPIR-V Image Dimensions and Vulkan ImageView Types",
        requirement: "the type of the bound view must be compatible with Dim of the image type",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Compatibility Between SPIR-V Image Formats and Vulkan Formats",
        requirement: "the format of the bound view must be compatible with the Image Format",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Compatibility Between SPIR-V Tensor Element Types And Vulkan Formats",
        requirement: "the format of the bound tensor must be compatible with the tensor's element type",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Image Format and Type Matching: unformatted accesses",
        requirement: "an access to an image without Image Format must have the signedness and type of the view's format",
    },
    RunTimeRule {
        id: "SPIR-V specification, Group and Non-Uniform Instructions: ClusterSize",
        requirement: "ClusterSize must be a power of two and at most the subgroup size",
    },
    RunTimeRule {
        id: "SPIR-V specification, OpGroupNonUniformInverseBallot: Value",
        requirement: "Value of OpGroupNonUniformInverseBallot must be the same for all invocations of the tangle",
    },
    RunTimeRule {
        id: "SPV_KHR_subgroup_rotate, OpGroupNonUniformRotateKHR: Delta",
        requirement: "Delta of OpGroupNonUniformRotateKHR must be the same for all invocations of the tangle",
    },
    RunTimeRule {
        id: "SPV_KHR_expect_assume, OpAssumeTrueKHR: Condition",
        requirement: "Condition of OpAssumeTrueKHR must be true",
    },
    RunTimeRule {
        id: "SPIR-V specification, Aliasing: memory object declarations without Aliased",
        requirement: "memory that is accessed through two variables, and written through one of them, must belong to variables decorated Aliased",
    },
];
