//! The specification's rules behind device requirements, for the list of rules.

/// A rule of the specification that imposes a device requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedRule {
    /// Its name in the specification.
    pub id: &'static str,
    /// Summary of the requirement.
    pub says: &'static str,
}

/// All such rules, ordered by number, except those that follow from the capability and extension
/// tables.
pub static NEED_RULES: &[NeedRule] = &[
    NeedRule {
        id: "VUID-RuntimeSpirv-vulkanMemoryModel-06265",
        says: "scope Device in the Vulkan memory model needs vulkanMemoryModelDeviceScope",
    },
    NeedRule { id: "VUID-RuntimeSpirv-vulkanMemoryModel-06266", says: "scope QueueFamily needs vulkanMemoryModel" },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderSubgroupClock-06267",
        says: "OpReadClockKHR of scope Subgroup needs shaderSubgroupClock",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderDeviceClock-06268",
        says: "OpReadClockKHR of scope Device needs shaderDeviceClock",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-None-06275",
        says: "group operations on 8, 16 and 64-bit values need shaderSubgroupExtendedTypes",
    },
    NeedRule { id: "VUID-RuntimeSpirv-None-06278", says: "64-bit atomics in buffers need shaderBufferInt64Atomics" },
    NeedRule {
        id: "VUID-RuntimeSpirv-None-06279",
        says: "64-bit atomics in workgroup memory need shaderSharedInt64Atomics",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-None-06284",
        says: "float atomics in buffers need the feature of their width and operation",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-None-06285",
        says: "float atomics in workgroup memory need the feature of their width and operation",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-None-06286",
        says: "float atomics in images need the feature of their width and operation",
    },
    NeedRule { id: "VUID-RuntimeSpirv-None-06288", says: "64-bit atomics in images need shaderImageInt64Atomics" },
    NeedRule {
        id: "VUID-RuntimeSpirv-denormBehaviorIndependence-06289",
        says: "denormal modes of 16 and 64 bits are equal unless denormBehaviorIndependence permits otherwise",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-denormBehaviorIndependence-06290",
        says: "denormal modes of all widths are equal unless denormBehaviorIndependence permits otherwise",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-roundingModeIndependence-06291",
        says: "rounding modes of 16 and 64 bits are equal unless roundingModeIndependence permits otherwise",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-roundingModeIndependence-06292",
        says: "rounding modes of all widths are equal unless roundingModeIndependence permits otherwise",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat16-06293",
        says: "execution mode SignedZeroInfNanPreserve 16 needs shaderSignedZeroInfNanPreserveFloat16",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat32-06294",
        says: "execution mode SignedZeroInfNanPreserve 32 needs shaderSignedZeroInfNanPreserveFloat32",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat64-06295",
        says: "execution mode SignedZeroInfNanPreserve 64 needs shaderSignedZeroInfNanPreserveFloat64",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderDenormPreserveFloat16-06296",
        says: "execution mode DenormPreserve 16 needs shaderDenormPreserveFloat16",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderDenormPreserveFloat32-06297",
        says: "execution mode DenormPreserve 32 needs shaderDenormPreserveFloat32",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderDenormPreserveFloat64-06298",
        says: "execution mode DenormPreserve 64 needs shaderDenormPreserveFloat64",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderDenormFlushToZeroFloat16-06299",
        says: "execution mode DenormFlushToZero 16 needs shaderDenormFlushToZeroFloat16",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderDenormFlushToZeroFloat32-06300",
        says: "execution mode DenormFlushToZero 32 needs shaderDenormFlushToZeroFloat32",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderDenormFlushToZeroFloat64-06301",
        says: "execution mode DenormFlushToZero 64 needs shaderDenormFlushToZeroFloat64",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderRoundingModeRTEFloat16-06302",
        says: "execution mode RoundingModeRTE 16 needs shaderRoundingModeRTEFloat16",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderRoundingModeRTEFloat32-06303",
        says: "execution mode RoundingModeRTE 32 needs shaderRoundingModeRTEFloat32",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderRoundingModeRTEFloat64-06304",
        says: "execution mode RoundingModeRTE 64 needs shaderRoundingModeRTEFloat64",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderRoundingModeRTZFloat16-06305",
        says: "execution mode RoundingModeRTZ 16 needs shaderRoundingModeRTZFloat16",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderRoundingModeRTZFloat32-06306",
        says: "execution mode RoundingModeRTZ 32 needs shaderRoundingModeRTZFloat32",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderRoundingModeRTZFloat64-06307",
        says: "execution mode RoundingModeRTZ 64 needs shaderRoundingModeRTZFloat64",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-storageBuffer8BitAccess-06328",
        says: "8-bit values in storage buffers need storageBuffer8BitAccess",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-uniformAndStorageBuffer8BitAccess-06329",
        says: "8-bit values in uniform buffers need uniformAndStorageBuffer8BitAccess",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-storagePushConstant8-06330",
        says: "8-bit values in push constants need storagePushConstant8",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-uniformAndStorageBuffer16BitAccess-06332",
        says: "16-bit values in uniform buffers need uniformAndStorageBuffer16BitAccess",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-storagePushConstant16-06333",
        says: "16-bit values in push constants need storagePushConstant16",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-NonWritable-06340",
        says: "writable buffers and images in fragment shaders need fragmentStoresAndAtomics",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-None-06343",
        says: "group operations occur only in the stages of subgroupSupportedStages",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderZeroInitializeWorkgroupMemory-06372",
        says: "initializers of workgroup memory need shaderZeroInitializeWorkgroupMemory",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-SubgroupUniformControlFlowKHR-06379",
        says: "SubgroupUniformControlFlowKHR needs shaderSubgroupUniformControlFlow",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-x-06429",
        says: "the x size of a workgroup is at most maxComputeWorkGroupSize[0]",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-y-06430",
        says: "the y size of a workgroup is at most maxComputeWorkGroupSize[1]",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-z-06431",
        says: "the z size of a workgroup is at most maxComputeWorkGroupSize[2]",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-x-06432",
        says: "a workgroup has at most maxComputeWorkGroupInvocations invocations",
    },
    NeedRule { id: "VUID-RuntimeSpirv-LocalSizeId-06434", says: "LocalSizeId needs maintenance4" },
    NeedRule {
        id: "VUID-RuntimeSpirv-Workgroup-06530",
        says: "workgroup memory is at most maxComputeSharedMemorySize",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-apiVersion-07954",
        says: "a storage image without a format is NonWritable, or the device supports writing without a format",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-apiVersion-07955",
        says: "a storage image without a format is NonReadable, or the device supports reading without a format",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-cooperativeMatrixSupportedStages-08985",
        says: "cooperative matrices occur only in the stages of cooperativeMatrixSupportedStages",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat16-09559",
        says: "FPFastMathDefault of 16-bit floats has NSZ, NotInf and NotNaN, or needs shaderSignedZeroInfNanPreserveFloat16",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat16-09560",
        says: "FPFastMathMode of 16-bit floats has NSZ, NotInf and NotNaN, or needs shaderSignedZeroInfNanPreserveFloat16",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat32-09561",
        says: "FPFastMathDefault of 32-bit floats has NSZ, NotInf and NotNaN, or needs shaderSignedZeroInfNanPreserveFloat32",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat32-09562",
        says: "FPFastMathMode of 32-bit floats has NSZ, NotInf and NotNaN, or needs shaderSignedZeroInfNanPreserveFloat32",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat64-09563",
        says: "FPFastMathDefault of 64-bit floats has NSZ, NotInf and NotNaN, or needs shaderSignedZeroInfNanPreserveFloat64",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat64-09564",
        says: "FPFastMathMode of 64-bit floats has NSZ, NotInf and NotNaN, or needs shaderSignedZeroInfNanPreserveFloat64",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderSubgroupRotateClustered-09566",
        says: "ClusterSize of OpGroupNonUniformRotateKHR needs shaderSubgroupRotateClustered",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderFloat16VectorAtomics-09581",
        says: "atomics on vectors need shaderFloat16VectorAtomics",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-cooperativeVectorSupportedStages-10091",
        says: "cooperative vectors occur only in the stages of cooperativeVectorSupportedStages",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-maxCooperativeVectorComponents-10094",
        says: "cooperative vectors have at most maxCooperativeVectorComponents components",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-cooperativeMatrixWorkgroupScope-10164",
        says: "cooperative matrices of scope Workgroup need cooperativeMatrixWorkgroupScope",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-Offset-10213",
        says: "operand Offset of image instructions other than gathers needs maintenance8",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-TileShadingQCOM-10699",
        says: "tile shading in fragment stages needs tileShadingFragmentStage",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-x-10702",
        says: "the x component of the tile shading rate is at most maxTileShadingRate.width",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-y-10703",
        says: "the y component of the tile shading rate is at most maxTileShadingRate.height",
    },
    NeedRule { id: "VUID-RuntimeSpirv-OpImage-10706", says: "atomics on tile attachments need tileShadingAtomicOps" },
    NeedRule {
        id: "VUID-RuntimeSpirv-workgroupMemoryExplicitLayout8BitAccess-10756",
        says: "8-bit values in explicitly laid out workgroup memory need workgroupMemoryExplicitLayout8BitAccess",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-workgroupMemoryExplicitLayout16BitAccess-10757",
        says: "16-bit values in explicitly laid out workgroup memory need workgroupMemoryExplicitLayout16BitAccess",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderRelaxedExtendedInstruction-10773",
        says: "OpExtInstWithForwardRefsKHR needs shaderRelaxedExtendedInstruction",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-None-10824",
        says: "bit instructions on other widths than 32 bits need maintenance9",
    },
    NeedRule { id: "VUID-RuntimeSpirv-shaderFmaFloat16-10977", says: "16-bit OpFmaKHR needs shaderFmaFloat16" },
    NeedRule { id: "VUID-RuntimeSpirv-shaderFmaFloat32-10978", says: "32-bit OpFmaKHR needs shaderFmaFloat32" },
    NeedRule { id: "VUID-RuntimeSpirv-shaderFmaFloat64-10979", says: "64-bit OpFmaKHR needs shaderFmaFloat64" },
    NeedRule {
        id: "VUID-RuntimeSpirv-storageBuffer16BitAccess-11161",
        says: "16-bit values in storage buffers need storageBuffer16BitAccess",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-storageInputOutput16-11162",
        says: "16-bit values in input and output variables need storageInputOutput16",
    },
    NeedRule {
        id: "VUID-RuntimeSpirv-shaderUniformBufferUnsizedArray-11806",
        says: "a uniform buffer that ends in a run-time array needs shaderUniformBufferUnsizedArray",
    },
    NeedRule { id: "VUID-RuntimeSpirv-longVector-12296", says: "vectors have at most maxVectorComponents components" },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn list_contains_exactly_the_rules_of_requirements() {
        let sources = [
            include_str!("derive.rs"),
            include_str!("instructions.rs"),
            include_str!("float_controls.rs"),
            include_str!("limits.rs"),
            include_str!("stages.rs"),
        ];
        let named: BTreeSet<&str> =
            sources.iter().flat_map(|source| source.split('"').filter(|text| text.starts_with("VUID-"))).collect();
        let listed: BTreeSet<&str> = super::NEED_RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(named, listed);
        assert_eq!(listed.len(), super::NEED_RULES.len(), "a rule is listed twice");
    }
}
