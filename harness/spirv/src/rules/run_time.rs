//! Rules that only running the shader, or the objects bound to it, can show. Who sees to each stands in
//! the interpreter's `assay_oracle::run_time_rules`.

/// A rule that no look at the module can check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTimeRule {
    /// Its name in the specification: a VUID, or the document and clause.
    pub id: &'static str,
    /// What it asks for, in a few words.
    pub says: &'static str,
}

/// Every such rule that concerns what this project runs.
pub static RUN_TIME_RULES: &[RunTimeRule] = &[
    RunTimeRule {
        id: "VUID-RuntimeSpirv-UniformBufferArrayNonUniformIndexing-10134",
        says: "a uniform buffer is chosen uniformly unless its NonUniformIndexing capability is declared",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-SampledImageArrayNonUniformIndexing-10135",
        says: "a sampled image or sampler is chosen uniformly unless its NonUniformIndexing capability is declared",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-StorageBufferArrayNonUniformIndexing-10136",
        says: "a storage buffer is chosen uniformly unless its NonUniformIndexing capability is declared",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-StorageImageArrayNonUniformIndexing-10137",
        says: "a storage image is chosen uniformly unless its NonUniformIndexing capability is declared",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-InputAttachmentArrayNonUniformIndexing-10138",
        says: "an input attachment is chosen uniformly unless its NonUniformIndexing capability is declared",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-UniformTexelBufferArrayNonUniformIndexing-10139",
        says: "a uniform texel buffer is chosen uniformly unless its NonUniformIndexing capability is declared",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-StorageTexelBufferArrayNonUniformIndexing-10140",
        says: "a storage texel buffer is chosen uniformly unless its NonUniformIndexing capability is declared",
    },
    RunTimeRule { id: "VUID-RuntimeSpirv-None-04745", says: "arrays in push constants are indexed uniformly" },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-None-10148",
        says: "with a subgroup size of 1, a resource that is not uniform in the invocation group is decorated NonUniform",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10149",
        says: "a resource that is uniform neither in the invocation group nor in the subgroup is decorated NonUniform",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupBroadcastDynamicId-06276",
        says: "the index of a quad broadcast is uniform, or a constant before SPIR-V 1.5 and without subgroupBroadcastDynamicId",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupBroadcastDynamicId-06277",
        says: "the id of a broadcast is uniform, or a constant before SPIR-V 1.5 and without subgroupBroadcastDynamicId",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-PhysicalStorageBuffer64-06315",
        says: "a physical pointer is aligned as its access states",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-PhysicalStorageBuffer64-11819",
        says: "a physical pointer points into a buffer with a device address",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-None-10834",
        says: "buffer offsets do not exceed 32 bits without 64-bit indexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpImage-06376",
        says: "offsets of a gather are at least minTexelGatherOffset",
    },
    RunTimeRule { id: "VUID-RuntimeSpirv-OpImage-06377", says: "offsets of a gather are at most maxTexelGatherOffset" },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpImageSample-06435",
        says: "a sample's constant offset is at least minTexelOffset",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpImageSample-06436",
        says: "a sample's constant offset is at most maxTexelOffset",
    },
    RunTimeRule { id: "VUID-RuntimeSpirv-ConstOffset-10718", says: "no offset where the sampler converts Y'CbCr" },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-TileShadingQCOM-10700",
        says: "a tile shader runs inside a tile shading render pass",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-TileShadingQCOM-10701",
        says: "a compute tile shader runs where per-tile execution is on",
    },
    RunTimeRule { id: "VUID-RuntimeSpirv-z-10704", says: "z of the tile shading rate is at most the tile's depth" },
    RunTimeRule { id: "VUID-RuntimeSpirv-tileSize-10705", says: "z of the tile shading rate divides the tile's depth" },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeImage-10707",
        says: "a tile attachment backed by a colour attachment needs tileShadingColorAttachments",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeImage-10708",
        says: "a tile attachment backed by a depth attachment needs tileShadingDepthAttachments",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeImage-10709",
        says: "a tile attachment backed by a stencil attachment needs tileShadingStencilAttachments",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeImage-10710",
        says: "a tile attachment backed by an input attachment needs tileShadingInputAttachments",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeSampledImage-10711",
        says: "a sampled tile attachment needs tileShadingSampledAttachments",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-tileShadingImageProcessing-10712",
        says: "image processing of a tile attachment needs tileShadingImageProcessing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-Coordinate-10713",
        says: "reads and writes of a tile attachment stay inside the tile, reads inside its apron",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-Coordinate-10714",
        says: "sampling of a tile attachment touches no texel outside the tile and its apron",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeCooperativeMatrixKHR-10163",
        says: "a cooperative matrix has a size and type that the device lists",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeMatrixMulAddKHR-10060",
        says: "a cooperative multiply-add has operands that the device lists together",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-cooperativeMatrixFlexibleDimensions-10165",
        says: "a flexible cooperative matrix has a size that the device lists",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-cooperativeMatrixFlexibleDimensions-10166",
        says: "a flexible multiply-add has operands that the device lists together",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-cooperativeMatrixFlexibleDimensionsMaxDimension-10167",
        says: "cooperative matrices are no larger than the device's maximum",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeCooperativeMatrixKHR-10770",
        says: "a pipeline with cooperative matrices requires full subgroups, or SPIR-V 1.6",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeMatrixLoadKHR-08986",
        says: "pointer and stride of a cooperative load or store are aligned",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulNV-10089",
        says: "a cooperative vector multiplication has types that the device lists together",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorReduceSumAccumulateNV-10092",
        says: "a cooperative sum has a type and storage class that the device supports",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorOuterProductAccumulateNV-10093",
        says: "a cooperative outer product has types, layout and storage class that the device supports",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeCooperativeVector-10095",
        says: "cooperative vectors have a component type that the device lists",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulNV-10096",
        says: "strides of cooperative vector matrices are aligned to 16 bytes",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulNV-10097",
        says: "cooperative vector matrices are aligned to 64 bytes",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulAddNV-10098",
        says: "biases of cooperative vectors are aligned to 16 bytes",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorLoadNV-10099",
        says: "cooperative vector loads and stores are aligned to 16 bytes",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorReduceSumAccumulateNV-10100",
        says: "cooperative sums are aligned to 16 bytes",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorOuterProductAccumulateNV-10101",
        says: "cooperative outer products are aligned to 64 bytes",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulAddNV-11808",
        says: "matrix and bias offsets are 32-bit without 64-bit indexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorLoadNV-11809",
        says: "cooperative vector offsets are 32-bit without 64-bit indexing",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-TaskEXT-07117",
        says: "a task shader emits mesh tasks exactly once, uniformly",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-MeshEXT-07118",
        says: "a mesh shader sets its outputs at most once, uniformly",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-Offset-06344",
        says: "InterpolateAtOffset x is at least minInterpolationOffset",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-Offset-06345",
        says: "InterpolateAtOffset x is at most maxInterpolationOffset",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-Offset-06346",
        says: "InterpolateAtOffset y is at least minInterpolationOffset",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-Offset-06347",
        says: "InterpolateAtOffset y is at most maxInterpolationOffset",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10141",
        says: "with subgroups of 1, a uniform buffer is chosen uniformly in the invocation group unless its NonUniformIndexing capability is declared",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10142",
        says: "with subgroups of 1, a sampled image or sampler is chosen uniformly in the invocation group unless its NonUniformIndexing capability is declared",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10143",
        says: "with subgroups of 1, a storage buffer is chosen uniformly in the invocation group unless its NonUniformIndexing capability is declared",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10144",
        says: "with subgroups of 1, a storage image is chosen uniformly in the invocation group unless its NonUniformIndexing capability is declared",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10145",
        says: "with subgroups of 1, an input attachment is chosen uniformly in the invocation group unless its NonUniformIndexing capability is declared",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10146",
        says: "with subgroups of 1, a uniform texel buffer is chosen uniformly in the invocation group unless its NonUniformIndexing capability is declared",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-subgroupSize-10147",
        says: "with subgroups of 1, a storage texel buffer is chosen uniformly in the invocation group unless its NonUniformIndexing capability is declared",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeUntypedPointerKHR-11166",
        says: "an access through an untyped pointer is aligned as offsets and strides are",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-samples-08725",
        says: "an image with MS 0 is bound to an image of one sample",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-samples-08726",
        says: "an image with MS 1 is bound to an image of several samples",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpControlBarrierArriveEXT-13558",
        says: "a split barrier of scope Workgroup is in uniform control flow",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpControlBarrierWaitEXT-13559",
        says: "a wait follows an arrival of the same scope",
    },
    RunTimeRule { id: "VUID-RuntimeSpirv-OpControlBarrierWaitEXT-13560", says: "an arrival is waited for once" },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpControlBarrierArriveEXT-13561",
        says: "an arrival follows the wait for the last one",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpControlBarrierArriveEXT-13562",
        says: "with split barriers workgroup memory leaves splitBarrierReservedSharedMemory bytes of maxComputeSharedMemorySize",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-maxComputeSharedMemorySize-10168",
        says: "with cooperative matrices of scope Workgroup workgroup memory leaves cooperativeMatrixWorkgroupScopeReservedSharedMemory bytes of maxComputeSharedMemorySize",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeVectorMatrixMulNV-10090",
        says: "a cooperative vector matrix of float8 has an optimal layout",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeSampler-12203",
        says: "a sampler variable is not bound to a sampler that converts Y'CbCr",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeImage-12204",
        says: "an image variable is not bound to a view that converts Y'CbCr",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-None-12205",
        says: "a view or sampler that converts Y'CbCr is chosen by constants",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeSampledImage-12206",
        says: "a sampled image that converts Y'CbCr is only sampled",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeImage-12207",
        says: "an image that converts Y'CbCr is only asked for levels and sizes",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpTypeSampledImage-12208",
        says: "a view and sampler that convert Y'CbCr were made with the same conversion",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-NSize-12352",
        says: "the array that OpExtractSubArrayQCOM takes from is as long as an NSize that the device lists",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-KSize-12353",
        says: "the array that OpExtractSubArrayQCOM makes is as long as a KSize that the device lists",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpExtractSubArrayQCOM-12354",
        says: "OpExtractSubArrayQCOM starts at a multiple of its result's length",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-cooperativeMatrixProperties2-13382",
        says: "with cooperativeMatrixProperties2 a cooperative matrix has a size and type of either list of the device",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-cooperativeMatrixProperties2-13383",
        says: "with cooperativeMatrixProperties2 a multiply-add has operands of either list of the device",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeMatrixLoadTensorNV-12429",
        says: "a decoding tensor load has blocks of a multiple of what its function returns",
    },
    RunTimeRule {
        id: "VUID-RuntimeSpirv-OpCooperativeMatrix-12379",
        says: "cooperative matrix instructions access no null descriptor",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Precision: OpSRem and OpSMod",
        says: "without maintenance8 a negative operand of OpSRem or OpSMod makes the result poison",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Precision: denormalized values",
        says: "denormalized values are flushed or kept as the execution modes and the lists say",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Precision: float8 conversions",
        says: "denormalized float8 values are kept in conversions to binary16",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Precision of Individual Operations",
        says: "every result is one that its row permits; a mathematically undefined result is poison",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Compatibility Between SPIR-V Image Dimensions and Vulkan ImageView Types",
        says: "the view bound has a type that the image's Dim allows",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Compatibility Between SPIR-V Image Formats and Vulkan Formats",
        says: "the view bound has the format that the image's format names",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Compatibility Between SPIR-V Tensor Element Types And Vulkan Formats",
        says: "the tensor bound has a format that the element type allows",
    },
    RunTimeRule {
        id: "vulkan-environment-for-spirv, Image Format and Type Matching: unformatted accesses",
        says: "an access to an image without format has the signedness and type of the view's format",
    },
    RunTimeRule {
        id: "SPIR-V specification, Group and Non-Uniform Instructions: ClusterSize",
        says: "the size of clusters is a power of two and at most that of the subgroup",
    },
    RunTimeRule {
        id: "SPIR-V specification, OpGroupNonUniformInverseBallot: Value",
        says: "the ballot of an inverse ballot is the same for all invocations that execute it together",
    },
    RunTimeRule {
        id: "SPV_KHR_subgroup_rotate, OpGroupNonUniformRotateKHR: Delta",
        says: "a subgroup is rotated by the same for all invocations that execute it together",
    },
    RunTimeRule { id: "SPV_KHR_expect_assume, OpAssumeTrueKHR: Condition", says: "what is assumed is true" },
    RunTimeRule {
        id: "SPIR-V specification, Aliasing: memory object declarations without Aliased",
        says: "memory that is accessed through two variables, and written through one of them, is that of variables with Aliased",
    },
];
