//! Storage classes: availability in Vulkan and execution models.

use super::analysis::facts::Facts;
use super::{Check, Rule, Severity};
use assay_spirv::module::Instruction;
use assay_spirv::tables::{ExecutionModel, Op, StorageClass};

/// Returns whether Vulkan has a storage class, in its core or by an extension.
fn is_vulkan(class: StorageClass) -> bool {
    use StorageClass as S;
    match class {
        S::UniformConstant
        | S::Input
        | S::Uniform
        | S::Output
        | S::Workgroup
        | S::Private
        | S::Function
        | S::PushConstant
        | S::Image
        | S::StorageBuffer
        | S::RayPayloadKHR
        | S::IncomingRayPayloadKHR
        | S::HitAttributeKHR
        | S::CallableDataKHR
        | S::IncomingCallableDataKHR
        | S::ShaderRecordBufferKHR
        | S::PhysicalStorageBuffer
        | S::TileImageEXT => true,
        // The VUID does not list these; their extensions define them for Vulkan.
        S::TileAttachmentQCOM
        | S::TaskPayloadWorkgroupEXT
        | S::HitObjectAttributeNV
        | S::HitObjectAttributeEXT
        | S::NodePayloadAMDX => true,
        _ => false,
    }
}

/// Storage class of a variable or pointer type declaration.
fn declared_class(instruction: Instruction) -> Option<StorageClass> {
    StorageClass::from_word(instruction.operand(0)?)
}

/// Reports variables of `class` that an execution model uses which `allowed` rejects.
fn restrict_models(
    facts: &Facts,
    found: &mut super::Findings,
    class: StorageClass,
    expected: &str,
    allowed: fn(ExecutionModel) -> bool,
) {
    if !facts.has_class(class) {
        return;
    }
    for variable in facts.variables.iter().filter(|v| v.class == class) {
        if let Some(model) = facts.static_user_outside(variable.word, allowed) {
            let name = facts.name(variable.word);
            variable.report(found, format!("{name} in {class} is used in {model}, expected {expected}"));
        }
    }
}

/// Reports entry points whose interface lists several variables of `class`.
fn at_most_one(facts: &Facts, found: &mut super::Findings, class: StorageClass) {
    for entry in facts.entries.iter().filter(|_| facts.has_class(class)) {
        let of_class = |word: &&u32| facts.variable(**word).is_some_and(|variable| variable.class == class);
        let mut listed = entry.usage.interface.iter().filter(of_class);
        let first = listed.next();
        if listed.any(|other| Some(other) != first) {
            found.report(entry.instruction, format!("several {class} variables in the interface, expected at most 1"));
        }
    }
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "storage-class",
        id: "VUID-StandaloneSpirv-None-04643",
        requirement: "the storage class must be one that Vulkan supports",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypePointer, Op::TypeUntypedPointerKHR], |_, instruction, found| {
            if let Some(class) = declared_class(instruction).filter(|c| !is_vulkan(*c)) {
                found.report(instruction, format!("Vulkan does not support storage class {class}"));
            }
        }),
    },
    Rule {
        name: "output-stage",
        id: "VUID-StandaloneSpirv-None-04644",
        requirement: "Output must not be used in GLCompute and ray tracing execution models",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            use ExecutionModel::{
                AnyHitKHR, CallableKHR, ClosestHitKHR, GLCompute, IntersectionKHR, MissKHR, RayGenerationKHR,
            };
            restrict_models(facts, found, StorageClass::Output, "an execution model with outputs", |m| {
                !matches!(
                    m,
                    GLCompute | RayGenerationKHR | IntersectionKHR | AnyHitKHR | ClosestHitKHR | MissKHR | CallableKHR
                )
            });
        }),
    },
    Rule {
        name: "workgroup-stage",
        id: "VUID-StandaloneSpirv-None-04645",
        requirement: "Workgroup must be used in task, mesh and compute execution models only",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            use ExecutionModel::{GLCompute, MeshEXT, MeshNV, TaskEXT, TaskNV};
            restrict_models(facts, found, StorageClass::Workgroup, "task, mesh or compute", |m| {
                matches!(m, GLCompute | MeshEXT | MeshNV | TaskEXT | TaskNV)
            });
        }),
    },
    Rule {
        name: "tile-image-stage",
        id: "VUID-StandaloneSpirv-None-08720",
        requirement: "TileImageEXT must be used in Fragment only",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            restrict_models(facts, found, StorageClass::TileImageEXT, "Fragment", |m| m == ExecutionModel::Fragment);
        }),
    },
    Rule {
        name: "ray-payload-stage",
        id: "VUID-StandaloneSpirv-RayPayloadKHR-04698",
        requirement: "RayPayloadKHR must be used in RayGenerationKHR, ClosestHitKHR and MissKHR only",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            use ExecutionModel::{ClosestHitKHR, MissKHR, RayGenerationKHR};
            restrict_models(facts, found, StorageClass::RayPayloadKHR, "ray generation, closest hit or miss", |m| {
                matches!(m, RayGenerationKHR | ClosestHitKHR | MissKHR)
            });
        }),
    },
    Rule {
        name: "incoming-ray-payload-stage",
        id: "VUID-StandaloneSpirv-IncomingRayPayloadKHR-04699",
        requirement: "IncomingRayPayloadKHR must be used in ClosestHitKHR, AnyHitKHR and MissKHR only",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            use ExecutionModel::{AnyHitKHR, ClosestHitKHR, MissKHR};
            restrict_models(facts, found, StorageClass::IncomingRayPayloadKHR, "closest hit, any-hit or miss", |m| {
                matches!(m, ClosestHitKHR | AnyHitKHR | MissKHR)
            });
        }),
    },
    Rule {
        name: "one-incoming-ray-payload",
        id: "VUID-StandaloneSpirv-IncomingRayPayloadKHR-04700",
        requirement: "the interface of an entry point must not list more than one IncomingRayPayloadKHR variable",
        severity: Severity::Error,
        check: Check::Module(|facts, found| at_most_one(facts, found, StorageClass::IncomingRayPayloadKHR)),
    },
    Rule {
        name: "hit-attribute-stage",
        id: "VUID-StandaloneSpirv-HitAttributeKHR-04701",
        requirement: "HitAttributeKHR must be used in IntersectionKHR, AnyHitKHR and ClosestHitKHR only",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            use ExecutionModel::{AnyHitKHR, ClosestHitKHR, IntersectionKHR};
            restrict_models(facts, found, StorageClass::HitAttributeKHR, "intersection, any-hit or closest hit", |m| {
                matches!(m, IntersectionKHR | AnyHitKHR | ClosestHitKHR)
            });
        }),
    },
    Rule {
        name: "one-hit-attribute",
        id: "VUID-StandaloneSpirv-HitAttributeKHR-04702",
        requirement: "the interface of an entry point must not list more than one HitAttributeKHR variable",
        severity: Severity::Error,
        check: Check::Module(|facts, found| at_most_one(facts, found, StorageClass::HitAttributeKHR)),
    },
    Rule {
        name: "hit-attribute-store",
        id: "VUID-StandaloneSpirv-HitAttributeKHR-04703",
        requirement: "HitAttributeKHR variables must be written in IntersectionKHR only",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Store], |facts, instruction, found| {
            let attribute = facts.has_class(StorageClass::HitAttributeKHR)
                && facts.origin_class(instruction.operand(0)) == Some(StorageClass::HitAttributeKHR);
            let outside = || facts.model_outside(instruction.index, |m| m == ExecutionModel::IntersectionKHR);
            if attribute && let Some(model) = outside() {
                found.report(instruction, format!("write to HitAttributeKHR in {model}, expected IntersectionKHR"));
            }
        }),
    },
    Rule {
        name: "callable-data-stage",
        id: "VUID-StandaloneSpirv-CallableDataKHR-04704",
        requirement: "CallableDataKHR must be used in RayGenerationKHR, ClosestHitKHR, MissKHR and CallableKHR only",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            use ExecutionModel::{CallableKHR, ClosestHitKHR, MissKHR, RayGenerationKHR};
            restrict_models(
                facts,
                found,
                StorageClass::CallableDataKHR,
                "ray generation, closest hit, miss or callable",
                |m| matches!(m, RayGenerationKHR | ClosestHitKHR | MissKHR | CallableKHR),
            );
        }),
    },
    Rule {
        name: "incoming-callable-data-stage",
        id: "VUID-StandaloneSpirv-IncomingCallableDataKHR-04705",
        requirement: "IncomingCallableDataKHR must be used in CallableKHR only",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            restrict_models(facts, found, StorageClass::IncomingCallableDataKHR, "callable", |m| {
                m == ExecutionModel::CallableKHR
            });
        }),
    },
    Rule {
        name: "one-incoming-callable-data",
        id: "VUID-StandaloneSpirv-IncomingCallableDataKHR-04706",
        requirement: "the interface of an entry point must not list more than one IncomingCallableDataKHR variable",
        severity: Severity::Error,
        check: Check::Module(|facts, found| at_most_one(facts, found, StorageClass::IncomingCallableDataKHR)),
    },
    Rule {
        name: "shader-record-stage",
        id: "VUID-StandaloneSpirv-ShaderRecordBufferKHR-07119",
        requirement: "ShaderRecordBufferKHR must be used in ray tracing execution models only",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            use ExecutionModel::{AnyHitKHR, CallableKHR, ClosestHitKHR, IntersectionKHR, MissKHR, RayGenerationKHR};
            restrict_models(facts, found, StorageClass::ShaderRecordBufferKHR, "a ray tracing execution model", |m| {
                matches!(m, RayGenerationKHR | IntersectionKHR | AnyHitKHR | ClosestHitKHR | CallableKHR | MissKHR)
            });
        }),
    },
    Rule {
        name: "untyped-pointer-class",
        id: "VUID-StandaloneSpirv-OpTypeUntypedPointerKHR-11417",
        requirement: "the Storage Class of OpTypeUntypedPointerKHR must be Image, UniformConstant, Workgroup, StorageBuffer, Uniform, PushConstant or PhysicalStorageBuffer",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeUntypedPointerKHR], |_, instruction, found| {
            use StorageClass::{
                Image, PhysicalStorageBuffer, PushConstant, StorageBuffer, Uniform, UniformConstant, Workgroup,
            };
            let allowed = |class: StorageClass| {
                matches!(
                    class,
                    Image
                        | UniformConstant
                        | Workgroup
                        | StorageBuffer
                        | Uniform
                        | PushConstant
                        | PhysicalStorageBuffer
                )
            };
            // Storage classes that Vulkan does not have are checked by storage-class.
            if let Some(class) = declared_class(instruction).filter(|c| is_vulkan(*c) && !allowed(*c)) {
                found.report(instruction, format!("untyped pointer into {class}, which does not permit it"));
            }
        }),
    },
];
