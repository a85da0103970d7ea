//! Types and conversions between encodings.

use super::analysis::facts::Facts;
use super::analysis::type_contents::TypeContents;
use super::{Check, Rule, Severity};
use assay_spirv::module::{Type, TypeId};
use assay_spirv::tables::{Capability, FPEncoding, Op, StorageClass};

fn is_micro_type(facts: &Facts, word: Option<u32>) -> bool {
    let Some(ty) = word.and_then(|word| facts.module.type_of(word).or_else(|| facts.module.type_declared(word))) else {
        return false;
    };
    facts.contents(ty).any(TypeContents::MICRO)
}

fn component_type<'a>(facts: &Facts<'a>, ty: TypeId) -> &'a Type {
    match facts.module.ty(ty) {
        Type::Vector { component, .. } => facts.module.ty(*component),
        other => other,
    }
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "vector-length",
        id: "VUID-StandaloneSpirv-None-12295",
        requirement: "vectors must have two to four components, except with LongVectorEXT",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeVector], |facts, instruction, found| {
            let count = instruction.operand(1).unwrap_or(0);
            if !(2..=4).contains(&count) && !facts.has(Capability::LongVectorEXT) {
                found.report(instruction, format!("vector of {count} components, expected 2 to 4"));
            }
        }),
    },
    Rule {
        name: "long-vector-class",
        id: "VUID-StandaloneSpirv-Type-12297",
        requirement: "vectors of more than four components must only be in Function, Private, Uniform, Workgroup, StorageBuffer, PhysicalStorageBuffer, PushConstant or ShaderRecordBufferKHR",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypePointer], |facts, instruction, found| {
            use StorageClass as S;
            let Some((class, Some(pointee))) =
                instruction.result().and_then(|word| facts.module.pointer(facts.module.type_declared(word)?))
            else {
                return;
            };
            let allowed = matches!(
                class,
                S::Function
                    | S::Private
                    | S::Uniform
                    | S::Workgroup
                    | S::StorageBuffer
                    | S::PhysicalStorageBuffer
                    | S::PushConstant
                    | S::ShaderRecordBufferKHR
            );
            if !allowed && facts.contents(pointee).any(TypeContents::LONG_VECTOR) {
                found.report(
                    instruction,
                    format!("vector of more than four components in {class}, which does not permit it"),
                );
            }
        }),
    },
    Rule {
        name: "integer-width-capability",
        id: "SPIR-V specification, OpTypeInt: widths other than 32 require their capability",
        requirement: "8, 16 and 64-bit integer types require a capability for their width",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeInt], |facts, instruction, found| {
            use Capability as C;
            let any = |capabilities: &[Capability]| capabilities.iter().any(|c| facts.has(*c));
            let width = instruction.operand(0).unwrap_or(0);
            let allowed = match width {
                32 => true,
                8 => any(&[
                    C::Int8,
                    C::StorageBuffer8BitAccess,
                    C::UniformAndStorageBuffer8BitAccess,
                    C::StoragePushConstant8,
                    C::WorkgroupMemoryExplicitLayout8BitAccessKHR,
                    C::Kernel,
                    C::CooperativeVectorNV,
                ]),
                16 => any(&[
                    C::Int16,
                    C::StorageBuffer16BitAccess,
                    C::UniformAndStorageBuffer16BitAccess,
                    C::StoragePushConstant16,
                    C::StorageInputOutput16,
                    C::WorkgroupMemoryExplicitLayout16BitAccessKHR,
                    C::Kernel,
                ]),
                64 => any(&[C::Int64, C::Kernel]),
                // Other widths belong to extensions that Vulkan does not list.
                _ => any(&[C::ArbitraryPrecisionIntegersALTERA]),
            };
            if !allowed {
                found.report(instruction, format!("{width}-bit integer type without a capability for its width"));
            }
        }),
    },
    Rule {
        name: "float-width-capability",
        id: "SPIR-V specification, OpTypeFloat: widths other than 32, and encodings, require their capability",
        requirement: "16 and 64-bit float types require a capability for their width",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeFloat], |facts, instruction, found| {
            use Capability as C;
            let any = |capabilities: &[Capability]| capabilities.iter().any(|c| facts.has(*c));
            let width = instruction.operand(0).unwrap_or(0);
            // Encodings have their capabilities in the grammar.
            let allowed = instruction.operand(1).is_some()
                || match width {
                    32 => true,
                    16 => any(&[
                        C::Float16,
                        C::Float16Buffer,
                        C::StorageBuffer16BitAccess,
                        C::UniformAndStorageBuffer16BitAccess,
                        C::StoragePushConstant16,
                        C::StorageInputOutput16,
                        C::WorkgroupMemoryExplicitLayout16BitAccessKHR,
                        C::Kernel,
                    ]),
                    64 => any(&[C::Float64]),
                    _ => false,
                };
            if !allowed {
                found.report(instruction, format!("{width}-bit float type without a capability for its width"));
            }
        }),
    },
    Rule {
        name: "micro-float-to-int",
        id: "VUID-StandaloneSpirv-OpConvertFToU-12465",
        requirement: "conversions between integers and floats must not have an operand or result of a micro-scaling encoding",
        severity: Severity::Error,
        check: Check::Instructions(
            &[Op::ConvertFToU, Op::ConvertFToS, Op::ConvertSToF, Op::ConvertUToF],
            |facts, instruction, found| {
                if is_micro_type(facts, instruction.operand(0)) || is_micro_type(facts, instruction.result_type()) {
                    found.report(instruction, "conversion between an integer and a micro-scaling encoding");
                }
            },
        ),
    },
    Rule {
        name: "micro-float-result",
        id: "VUID-StandaloneSpirv-OpFConvert-12466",
        requirement: "the result of OpFConvert must not have a micro-scaling encoding",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::FConvert], |facts, instruction, found| {
            if is_micro_type(facts, instruction.result_type()) {
                found.report(instruction, "OpFConvert to a micro-scaling encoding");
            }
        }),
    },
    Rule {
        name: "bitcast-extract-result",
        id: "VUID-StandaloneSpirv-Result-12468",
        requirement: "Result Type of OpBitcastExtractEXT must be a 6-bit or 4-bit float type",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::BitcastExtractEXT], |facts, instruction, found| {
            use FPEncoding::{Float4E2M1EXT, Float6E2M3EXT, Float6E3M2EXT};
            let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
            let small = ty.is_some_and(|ty| {
                matches!(
                    facts.module.ty(ty),
                    Type::Float { encoding: Some(Float6E2M3EXT | Float6E3M2EXT | Float4E2M1EXT), .. }
                )
            });
            if !small {
                found.report(instruction, "Result Type of OpBitcastExtractEXT is not a 6-bit or 4-bit float");
            }
        }),
    },
    Rule {
        name: "bitcast-extract-base",
        id: "VUID-StandaloneSpirv-Base-12469",
        requirement: "Base of OpBitcastExtractEXT must be an integer or a vector of integers",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::BitcastExtractEXT], |facts, instruction, found| {
            let ty = instruction.operand(0).and_then(|word| facts.module.type_of(word));
            if ty.is_some_and(|ty| !matches!(component_type(facts, ty), Type::Int { .. })) {
                found.report(instruction, "Base of OpBitcastExtractEXT is not an integer or a vector of integers");
            }
        }),
    },
    Rule {
        name: "ballot-bit-count",
        id: "VUID-StandaloneSpirv-OpGroupNonUniformBallotBitCount-04685",
        requirement: "Operation of OpGroupNonUniformBallotBitCount must be Reduce, InclusiveScan or ExclusiveScan",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::GroupNonUniformBallotBitCount], |_, instruction, found| {
            if instruction.operand(1).is_some_and(|operation| operation > 2) {
                found.report(instruction, "group operation other than Reduce, InclusiveScan or ExclusiveScan");
            }
        }),
    },
    Rule {
        name: "cooperative-matrix-pointer",
        id: "VUID-StandaloneSpirv-Pointer-08973",
        requirement: "Pointer of OpCooperativeMatrixLoadKHR and OpCooperativeMatrixStoreKHR must point into Workgroup, StorageBuffer or PhysicalStorageBuffer",
        severity: Severity::Error,
        check: Check::Instructions(
            &[Op::CooperativeMatrixLoadKHR, Op::CooperativeMatrixStoreKHR],
            |facts, instruction, found| {
                use StorageClass::{PhysicalStorageBuffer, StorageBuffer, Workgroup};
                let Some((class, _)) = facts.pointer(instruction.operand(0)) else { return };
                if !matches!(class, Workgroup | StorageBuffer | PhysicalStorageBuffer) {
                    found.report(
                        instruction,
                        format!(
                            "cooperative matrix in {class}, expected Workgroup, StorageBuffer or PhysicalStorageBuffer"
                        ),
                    );
                }
            },
        ),
    },
    Rule {
        name: "array-length-width",
        id: "VUID-RuntimeSpirv-OpArrayLength-11807",
        requirement: "Result Type of OpArrayLength must be a 32-bit integer, or 64-bit with Shader64BitIndexingEXT",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ArrayLength, Op::UntypedArrayLengthKHR], |facts, instruction, found| {
            let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
            let Some(width) = ty.and_then(|ty| facts.width(ty)) else { return };
            // A pipeline flag also enables 64-bit indexing, but this project does not set it.
            let indexes = || {
                let mut entries = facts.entries_at(instruction.index);
                entries.all(|e| e.mode(assay_spirv::tables::ExecutionMode::Shader64BitIndexingEXT).is_some())
            };
            if width == 64 && !indexes() {
                found.report(instruction, "64-bit OpArrayLength without Shader64BitIndexingEXT");
            } else if !matches!(width, 32 | 64) {
                found.report(instruction, format!("{width}-bit OpArrayLength, expected 32 bits"));
            }
        }),
    },
];
