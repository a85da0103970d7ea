//! The specification's rules behind device requirements, for the list of rules.

/// A rule of the specification that imposes a device requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequirementRule {
    /// Its name in the specification.
    pub id: &'static str,
    /// Summary of the requirement.
    pub text: &'static str,
}

/// All such rules, ordered by number, except those that follow from the capability and extension
/// tables.
pub static REQUIREMENT_RULES: &[RequirementRule] = &[
    RequirementRule {
        id: "VUID-RuntimeSpirv-vulkanMemoryModel-06265",
        text: "scope Device in the Vulkan memory model needs vulkanMemoryModelDeviceScope",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-vulkanMemoryModel-06266",
        text: "scope QueueFamily needs vulkanMemoryModel",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderSubgroupClock-06267",
        text: "OpReadClockKHR of scope Subgroup needs shaderSubgroupClock",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderDeviceClock-06268",
        text: "OpReadClockKHR of scope Device needs shaderDeviceClock",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-None-06275",
        text: "group operations on 8, 16 and 64-bit values need shaderSubgroupExtendedTypes",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-None-06278",
        text: "64-bit atomics in buffers need shaderBufferInt64Atomics",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-None-06279",
        text: "64-bit atomics in workgroup memory need shaderSharedInt64Atomics",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-None-06284",
        text: "float atomics in buffers need the feature of their width and operation",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-None-06285",
        text: "float atomics in workgroup memory need the feature of their width and operation",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-None-06286",
        text: "float atomics in images need the feature of their width and operation",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-None-06288",
        text: "64-bit atomics in images need shaderImageInt64Atomics",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-denormBehaviorIndependence-06289",
        text: "denormal modes of 16 and 64 bits are equal unless denormBehaviorIndependence permits otherwise",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-denormBehaviorIndependence-06290",
        text: "denormal modes of all widths are equal unless denormBehaviorIndependence permits otherwise",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-roundingModeIndependence-06291",
        text: "rounding modes of 16 and 64 bits are equal unless roundingModeIndependence permits otherwise",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-roundingModeIndependence-06292",
        text: "rounding modes of all widths are equal unless roundingModeIndependence permits otherwise",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat16-06293",
        text: "execution mode SignedZeroInfNanPreserve 16 needs shaderSignedZeroInfNanPreserveFloat16",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat32-06294",
        text: "execution mode SignedZeroInfNanPreserve 32 needs shaderSignedZeroInfNanPreserveFloat32",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat64-06295",
        text: "execution mode SignedZeroInfNanPreserve 64 needs shaderSignedZeroInfNanPreserveFloat64",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderDenormPreserveFloat16-06296",
        text: "execution mode DenormPreserve 16 needs shaderDenormPreserveFloat16",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderDenormPreserveFloat32-06297",
        text: "execution mode DenormPreserve 32 needs shaderDenormPreserveFloat32",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderDenormPreserveFloat64-06298",
        text: "execution mode DenormPreserve 64 needs shaderDenormPreserveFloat64",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderDenormFlushToZeroFloat16-06299",
        text: "execution mode DenormFlushToZero 16 needs shaderDenormFlushToZeroFloat16",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderDenormFlushToZeroFloat32-06300",
        text: "execution mode DenormFlushToZero 32 needs shaderDenormFlushToZeroFloat32",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderDenormFlushToZeroFloat64-06301",
        text: "execution mode DenormFlushToZero 64 needs shaderDenormFlushToZeroFloat64",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderRoundingModeRTEFloat16-06302",
        text: "execution mode RoundingModeRTE 16 needs shaderRoundingModeRTEFloat16",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderRoundingModeRTEFloat32-06303",
        text: "execution mode RoundingModeRTE 32 needs shaderRoundingModeRTEFloat32",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderRoundingModeRTEFloat64-06304",
        text: "execution mode RoundingModeRTE 64 needs shaderRoundingModeRTEFloat64",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderRoundingModeRTZFloat16-06305",
        text: "execution mode RoundingModeRTZ 16 needs shaderRoundingModeRTZFloat16",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderRoundingModeRTZFloat32-06306",
        text: "execution mode RoundingModeRTZ 32 needs shaderRoundingModeRTZFloat32",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderRoundingModeRTZFloat64-06307",
        text: "execution mode RoundingModeRTZ 64 needs shaderRoundingModeRTZFloat64",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-storageBuffer8BitAccess-06328",
        text: "8-bit values in storage buffers need storageBuffer8BitAccess",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-uniformAndStorageBuffer8BitAccess-06329",
        text: "8-bit values in uniform buffers need uniformAndStorageBuffer8BitAccess",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-storagePushConstant8-06330",
        text: "8-bit values in push constants need storagePushConstant8",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-uniformAndStorageBuffer16BitAccess-06332",
        text: "16-bit values in uniform buffers need uniformAndStorageBuffer16BitAccess",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-storagePushConstant16-06333",
        text: "16-bit values in push constants need storagePushConstant16",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-NonWritable-06340",
        text: "writable buffers and images in fragment shaders need fragmentStoresAndAtomics",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-None-06343",
        text: "group operations occur only in the stages of subgroupSupportedStages",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderZeroInitializeWorkgroupMemory-06372",
        text: "initializers of workgroup memory need shaderZeroInitializeWorkgroupMemory",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-SubgroupUniformControlFlowKHR-06379",
        text: "SubgroupUniformControlFlowKHR needs shaderSubgroupUniformControlFlow",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-x-06429",
        text: "the x size of a workgroup is at most maxComputeWorkGroupSize[0]",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-y-06430",
        text: "the y size of a workgroup is at most maxComputeWorkGroupSize[1]",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-z-06431",
        text: "the z size of a workgroup is at most maxComputeWorkGroupSize[2]",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-x-06432",
        text: "a workgroup has at most maxComputeWorkGroupInvocations invocations",
    },
    RequirementRule { id: "VUID-RuntimeSpirv-LocalSizeId-06434", text: "LocalSizeId needs maintenance4" },
    RequirementRule {
        id: "VUID-RuntimeSpirv-Workgroup-06530",
        text: "workgroup memory is at most maxComputeSharedMemorySize",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-apiVersion-07954",
        text: "a storage image without a format is NonWritable, or the device supports writing without a format",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-apiVersion-07955",
        text: "a storage image without a format is NonReadable, or the device supports reading without a format",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-cooperativeMatrixSupportedStages-08985",
        text: "cooperative matrices occur only in the stages of cooperativeMatrixSupportedStages",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat16-09559",
        text: "FPFastMathDefault of 16-bit floats has NSZ, NotInf and NotNaN, or needs shaderSignedZeroInfNanPreserveFloat16",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat16-09560",
        text: "FPFastMathMode of 16-bit floats has NSZ, NotInf and NotNaN, or needs shaderSignedZeroInfNanPreserveFloat16",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat32-09561",
        text: "FPFastMathDefault of 32-bit floats has NSZ, NotInf and NotNaN, or needs shaderSignedZeroInfNanPreserveFloat32",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat32-09562",
        text: "FPFastMathMode of 32-bit floats has NSZ, NotInf and NotNaN, or needs shaderSignedZeroInfNanPreserveFloat32",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat64-09563",
        text: "FPFastMathDefault of 64-bit floats has NSZ, NotInf and NotNaN, or needs shaderSignedZeroInfNanPreserveFloat64",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderSignedZeroInfNanPreserveFloat64-09564",
        text: "FPFastMathMode of 64-bit floats has NSZ, NotInf and NotNaN, or needs shaderSignedZeroInfNanPreserveFloat64",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderSubgroupRotateClustered-09566",
        text: "ClusterSize of OpGroupNonUniformRotateKHR needs shaderSubgroupRotateClustered",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderFloat16VectorAtomics-09581",
        text: "atomics on vectors need shaderFloat16VectorAtomics",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-cooperativeVectorSupportedStages-10091",
        text: "cooperative vectors occur only in the stages of cooperativeVectorSupportedStages",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-maxCooperativeVectorComponents-10094",
        text: "cooperative vectors have at most maxCooperativeVectorComponents components",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-cooperativeMatrixWorkgroupScope-10164",
        text: "cooperative matrices of scope Workgroup need cooperativeMatrixWorkgroupScope",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-Offset-10213",
        text: "operand Offset of image instructions other than gathers needs maintenance8",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-TileShadingQCOM-10699",
        text: "tile shading in fragment stages needs tileShadingFragmentStage",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-x-10702",
        text: "the x component of the tile shading rate is at most maxTileShadingRate.width",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-y-10703",
        text: "the y component of the tile shading rate is at most maxTileShadingRate.height",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-OpImage-10706",
        text: "atomics on tile attachments need tileShadingAtomicOps",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-workgroupMemoryExplicitLayout8BitAccess-10756",
        text: "8-bit values in explicitly laid out workgroup memory need workgroupMemoryExplicitLayout8BitAccess",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-workgroupMemoryExplicitLayout16BitAccess-10757",
        text: "16-bit values in explicitly laid out workgroup memory need workgroupMemoryExplicitLayout16BitAccess",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderRelaxedExtendedInstruction-10773",
        text: "OpExtInstWithForwardRefsKHR needs shaderRelaxedExtendedInstruction",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-None-10824",
        text: "bit instructions on other widths than 32 bits need maintenance9",
    },
    RequirementRule { id: "VUID-RuntimeSpirv-shaderFmaFloat16-10977", text: "16-bit OpFmaKHR needs shaderFmaFloat16" },
    RequirementRule { id: "VUID-RuntimeSpirv-shaderFmaFloat32-10978", text: "32-bit OpFmaKHR needs shaderFmaFloat32" },
    RequirementRule { id: "VUID-RuntimeSpirv-shaderFmaFloat64-10979", text: "64-bit OpFmaKHR needs shaderFmaFloat64" },
    RequirementRule {
        id: "VUID-RuntimeSpirv-storageBuffer16BitAccess-11161",
        text: "16-bit values in storage buffers need storageBuffer16BitAccess",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-storageInputOutput16-11162",
        text: "16-bit values in input and output variables need storageInputOutput16",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-shaderUniformBufferUnsizedArray-11806",
        text: "a uniform buffer that ends in a run-time array needs shaderUniformBufferUnsizedArray",
    },
    RequirementRule {
        id: "VUID-RuntimeSpirv-longVector-12296",
        text: "vectors have at most maxVectorComponents components",
    },
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
        let listed: BTreeSet<&str> = super::REQUIREMENT_RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(named, listed);
        assert_eq!(listed.len(), super::REQUIREMENT_RULES.len(), "a rule is listed twice");
    }
}
