//! Supported instructions, by group. The match is exhaustive: a new instruction of the grammar does
//! not compile until it has a group.

use assay_spirv::tables::Op;

/// The group of an instruction, which decodes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// No effect at its place, or decoded with its block.
    Nothing,
    /// Decoded outside functions.
    Outside,
    Integer,
    Composite,
    Memory,
    Atomic,
    Control,
    Barrier,
    Float,
    Extended,
    Subgroup,
    Image,
    /// Refused by name: not in a compute shader of Vulkan 1.3, or not implemented.
    Unsupported,
}

/// The group of an instruction.
#[rustfmt::skip]
pub(crate) fn group(op: Op) -> Group {
    match op {
        Op::Nop | Op::SourceContinued | Op::Source | Op::SourceExtension | Op::Name | Op::MemberName | Op::String
        | Op::Line | Op::FunctionParameter | Op::Phi | Op::LoopMerge | Op::SelectionMerge | Op::Label | Op::NoLine
        | Op::ModuleProcessed => Group::Nothing,
        Op::Extension | Op::ExtInstImport | Op::MemoryModel | Op::EntryPoint | Op::ExecutionMode | Op::Capability
        | Op::TypeVoid | Op::TypeBool | Op::TypeInt | Op::TypeFloat | Op::TypeVector | Op::TypeMatrix | Op::TypeImage
        | Op::TypeSampler | Op::TypeSampledImage | Op::TypeArray | Op::TypeRuntimeArray | Op::TypeStruct | Op::TypePointer
        | Op::TypeFunction | Op::TypeForwardPointer | Op::ConstantTrue | Op::ConstantFalse | Op::Constant
        | Op::ConstantComposite | Op::ConstantNull | Op::SpecConstantTrue | Op::SpecConstantFalse | Op::SpecConstant
        | Op::SpecConstantComposite | Op::SpecConstantOp | Op::Function | Op::FunctionEnd | Op::Decorate
        | Op::MemberDecorate | Op::DecorationGroup | Op::GroupDecorate | Op::GroupMemberDecorate | Op::ExecutionModeId
        | Op::DecorateId | Op::DecorateString | Op::MemberDecorateString => Group::Outside,
        Op::UConvert | Op::SConvert | Op::SNegate | Op::IAdd | Op::ISub | Op::IMul | Op::UDiv | Op::SDiv | Op::UMod
        | Op::SRem | Op::SMod | Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended | Op::Any | Op::All
        | Op::LogicalEqual | Op::LogicalNotEqual | Op::LogicalOr | Op::LogicalAnd | Op::LogicalNot | Op::IEqual
        | Op::INotEqual | Op::UGreaterThan | Op::SGreaterThan | Op::UGreaterThanEqual | Op::SGreaterThanEqual
        | Op::ULessThan | Op::SLessThan | Op::ULessThanEqual | Op::SLessThanEqual | Op::ShiftRightLogical
        | Op::ShiftRightArithmetic | Op::ShiftLeftLogical | Op::BitwiseOr | Op::BitwiseXor | Op::BitwiseAnd | Op::Not
        | Op::BitFieldInsert | Op::BitFieldSExtract | Op::BitFieldUExtract | Op::BitReverse | Op::BitCount | Op::SDot
        | Op::UDot | Op::SUDot | Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => Group::Integer,
        Op::Undef | Op::VectorExtractDynamic | Op::VectorInsertDynamic | Op::VectorShuffle | Op::CompositeConstruct
        | Op::CompositeExtract | Op::CompositeInsert | Op::CopyObject | Op::Transpose | Op::ConvertPtrToU
        | Op::ConvertUToPtr | Op::Bitcast | Op::Select | Op::CopyLogical | Op::ExpectKHR => Group::Composite,
        Op::Variable | Op::Load | Op::Store | Op::CopyMemory | Op::AccessChain | Op::InBoundsAccessChain
        | Op::PtrAccessChain | Op::ArrayLength | Op::InBoundsPtrAccessChain | Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff => Group::Memory,
        Op::AtomicLoad | Op::AtomicStore | Op::AtomicExchange | Op::AtomicCompareExchange
        | Op::AtomicCompareExchangeWeak | Op::AtomicIIncrement | Op::AtomicIDecrement | Op::AtomicIAdd | Op::AtomicISub
        | Op::AtomicSMin | Op::AtomicUMin | Op::AtomicSMax | Op::AtomicUMax | Op::AtomicAnd | Op::AtomicOr | Op::AtomicXor
        | Op::AtomicFMinEXT | Op::AtomicFMaxEXT | Op::AtomicFAddEXT => Group::Atomic,
        Op::FunctionCall | Op::Branch | Op::BranchConditional | Op::Switch | Op::Return | Op::ReturnValue
        | Op::Unreachable | Op::AssumeTrueKHR => Group::Control,
        Op::ControlBarrier | Op::MemoryBarrier => Group::Barrier,
        Op::ConvertFToU | Op::ConvertFToS | Op::ConvertSToF | Op::ConvertUToF | Op::FConvert | Op::QuantizeToF16
        | Op::FNegate | Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem | Op::FMod | Op::VectorTimesScalar
        | Op::MatrixTimesScalar | Op::VectorTimesMatrix | Op::MatrixTimesVector | Op::MatrixTimesMatrix | Op::OuterProduct
        | Op::Dot | Op::IsNan | Op::IsInf | Op::FOrdEqual | Op::FUnordEqual | Op::FOrdNotEqual | Op::FUnordNotEqual
        | Op::FOrdLessThan | Op::FUnordLessThan | Op::FOrdGreaterThan | Op::FUnordGreaterThan | Op::FOrdLessThanEqual
        | Op::FUnordLessThanEqual | Op::FOrdGreaterThanEqual | Op::FUnordGreaterThanEqual | Op::FmaKHR => Group::Float,
        Op::ExtInst => Group::Extended,
        Op::GroupNonUniformElect | Op::GroupNonUniformAll | Op::GroupNonUniformAny | Op::GroupNonUniformAllEqual
        | Op::GroupNonUniformBroadcast | Op::GroupNonUniformBroadcastFirst | Op::GroupNonUniformBallot
        | Op::GroupNonUniformInverseBallot | Op::GroupNonUniformBallotBitExtract | Op::GroupNonUniformBallotBitCount
        | Op::GroupNonUniformBallotFindLSB | Op::GroupNonUniformBallotFindMSB | Op::GroupNonUniformShuffle
        | Op::GroupNonUniformShuffleXor | Op::GroupNonUniformShuffleUp | Op::GroupNonUniformShuffleDown
        | Op::GroupNonUniformIAdd | Op::GroupNonUniformFAdd | Op::GroupNonUniformIMul | Op::GroupNonUniformFMul
        | Op::GroupNonUniformSMin | Op::GroupNonUniformUMin | Op::GroupNonUniformFMin | Op::GroupNonUniformSMax
        | Op::GroupNonUniformUMax | Op::GroupNonUniformFMax | Op::GroupNonUniformBitwiseAnd | Op::GroupNonUniformBitwiseOr
        | Op::GroupNonUniformBitwiseXor | Op::GroupNonUniformLogicalAnd | Op::GroupNonUniformLogicalOr
        | Op::GroupNonUniformLogicalXor | Op::GroupNonUniformQuadBroadcast | Op::GroupNonUniformQuadSwap
        | Op::GroupNonUniformRotateKHR | Op::SubgroupBallotKHR | Op::SubgroupFirstInvocationKHR
        | Op::SubgroupReadInvocationKHR | Op::SubgroupAllKHR | Op::SubgroupAnyKHR | Op::SubgroupAllEqualKHR
            => Group::Subgroup,
        Op::ImageTexelPointer | Op::SampledImage | Op::ImageSampleExplicitLod | Op::ImageSampleDrefExplicitLod
        | Op::ImageSampleProjExplicitLod | Op::ImageSampleProjDrefExplicitLod | Op::ImageFetch | Op::ImageGather
        | Op::ImageDrefGather | Op::ImageGatherQCOM | Op::ImageRead | Op::ImageWrite | Op::Image | Op::ImageQuerySizeLod | Op::ImageQuerySize
        | Op::ImageQueryLevels | Op::ImageQuerySamples | Op::ConvertHandleToImageINTEL | Op::ConvertHandleToSamplerINTEL
        | Op::ConvertHandleToSampledImageINTEL => Group::Image,
        Op::TypeOpaque | Op::TypeEvent | Op::TypeDeviceEvent | Op::TypeReserveId | Op::TypeQueue | Op::TypePipe
        | Op::ConstantSampler | Op::CopyMemorySized | Op::GenericPtrMemSemantics | Op::ImageSampleImplicitLod
        | Op::ImageSampleDrefImplicitLod | Op::ImageSampleProjImplicitLod | Op::ImageSampleProjDrefImplicitLod
        | Op::ImageQueryFormat | Op::ImageQueryOrder | Op::ImageQueryLod | Op::SatConvertSToU | Op::SatConvertUToS
        | Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::GenericCastToPtrExplicit | Op::IsFinite | Op::IsNormal
        | Op::SignBitSet | Op::LessOrGreater | Op::Ordered | Op::Unordered | Op::DPdx | Op::DPdy | Op::Fwidth
        | Op::DPdxFine | Op::DPdyFine | Op::FwidthFine | Op::DPdxCoarse | Op::DPdyCoarse | Op::FwidthCoarse
        | Op::EmitVertex | Op::EndPrimitive | Op::EmitStreamVertex | Op::EndStreamPrimitive | Op::Kill | Op::LifetimeStart
        | Op::LifetimeStop | Op::GroupAsyncCopy | Op::GroupWaitEvents | Op::GroupAll | Op::GroupAny | Op::GroupBroadcast
        | Op::GroupIAdd | Op::GroupFAdd | Op::GroupFMin | Op::GroupUMin | Op::GroupSMin | Op::GroupFMax | Op::GroupUMax
        | Op::GroupSMax | Op::ReadPipe | Op::WritePipe | Op::ReservedReadPipe | Op::ReservedWritePipe
        | Op::ReserveReadPipePackets | Op::ReserveWritePipePackets | Op::CommitReadPipe | Op::CommitWritePipe
        | Op::IsValidReserveId | Op::GetNumPipePackets | Op::GetMaxPipePackets | Op::GroupReserveReadPipePackets
        | Op::GroupReserveWritePipePackets | Op::GroupCommitReadPipe | Op::GroupCommitWritePipe | Op::EnqueueMarker
        | Op::EnqueueKernel | Op::GetKernelNDrangeSubGroupCount | Op::GetKernelNDrangeMaxSubGroupSize
        | Op::GetKernelWorkGroupSize | Op::GetKernelPreferredWorkGroupSizeMultiple | Op::RetainEvent | Op::ReleaseEvent
        | Op::CreateUserEvent | Op::IsValidEvent | Op::SetUserEventStatus | Op::CaptureEventProfilingInfo
        | Op::GetDefaultQueue | Op::BuildNDRange | Op::ImageSparseSampleImplicitLod | Op::ImageSparseSampleExplicitLod
        | Op::ImageSparseSampleDrefImplicitLod | Op::ImageSparseSampleDrefExplicitLod
        | Op::ImageSparseSampleProjImplicitLod | Op::ImageSparseSampleProjExplicitLod
        | Op::ImageSparseSampleProjDrefImplicitLod | Op::ImageSparseSampleProjDrefExplicitLod | Op::ImageSparseFetch
        | Op::ImageSparseGather | Op::ImageSparseDrefGather | Op::ImageSparseTexelsResident | Op::AtomicFlagTestAndSet
        | Op::AtomicFlagClear | Op::ImageSparseRead | Op::SizeOf | Op::TypePipeStorage | Op::ConstantPipeStorage
        | Op::CreatePipeFromPipeStorage | Op::GetKernelLocalSizeForSubgroupCount | Op::GetKernelMaxNumSubgroups
        | Op::TypeNamedBarrier | Op::NamedBarrierInitialize | Op::MemoryNamedBarrier | Op::ColorAttachmentReadEXT
        | Op::DepthAttachmentReadEXT | Op::StencilAttachmentReadEXT | Op::TypeTensorARM | Op::TensorReadARM
        | Op::TensorWriteARM | Op::TensorQuerySizeARM | Op::GraphConstantARM | Op::GraphEntryPointARM | Op::GraphARM
        | Op::GraphInputARM | Op::GraphSetOutputARM | Op::GraphEndARM | Op::TypeGraphARM | Op::BitcastExtractEXT
        | Op::TerminateInvocation | Op::TypeUntypedPointerKHR | Op::UntypedVariableKHR | Op::UntypedAccessChainKHR
        | Op::UntypedInBoundsAccessChainKHR
        | Op::UntypedPtrAccessChainKHR | Op::UntypedInBoundsPtrAccessChainKHR | Op::UntypedArrayLengthKHR
        | Op::UntypedPrefetchKHR
        | Op::ExtInstWithForwardRefsKHR | Op::UntypedGroupAsyncCopyKHR | Op::TraceRayKHR
        | Op::ExecuteCallableKHR | Op::ConvertUToAccelerationStructureKHR | Op::IgnoreIntersectionKHR
        | Op::TerminateRayKHR | Op::TypeCooperativeMatrixKHR | Op::CooperativeMatrixLoadKHR
        | Op::CooperativeMatrixStoreKHR | Op::CooperativeMatrixMulAddKHR | Op::CooperativeMatrixLengthKHR
        | Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT | Op::CompositeConstructReplicateEXT
        | Op::TypeRayQueryKHR | Op::RayQueryInitializeKHR | Op::RayQueryTerminateKHR | Op::RayQueryGenerateIntersectionKHR
        | Op::RayQueryConfirmIntersectionKHR | Op::RayQueryProceedKHR | Op::RayQueryGetIntersectionTypeKHR
        | Op::ImageSampleWeightedQCOM | Op::ImageBoxFilterQCOM | Op::ImageBlockMatchSSDQCOM | Op::ImageBlockMatchSADQCOM
        | Op::BitCastArrayQCOM | Op::ImageBlockMatchWindowSSDQCOM | Op::ImageBlockMatchWindowSADQCOM
        | Op::ImageBlockMatchGatherSSDQCOM | Op::ImageBlockMatchGatherSADQCOM | Op::CompositeConstructCoopMatQCOM
        | Op::CompositeExtractCoopMatQCOM | Op::ExtractSubArrayQCOM | Op::GroupIAddNonUniformAMD
        | Op::GroupFAddNonUniformAMD | Op::GroupFMinNonUniformAMD | Op::GroupUMinNonUniformAMD
        | Op::GroupSMinNonUniformAMD | Op::GroupFMaxNonUniformAMD | Op::GroupUMaxNonUniformAMD
        | Op::GroupSMaxNonUniformAMD | Op::FragmentMaskFetchAMD | Op::FragmentFetchAMD | Op::ReadClockKHR
        | Op::AllocateNodePayloadsAMDX | Op::EnqueueNodePayloadsAMDX | Op::TypeNodePayloadArrayAMDX
        | Op::FinishWritingNodePayloadAMDX | Op::NodePayloadArrayLengthAMDX | Op::IsNodePayloadValidAMDX
        | Op::ConstantStringAMDX | Op::SpecConstantStringAMDX | Op::GroupNonUniformQuadAllKHR
        | Op::GroupNonUniformQuadAnyKHR | Op::TypeBufferEXT | Op::BufferPointerEXT | Op::AbortKHR
        | Op::UntypedImageTexelPointerEXT | Op::MemberDecorateIdEXT | Op::ConstantSizeOfEXT | Op::ConstantDataKHR
        | Op::SpecConstantDataKHR | Op::PoisonKHR | Op::FreezeKHR | Op::HitObjectRecordHitMotionNV
        | Op::HitObjectRecordHitWithIndexMotionNV | Op::HitObjectRecordMissMotionNV | Op::HitObjectGetWorldToObjectNV
        | Op::HitObjectGetObjectToWorldNV | Op::HitObjectGetObjectRayDirectionNV | Op::HitObjectGetObjectRayOriginNV
        | Op::HitObjectTraceRayMotionNV | Op::HitObjectGetShaderRecordBufferHandleNV
        | Op::HitObjectGetShaderBindingTableRecordIndexNV | Op::HitObjectRecordEmptyNV | Op::HitObjectTraceRayNV
        | Op::HitObjectRecordHitNV | Op::HitObjectRecordHitWithIndexNV | Op::HitObjectRecordMissNV
        | Op::HitObjectExecuteShaderNV | Op::HitObjectGetCurrentTimeNV | Op::HitObjectGetAttributesNV
        | Op::HitObjectGetHitKindNV | Op::HitObjectGetPrimitiveIndexNV | Op::HitObjectGetGeometryIndexNV
        | Op::HitObjectGetInstanceIdNV | Op::HitObjectGetInstanceCustomIndexNV | Op::HitObjectGetWorldRayDirectionNV
        | Op::HitObjectGetWorldRayOriginNV | Op::HitObjectGetRayTMaxNV | Op::HitObjectGetRayTMinNV
        | Op::HitObjectIsEmptyNV | Op::HitObjectIsHitNV | Op::HitObjectIsMissNV | Op::ReorderThreadWithHitObjectNV
        | Op::ReorderThreadWithHintNV | Op::TypeHitObjectNV | Op::ImageSampleFootprintNV | Op::TypeVectorIdEXT
        | Op::CooperativeVectorMatrixMulNV | Op::CooperativeVectorOuterProductAccumulateNV
        | Op::CooperativeVectorReduceSumAccumulateNV | Op::CooperativeVectorMatrixMulAddNV
        | Op::CooperativeMatrixConvertUseEXT | Op::EmitMeshTasksEXT | Op::SetMeshOutputsEXT
        | Op::GroupNonUniformPartitionEXT | Op::WritePackedPrimitiveIndices4x8NV | Op::FetchMicroTriangleVertexPositionNV
        | Op::FetchMicroTriangleVertexBarycentricNV | Op::CooperativeVectorLoadNV | Op::CooperativeVectorStoreNV
        | Op::HitObjectRecordFromQueryEXT | Op::HitObjectRecordMissEXT | Op::HitObjectRecordMissMotionEXT
        | Op::HitObjectGetIntersectionTriangleVertexPositionsEXT | Op::HitObjectGetRayFlagsEXT
        | Op::HitObjectSetShaderBindingTableRecordIndexEXT | Op::HitObjectReorderExecuteShaderEXT
        | Op::HitObjectTraceReorderExecuteEXT | Op::HitObjectTraceMotionReorderExecuteEXT | Op::TypeHitObjectEXT
        | Op::ReorderThreadWithHintEXT | Op::ReorderThreadWithHitObjectEXT | Op::HitObjectTraceRayEXT
        | Op::HitObjectTraceRayMotionEXT | Op::HitObjectRecordEmptyEXT | Op::HitObjectExecuteShaderEXT
        | Op::HitObjectGetCurrentTimeEXT | Op::HitObjectGetAttributesEXT | Op::HitObjectGetHitKindEXT
        | Op::HitObjectGetPrimitiveIndexEXT | Op::HitObjectGetGeometryIndexEXT | Op::HitObjectGetInstanceIdEXT
        | Op::HitObjectGetInstanceCustomIndexEXT | Op::HitObjectGetObjectRayOriginEXT
        | Op::HitObjectGetObjectRayDirectionEXT | Op::HitObjectGetWorldRayDirectionEXT | Op::HitObjectGetWorldRayOriginEXT
        | Op::HitObjectGetObjectToWorldEXT | Op::HitObjectGetWorldToObjectEXT | Op::HitObjectGetRayTMaxEXT
        | Op::ReportIntersectionKHR | Op::IgnoreIntersectionNV | Op::TerminateRayNV | Op::TraceNV | Op::TraceMotionNV
        | Op::TraceRayMotionNV | Op::RayQueryGetIntersectionTriangleVertexPositionsKHR | Op::TypeAccelerationStructureKHR
        | Op::ExecuteCallableNV | Op::RayQueryGetIntersectionClusterIdNV | Op::HitObjectGetClusterIdNV
        | Op::HitObjectGetRayTMinEXT | Op::HitObjectGetShaderBindingTableRecordIndexEXT
        | Op::HitObjectGetShaderRecordBufferHandleEXT | Op::HitObjectIsEmptyEXT | Op::HitObjectIsHitEXT
        | Op::HitObjectIsMissEXT | Op::TypeCooperativeMatrixNV | Op::CooperativeMatrixLoadNV
        | Op::CooperativeMatrixStoreNV | Op::CooperativeMatrixMulAddNV | Op::CooperativeMatrixLengthNV
        | Op::CooperativeMatrixGetCoordinateEXT | Op::BeginInvocationInterlockEXT | Op::EndInvocationInterlockEXT
        | Op::CooperativeMatrixReduceEXT | Op::CooperativeMatrixLoadTensorNV | Op::CooperativeMatrixStoreTensorNV
        | Op::CooperativeMatrixPerElementOpEXT | Op::TypeTensorLayoutNV | Op::TypeTensorViewNV | Op::CreateTensorLayoutNV
        | Op::TensorLayoutSetDimensionNV | Op::TensorLayoutSetStrideNV | Op::TensorLayoutSliceNV
        | Op::TensorLayoutSetClampValueNV | Op::CreateTensorViewNV | Op::TensorViewSetDimensionNV
        | Op::TensorViewSetStrideNV | Op::DemoteToHelperInvocation | Op::IsHelperInvocationEXT | Op::TensorViewSetClipNV
        | Op::TensorLayoutSetBlockSizeNV | Op::CooperativeMatrixTransposeNV | Op::ConvertUToImageNV
        | Op::ConvertUToSamplerNV | Op::ConvertImageToUNV | Op::ConvertSamplerToUNV | Op::ConvertUToSampledImageNV
        | Op::ConvertSampledImageToUNV | Op::SamplerImageAddressingModeNV | Op::RawAccessChainNV
        | Op::RayQueryGetIntersectionSpherePositionNV | Op::RayQueryGetIntersectionSphereRadiusNV
        | Op::RayQueryGetIntersectionLSSPositionsNV | Op::RayQueryGetIntersectionLSSRadiiNV
        | Op::RayQueryGetIntersectionLSSHitValueNV | Op::HitObjectGetSpherePositionNV | Op::HitObjectGetSphereRadiusNV
        | Op::HitObjectGetLSSPositionsNV | Op::HitObjectGetLSSRadiiNV | Op::HitObjectIsSphereHitNV
        | Op::HitObjectIsLSSHitNV | Op::RayQueryIsSphereHitNV | Op::RayQueryIsLSSHitNV | Op::SubgroupShuffleINTEL
        | Op::SubgroupShuffleDownINTEL | Op::SubgroupShuffleUpINTEL | Op::SubgroupShuffleXorINTEL
        | Op::SubgroupBlockReadINTEL | Op::SubgroupBlockWriteINTEL | Op::SubgroupImageBlockReadINTEL
        | Op::SubgroupImageBlockWriteINTEL | Op::SubgroupImageMediaBlockReadINTEL | Op::SubgroupImageMediaBlockWriteINTEL
        | Op::UCountLeadingZerosINTEL | Op::UCountTrailingZerosINTEL | Op::AbsISubINTEL | Op::AbsUSubINTEL
        | Op::IAddSatINTEL | Op::UAddSatINTEL | Op::IAverageINTEL | Op::UAverageINTEL | Op::IAverageRoundedINTEL
        | Op::UAverageRoundedINTEL | Op::ISubSatINTEL | Op::USubSatINTEL | Op::IMul32x16INTEL | Op::UMul32x16INTEL
        | Op::ConstantFunctionPointerINTEL | Op::FunctionPointerCallINTEL | Op::AsmTargetINTEL | Op::AsmINTEL
        | Op::AsmCallINTEL | Op::VmeImageINTEL | Op::TypeVmeImageINTEL | Op::TypeAvcImePayloadINTEL
        | Op::TypeAvcRefPayloadINTEL | Op::TypeAvcSicPayloadINTEL | Op::TypeAvcMcePayloadINTEL | Op::TypeAvcMceResultINTEL
        | Op::TypeAvcImeResultINTEL | Op::TypeAvcImeResultSingleReferenceStreamoutINTEL
        | Op::TypeAvcImeResultDualReferenceStreamoutINTEL | Op::TypeAvcImeSingleReferenceStreaminINTEL
        | Op::TypeAvcImeDualReferenceStreaminINTEL | Op::TypeAvcRefResultINTEL | Op::TypeAvcSicResultINTEL
        | Op::SubgroupAvcMceGetDefaultInterBaseMultiReferencePenaltyINTEL
        | Op::SubgroupAvcMceSetInterBaseMultiReferencePenaltyINTEL | Op::SubgroupAvcMceGetDefaultInterShapePenaltyINTEL
        | Op::SubgroupAvcMceSetInterShapePenaltyINTEL | Op::SubgroupAvcMceGetDefaultInterDirectionPenaltyINTEL
        | Op::SubgroupAvcMceSetInterDirectionPenaltyINTEL | Op::SubgroupAvcMceGetDefaultIntraLumaShapePenaltyINTEL
        | Op::SubgroupAvcMceGetDefaultInterMotionVectorCostTableINTEL
        | Op::SubgroupAvcMceGetDefaultHighPenaltyCostTableINTEL | Op::SubgroupAvcMceGetDefaultMediumPenaltyCostTableINTEL
        | Op::SubgroupAvcMceGetDefaultLowPenaltyCostTableINTEL | Op::SubgroupAvcMceSetMotionVectorCostFunctionINTEL
        | Op::SubgroupAvcMceGetDefaultIntraLumaModePenaltyINTEL | Op::SubgroupAvcMceGetDefaultNonDcLumaIntraPenaltyINTEL
        | Op::SubgroupAvcMceGetDefaultIntraChromaModeBasePenaltyINTEL | Op::SubgroupAvcMceSetAcOnlyHaarINTEL
        | Op::SubgroupAvcMceSetSourceInterlacedFieldPolarityINTEL
        | Op::SubgroupAvcMceSetSingleReferenceInterlacedFieldPolarityINTEL
        | Op::SubgroupAvcMceSetDualReferenceInterlacedFieldPolaritiesINTEL | Op::SubgroupAvcMceConvertToImePayloadINTEL
        | Op::SubgroupAvcMceConvertToImeResultINTEL | Op::SubgroupAvcMceConvertToRefPayloadINTEL
        | Op::SubgroupAvcMceConvertToRefResultINTEL | Op::SubgroupAvcMceConvertToSicPayloadINTEL
        | Op::SubgroupAvcMceConvertToSicResultINTEL | Op::SubgroupAvcMceGetMotionVectorsINTEL
        | Op::SubgroupAvcMceGetInterDistortionsINTEL | Op::SubgroupAvcMceGetBestInterDistortionsINTEL
        | Op::SubgroupAvcMceGetInterMajorShapeINTEL | Op::SubgroupAvcMceGetInterMinorShapeINTEL
        | Op::SubgroupAvcMceGetInterDirectionsINTEL | Op::SubgroupAvcMceGetInterMotionVectorCountINTEL
        | Op::SubgroupAvcMceGetInterReferenceIdsINTEL | Op::SubgroupAvcMceGetInterReferenceInterlacedFieldPolaritiesINTEL
        | Op::SubgroupAvcImeInitializeINTEL | Op::SubgroupAvcImeSetSingleReferenceINTEL
        | Op::SubgroupAvcImeSetDualReferenceINTEL | Op::SubgroupAvcImeRefWindowSizeINTEL
        | Op::SubgroupAvcImeAdjustRefOffsetINTEL | Op::SubgroupAvcImeConvertToMcePayloadINTEL
        | Op::SubgroupAvcImeSetMaxMotionVectorCountINTEL | Op::SubgroupAvcImeSetUnidirectionalMixDisableINTEL
        | Op::SubgroupAvcImeSetEarlySearchTerminationThresholdINTEL | Op::SubgroupAvcImeSetWeightedSadINTEL
        | Op::SubgroupAvcImeEvaluateWithSingleReferenceINTEL | Op::SubgroupAvcImeEvaluateWithDualReferenceINTEL
        | Op::SubgroupAvcImeEvaluateWithSingleReferenceStreaminINTEL
        | Op::SubgroupAvcImeEvaluateWithDualReferenceStreaminINTEL
        | Op::SubgroupAvcImeEvaluateWithSingleReferenceStreamoutINTEL
        | Op::SubgroupAvcImeEvaluateWithDualReferenceStreamoutINTEL
        | Op::SubgroupAvcImeEvaluateWithSingleReferenceStreaminoutINTEL
        | Op::SubgroupAvcImeEvaluateWithDualReferenceStreaminoutINTEL | Op::SubgroupAvcImeConvertToMceResultINTEL
        | Op::SubgroupAvcImeGetSingleReferenceStreaminINTEL | Op::SubgroupAvcImeGetDualReferenceStreaminINTEL
        | Op::SubgroupAvcImeStripSingleReferenceStreamoutINTEL | Op::SubgroupAvcImeStripDualReferenceStreamoutINTEL
        | Op::SubgroupAvcImeGetStreamoutSingleReferenceMajorShapeMotionVectorsINTEL
        | Op::SubgroupAvcImeGetStreamoutSingleReferenceMajorShapeDistortionsINTEL
        | Op::SubgroupAvcImeGetStreamoutSingleReferenceMajorShapeReferenceIdsINTEL
        | Op::SubgroupAvcImeGetStreamoutDualReferenceMajorShapeMotionVectorsINTEL
        | Op::SubgroupAvcImeGetStreamoutDualReferenceMajorShapeDistortionsINTEL
        | Op::SubgroupAvcImeGetStreamoutDualReferenceMajorShapeReferenceIdsINTEL | Op::SubgroupAvcImeGetBorderReachedINTEL
        | Op::SubgroupAvcImeGetTruncatedSearchIndicationINTEL
        | Op::SubgroupAvcImeGetUnidirectionalEarlySearchTerminationINTEL
        | Op::SubgroupAvcImeGetWeightingPatternMinimumMotionVectorINTEL
        | Op::SubgroupAvcImeGetWeightingPatternMinimumDistortionINTEL | Op::SubgroupAvcFmeInitializeINTEL
        | Op::SubgroupAvcBmeInitializeINTEL | Op::SubgroupAvcRefConvertToMcePayloadINTEL
        | Op::SubgroupAvcRefSetBidirectionalMixDisableINTEL | Op::SubgroupAvcRefSetBilinearFilterEnableINTEL
        | Op::SubgroupAvcRefEvaluateWithSingleReferenceINTEL | Op::SubgroupAvcRefEvaluateWithDualReferenceINTEL
        | Op::SubgroupAvcRefEvaluateWithMultiReferenceINTEL | Op::SubgroupAvcRefEvaluateWithMultiReferenceInterlacedINTEL
        | Op::SubgroupAvcRefConvertToMceResultINTEL | Op::SubgroupAvcSicInitializeINTEL
        | Op::SubgroupAvcSicConfigureSkcINTEL | Op::SubgroupAvcSicConfigureIpeLumaINTEL
        | Op::SubgroupAvcSicConfigureIpeLumaChromaINTEL | Op::SubgroupAvcSicGetMotionVectorMaskINTEL
        | Op::SubgroupAvcSicConvertToMcePayloadINTEL | Op::SubgroupAvcSicSetIntraLumaShapePenaltyINTEL
        | Op::SubgroupAvcSicSetIntraLumaModeCostFunctionINTEL | Op::SubgroupAvcSicSetIntraChromaModeCostFunctionINTEL
        | Op::SubgroupAvcSicSetBilinearFilterEnableINTEL | Op::SubgroupAvcSicSetSkcForwardTransformEnableINTEL
        | Op::SubgroupAvcSicSetBlockBasedRawSkipSadINTEL | Op::SubgroupAvcSicEvaluateIpeINTEL
        | Op::SubgroupAvcSicEvaluateWithSingleReferenceINTEL | Op::SubgroupAvcSicEvaluateWithDualReferenceINTEL
        | Op::SubgroupAvcSicEvaluateWithMultiReferenceINTEL | Op::SubgroupAvcSicEvaluateWithMultiReferenceInterlacedINTEL
        | Op::SubgroupAvcSicConvertToMceResultINTEL | Op::SubgroupAvcSicGetIpeLumaShapeINTEL
        | Op::SubgroupAvcSicGetBestIpeLumaDistortionINTEL | Op::SubgroupAvcSicGetBestIpeChromaDistortionINTEL
        | Op::SubgroupAvcSicGetPackedIpeLumaModesINTEL | Op::SubgroupAvcSicGetIpeChromaModeINTEL
        | Op::SubgroupAvcSicGetPackedSkcLumaCountThresholdINTEL | Op::SubgroupAvcSicGetPackedSkcLumaSumThresholdINTEL
        | Op::SubgroupAvcSicGetInterRawSadsINTEL | Op::VariableLengthArrayINTEL | Op::SaveMemoryINTEL
        | Op::RestoreMemoryINTEL | Op::ArbitraryFloatSinCosPiALTERA | Op::ArbitraryFloatCastALTERA
        | Op::ArbitraryFloatCastFromIntALTERA | Op::ArbitraryFloatCastToIntALTERA | Op::ArbitraryFloatAddALTERA
        | Op::ArbitraryFloatSubALTERA | Op::ArbitraryFloatMulALTERA | Op::ArbitraryFloatDivALTERA
        | Op::ArbitraryFloatGTALTERA | Op::ArbitraryFloatGEALTERA | Op::ArbitraryFloatLTALTERA
        | Op::ArbitraryFloatLEALTERA | Op::ArbitraryFloatEQALTERA | Op::ArbitraryFloatRecipALTERA
        | Op::ArbitraryFloatRSqrtALTERA | Op::ArbitraryFloatCbrtALTERA | Op::ArbitraryFloatHypotALTERA
        | Op::ArbitraryFloatSqrtALTERA | Op::ArbitraryFloatLogINTEL | Op::ArbitraryFloatLog2INTEL
        | Op::ArbitraryFloatLog10INTEL | Op::ArbitraryFloatLog1pINTEL | Op::ArbitraryFloatExpINTEL
        | Op::ArbitraryFloatExp2INTEL | Op::ArbitraryFloatExp10INTEL | Op::ArbitraryFloatExpm1INTEL
        | Op::ArbitraryFloatSinINTEL | Op::ArbitraryFloatCosINTEL | Op::ArbitraryFloatSinCosINTEL
        | Op::ArbitraryFloatSinPiINTEL | Op::ArbitraryFloatCosPiINTEL | Op::ArbitraryFloatASinINTEL
        | Op::ArbitraryFloatASinPiINTEL | Op::ArbitraryFloatACosINTEL | Op::ArbitraryFloatACosPiINTEL
        | Op::ArbitraryFloatATanINTEL | Op::ArbitraryFloatATanPiINTEL | Op::ArbitraryFloatATan2INTEL
        | Op::ArbitraryFloatPowINTEL | Op::ArbitraryFloatPowRINTEL | Op::ArbitraryFloatPowNINTEL | Op::LoopControlINTEL
        | Op::AliasDomainDeclINTEL | Op::AliasScopeDeclINTEL | Op::AliasScopeListDeclINTEL | Op::FixedSqrtALTERA
        | Op::FixedRecipALTERA | Op::FixedRsqrtALTERA | Op::FixedSinALTERA | Op::FixedCosALTERA | Op::FixedSinCosALTERA
        | Op::FixedSinPiALTERA | Op::FixedCosPiALTERA | Op::FixedSinCosPiALTERA | Op::FixedLogALTERA | Op::FixedExpALTERA
        | Op::PtrCastToCrossWorkgroupALTERA | Op::CrossWorkgroupCastToPtrALTERA | Op::ReadPipeBlockingALTERA
        | Op::WritePipeBlockingALTERA | Op::FPGARegALTERA | Op::RayQueryGetRayTMinKHR | Op::RayQueryGetRayFlagsKHR
        | Op::RayQueryGetIntersectionTKHR | Op::RayQueryGetIntersectionInstanceCustomIndexKHR
        | Op::RayQueryGetIntersectionInstanceIdKHR | Op::RayQueryGetIntersectionInstanceShaderBindingTableRecordOffsetKHR
        | Op::RayQueryGetIntersectionGeometryIndexKHR | Op::RayQueryGetIntersectionPrimitiveIndexKHR
        | Op::RayQueryGetIntersectionBarycentricsKHR | Op::RayQueryGetIntersectionFrontFaceKHR
        | Op::RayQueryGetIntersectionCandidateAABBOpaqueKHR | Op::RayQueryGetIntersectionObjectRayDirectionKHR
        | Op::RayQueryGetIntersectionObjectRayOriginKHR | Op::RayQueryGetWorldRayDirectionKHR
        | Op::RayQueryGetWorldRayOriginKHR | Op::RayQueryGetIntersectionObjectToWorldKHR
        | Op::RayQueryGetIntersectionWorldToObjectKHR | Op::TypeBufferSurfaceINTEL | Op::TypeStructContinuedINTEL
        | Op::ConstantCompositeContinuedINTEL | Op::SpecConstantCompositeContinuedINTEL
        | Op::CompositeConstructContinuedINTEL | Op::ConvertFToBF16INTEL | Op::ConvertBF16ToFINTEL
        | Op::ControlBarrierArriveEXT | Op::ControlBarrierWaitEXT | Op::ArithmeticFenceEXT | Op::TaskSequenceCreateALTERA
        | Op::TaskSequenceAsyncALTERA | Op::TaskSequenceGetALTERA | Op::TaskSequenceReleaseALTERA
        | Op::TypeTaskSequenceALTERA | Op::SubgroupBlockPrefetchINTEL | Op::Subgroup2DBlockLoadINTEL
        | Op::Subgroup2DBlockLoadTransformINTEL | Op::Subgroup2DBlockLoadTransposeINTEL | Op::Subgroup2DBlockPrefetchINTEL
        | Op::Subgroup2DBlockStoreINTEL | Op::SubgroupMatrixMultiplyAccumulateINTEL | Op::BitwiseFunctionINTEL
        | Op::UntypedVariableLengthArrayINTEL | Op::ConditionalExtensionINTEL | Op::ConditionalEntryPointINTEL
        | Op::ConditionalCapabilityINTEL | Op::SpecConstantTargetINTEL | Op::SpecConstantArchitectureINTEL
        | Op::SpecConstantCapabilitiesINTEL | Op::ConditionalCopyObjectINTEL | Op::PredicatedLoadINTEL
        | Op::PredicatedStoreINTEL | Op::GroupIMulKHR | Op::GroupFMulKHR | Op::GroupBitwiseAndKHR | Op::GroupBitwiseOrKHR
        | Op::GroupBitwiseXorKHR | Op::GroupLogicalAndKHR | Op::GroupLogicalOrKHR | Op::GroupLogicalXorKHR
        | Op::RoundFToTF32INTEL | Op::MaskedGatherINTEL | Op::MaskedScatterINTEL | Op::FDot2MixAcc32VALVE
        | Op::FDot2MixAcc16VALVE | Op::FDot4MixAcc32VALVE => Group::Unsupported,
    }
}
