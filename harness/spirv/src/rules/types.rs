//! Types and conversions between their encodings.

use super::contents::Contents;
use super::facts::Facts;
use super::{On, Rule, Severity};
use crate::module::{Type, TypeId};
use crate::tables::{Capability, FPEncoding, Op, StorageClass};

fn is_micro_type(facts: &Facts, word: Option<u32>) -> bool {
    let Some(ty) = word.and_then(|word| facts.module.type_of(word).or_else(|| facts.module.type_declared(word))) else {
        return false;
    };
    facts.contents(ty).any(Contents::MICRO)
}

fn scalar<'a>(facts: &Facts<'a>, ty: TypeId) -> &'a Type {
    match facts.module.ty(ty) {
        Type::Vector { component, .. } => facts.module.ty(*component),
        other => other,
    }
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "vector-length",
        id: "VUID-StandaloneSpirv-None-12295",
        says: "vectors have two to four components",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeVector], |facts, instruction, found| {
            let count = instruction.operand(1).unwrap_or(0);
            if !(2..=4).contains(&count) && !facts.has(Capability::LongVectorEXT) {
                found.at(instruction, format!("a vector of {count} components, expected 2 to 4"));
            }
        }),
    },
    Rule {
        name: "long-vector-class",
        id: "VUID-StandaloneSpirv-Type-12297",
        says: "vectors of more than four components only in memory that has them",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypePointer], |facts, instruction, found| {
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
            if !allowed && facts.contents(pointee).any(Contents::LONG_VECTOR) {
                found.at(instruction, format!("a vector of more than four components in {class}"));
            }
        }),
    },
    Rule {
        name: "integer-width-capability",
        id: "SPIR-V specification, OpTypeInt: widths other than 32 need their capability",
        says: "8, 16 and 64-bit integers are declared by a capability",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeInt], |facts, instruction, found| {
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
                // Other widths are of extensions that are no concern of Vulkan.
                _ => any(&[C::ArbitraryPrecisionIntegersALTERA]),
            };
            if !allowed {
                found.at(instruction, format!("a {width}-bit integer without a capability that declares it"));
            }
        }),
    },
    Rule {
        name: "float-width-capability",
        id: "SPIR-V specification, OpTypeFloat: widths other than 32, and encodings, need their capability",
        says: "16 and 64-bit floats are declared by a capability",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeFloat], |facts, instruction, found| {
            use Capability as C;
            let any = |capabilities: &[Capability]| capabilities.iter().any(|c| facts.has(*c));
            let width = instruction.operand(0).unwrap_or(0);
            // Encodings have capabilities in the grammar.
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
                found.at(instruction, format!("a {width}-bit float without a capability that declares it"));
            }
        }),
    },
    Rule {
        name: "micro-float-to-int",
        id: "VUID-StandaloneSpirv-OpConvertFToU-12465",
        says: "conversions between integers and floats do not touch the micro encodings",
        severity: Severity::Error,
        on: On::Instructions(
            &[Op::ConvertFToU, Op::ConvertFToS, Op::ConvertSToF, Op::ConvertUToF],
            |facts, instruction, found| {
                if is_micro_type(facts, instruction.operand(0)) || is_micro_type(facts, instruction.result_type()) {
                    found.at(instruction, "a conversion between an integer and a micro-scaling encoding");
                }
            },
        ),
    },
    Rule {
        name: "micro-float-result",
        id: "VUID-StandaloneSpirv-OpFConvert-12466",
        says: "OpFConvert does not make micro encodings",
        severity: Severity::Error,
        on: On::Instructions(&[Op::FConvert], |facts, instruction, found| {
            if is_micro_type(facts, instruction.result_type()) {
                found.at(instruction, "OpFConvert to a micro-scaling encoding");
            }
        }),
    },
    Rule {
        name: "bitcast-extract-result",
        id: "VUID-StandaloneSpirv-Result-12468",
        says: "OpBitcastExtractEXT makes a 6 or 4-bit float",
        severity: Severity::Error,
        on: On::Instructions(&[Op::BitcastExtractEXT], |facts, instruction, found| {
            use FPEncoding::{Float4E2M1EXT, Float6E2M3EXT, Float6E3M2EXT};
            let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
            let small = ty.is_some_and(|ty| {
                matches!(
                    facts.module.ty(ty),
                    Type::Float { encoding: Some(Float6E2M3EXT | Float6E3M2EXT | Float4E2M1EXT), .. }
                )
            });
            if !small {
                found.at(instruction, "OpBitcastExtractEXT to a type other than a 6 or 4-bit float");
            }
        }),
    },
    Rule {
        name: "bitcast-extract-base",
        id: "VUID-StandaloneSpirv-Base-12469",
        says: "OpBitcastExtractEXT reads integers",
        severity: Severity::Error,
        on: On::Instructions(&[Op::BitcastExtractEXT], |facts, instruction, found| {
            let ty = instruction.operand(0).and_then(|word| facts.module.type_of(word));
            if ty.is_some_and(|ty| !matches!(scalar(facts, ty), Type::Int { .. })) {
                found.at(instruction, "OpBitcastExtractEXT of something other than integers");
            }
        }),
    },
    Rule {
        name: "ballot-bit-count",
        id: "VUID-StandaloneSpirv-OpGroupNonUniformBallotBitCount-04685",
        says: "OpGroupNonUniformBallotBitCount reduces or scans",
        severity: Severity::Error,
        on: On::Instructions(&[Op::GroupNonUniformBallotBitCount], |_, instruction, found| {
            if instruction.operand(1).is_some_and(|operation| operation > 2) {
                found.at(instruction, "a group operation other than Reduce, InclusiveScan or ExclusiveScan");
            }
        }),
    },
    Rule {
        name: "cooperative-matrix-pointer",
        id: "VUID-StandaloneSpirv-Pointer-08973",
        says: "cooperative matrices are loaded from and stored to Workgroup, StorageBuffer or PhysicalStorageBuffer",
        severity: Severity::Error,
        on: On::Instructions(
            &[Op::CooperativeMatrixLoadKHR, Op::CooperativeMatrixStoreKHR],
            |facts, instruction, found| {
                use StorageClass::{PhysicalStorageBuffer, StorageBuffer, Workgroup};
                let Some((class, _)) = facts.pointer(instruction.operand(0)) else { return };
                if !matches!(class, Workgroup | StorageBuffer | PhysicalStorageBuffer) {
                    found.at(instruction, format!("a cooperative matrix in {class}"));
                }
            },
        ),
    },
    Rule {
        name: "array-length-width",
        id: "VUID-RuntimeSpirv-OpArrayLength-11807",
        says: "OpArrayLength makes a 32-bit integer unless the entry point indexes with 64 bits",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ArrayLength, Op::UntypedArrayLengthKHR], |facts, instruction, found| {
            let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
            let Some(width) = ty.and_then(|ty| facts.width(ty)) else { return };
            // A pipeline's flag would do as well as the mode, which this project does not set.
            let indexes = || {
                let mut entries = facts.entries_at(instruction.index);
                entries.all(|e| e.mode(crate::tables::ExecutionMode::Shader64BitIndexingEXT).is_some())
            };
            if width == 64 && !indexes() {
                found.at(instruction, "a 64-bit OpArrayLength without Shader64BitIndexingEXT");
            } else if !matches!(width, 32 | 64) {
                found.at(instruction, format!("a {width}-bit OpArrayLength, expected 32 bits"));
            }
        }),
    },
];
