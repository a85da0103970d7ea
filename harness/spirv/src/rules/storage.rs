//! Storage classes: which there are, and which stages may use them.

use super::facts::Facts;
use super::{On, Rule, Severity};
use crate::module::Instruction;
use crate::tables::{ExecutionModel, Op, StorageClass};

/// Storage classes that Vulkan has, those of extensions in a list of their own in the specification included.
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
        // The rule's text was not brought up to date for these; their extensions define them for Vulkan.
        S::TileAttachmentQCOM
        | S::TaskPayloadWorkgroupEXT
        | S::HitObjectAttributeNV
        | S::HitObjectAttributeEXT
        | S::NodePayloadAMDX => true,
        _ => false,
    }
}

/// The storage class that a variable or a pointer type states.
fn stated(instruction: Instruction) -> Option<StorageClass> {
    StorageClass::from_word(instruction.operand(0)?)
}

/// Tells of a variable of `class` that is used in a model that `allowed` does not hold for.
fn limit(
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
            variable.breaks(found, format!("{name} in {class} is used in {model}, expected {expected}"));
        }
    }
}

/// Tells of entry points whose interface lists several variables of `class`.
fn at_most_one(facts: &Facts, found: &mut super::Findings, class: StorageClass) {
    for entry in facts.entries.iter().filter(|_| facts.has_class(class)) {
        let of_class = |word: &&u32| facts.variable(**word).is_some_and(|variable| variable.class == class);
        let mut listed = entry.usage.interface.iter().filter(of_class);
        let first = listed.next();
        if listed.any(|other| Some(other) != first) {
            found.at(entry.instruction, format!("several variables in {class} in one interface, at most 1 can be"));
        }
    }
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "storage-class",
        id: "VUID-StandaloneSpirv-None-04643",
        says: "storage classes are Vulkan's",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypePointer, Op::TypeUntypedPointerKHR], |_, instruction, found| {
            if let Some(class) = stated(instruction).filter(|c| !is_vulkan(*c)) {
                found.at(instruction, format!("storage class {class}, which Vulkan does not have"));
            }
        }),
    },
    Rule {
        name: "output-stage",
        id: "VUID-StandaloneSpirv-None-04644",
        says: "Output is not used in compute and ray tracing stages",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            use ExecutionModel::{
                AnyHitKHR, CallableKHR, ClosestHitKHR, GLCompute, IntersectionKHR, MissKHR, RayGenerationKHR,
            };
            limit(facts, found, StorageClass::Output, "a stage that has outputs", |m| {
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
        says: "Workgroup only in task, mesh and compute stages",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            use ExecutionModel::{GLCompute, MeshEXT, MeshNV, TaskEXT, TaskNV};
            limit(facts, found, StorageClass::Workgroup, "task, mesh or compute", |m| {
                matches!(m, GLCompute | MeshEXT | MeshNV | TaskEXT | TaskNV)
            });
        }),
    },
    Rule {
        name: "tile-image-stage",
        id: "VUID-StandaloneSpirv-None-08720",
        says: "TileImageEXT only in fragment stages",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            limit(facts, found, StorageClass::TileImageEXT, "Fragment", |m| m == ExecutionModel::Fragment);
        }),
    },
    Rule {
        name: "ray-payload-stage",
        id: "VUID-StandaloneSpirv-RayPayloadKHR-04698",
        says: "RayPayloadKHR only in ray generation, closest hit and miss stages",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            use ExecutionModel::{ClosestHitKHR, MissKHR, RayGenerationKHR};
            limit(facts, found, StorageClass::RayPayloadKHR, "ray generation, closest hit or miss", |m| {
                matches!(m, RayGenerationKHR | ClosestHitKHR | MissKHR)
            });
        }),
    },
    Rule {
        name: "incoming-ray-payload-stage",
        id: "VUID-StandaloneSpirv-IncomingRayPayloadKHR-04699",
        says: "IncomingRayPayloadKHR only in closest hit, any-hit and miss stages",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            use ExecutionModel::{AnyHitKHR, ClosestHitKHR, MissKHR};
            limit(facts, found, StorageClass::IncomingRayPayloadKHR, "closest hit, any-hit or miss", |m| {
                matches!(m, ClosestHitKHR | AnyHitKHR | MissKHR)
            });
        }),
    },
    Rule {
        name: "one-incoming-ray-payload",
        id: "VUID-StandaloneSpirv-IncomingRayPayloadKHR-04700",
        says: "an interface has one IncomingRayPayloadKHR variable at most",
        severity: Severity::Error,
        on: On::Module(|facts, found| at_most_one(facts, found, StorageClass::IncomingRayPayloadKHR)),
    },
    Rule {
        name: "hit-attribute-stage",
        id: "VUID-StandaloneSpirv-HitAttributeKHR-04701",
        says: "HitAttributeKHR only in intersection, any-hit and closest hit stages",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            use ExecutionModel::{AnyHitKHR, ClosestHitKHR, IntersectionKHR};
            limit(facts, found, StorageClass::HitAttributeKHR, "intersection, any-hit or closest hit", |m| {
                matches!(m, IntersectionKHR | AnyHitKHR | ClosestHitKHR)
            });
        }),
    },
    Rule {
        name: "one-hit-attribute",
        id: "VUID-StandaloneSpirv-HitAttributeKHR-04702",
        says: "an interface has one HitAttributeKHR variable at most",
        severity: Severity::Error,
        on: On::Module(|facts, found| at_most_one(facts, found, StorageClass::HitAttributeKHR)),
    },
    Rule {
        name: "hit-attribute-store",
        id: "VUID-StandaloneSpirv-HitAttributeKHR-04703",
        says: "HitAttributeKHR is written in intersection stages only",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Store], |facts, instruction, found| {
            let attribute = facts.has_class(StorageClass::HitAttributeKHR)
                && facts.origin_class(instruction.operand(0)) == Some(StorageClass::HitAttributeKHR);
            let outside = || facts.model_outside(instruction.index, |m| m == ExecutionModel::IntersectionKHR);
            if attribute && let Some(model) = outside() {
                found.at(instruction, format!("a store to HitAttributeKHR in {model}, expected IntersectionKHR"));
            }
        }),
    },
    Rule {
        name: "callable-data-stage",
        id: "VUID-StandaloneSpirv-CallableDataKHR-04704",
        says: "CallableDataKHR only in ray generation, closest hit, miss and callable stages",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            use ExecutionModel::{CallableKHR, ClosestHitKHR, MissKHR, RayGenerationKHR};
            limit(facts, found, StorageClass::CallableDataKHR, "ray generation, closest hit, miss or callable", |m| {
                matches!(m, RayGenerationKHR | ClosestHitKHR | MissKHR | CallableKHR)
            });
        }),
    },
    Rule {
        name: "incoming-callable-data-stage",
        id: "VUID-StandaloneSpirv-IncomingCallableDataKHR-04705",
        says: "IncomingCallableDataKHR only in callable stages",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            limit(facts, found, StorageClass::IncomingCallableDataKHR, "callable", |m| {
                m == ExecutionModel::CallableKHR
            });
        }),
    },
    Rule {
        name: "one-incoming-callable-data",
        id: "VUID-StandaloneSpirv-IncomingCallableDataKHR-04706",
        says: "an interface has one IncomingCallableDataKHR variable at most",
        severity: Severity::Error,
        on: On::Module(|facts, found| at_most_one(facts, found, StorageClass::IncomingCallableDataKHR)),
    },
    Rule {
        name: "shader-record-stage",
        id: "VUID-StandaloneSpirv-ShaderRecordBufferKHR-07119",
        says: "ShaderRecordBufferKHR only in ray tracing stages",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            use ExecutionModel::{AnyHitKHR, CallableKHR, ClosestHitKHR, IntersectionKHR, MissKHR, RayGenerationKHR};
            limit(facts, found, StorageClass::ShaderRecordBufferKHR, "a ray tracing stage", |m| {
                matches!(m, RayGenerationKHR | IntersectionKHR | AnyHitKHR | ClosestHitKHR | CallableKHR | MissKHR)
            });
        }),
    },
    Rule {
        name: "untyped-pointer-class",
        id: "VUID-StandaloneSpirv-OpTypeUntypedPointerKHR-11417",
        says: "untyped pointers point into Image, UniformConstant, Workgroup, StorageBuffer, Uniform, PushConstant or PhysicalStorageBuffer",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeUntypedPointerKHR], |_, instruction, found| {
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
            // Classes that Vulkan does not have at all are told by their own rule.
            if let Some(class) = stated(instruction).filter(|c| is_vulkan(*c) && !allowed(*c)) {
                found.at(instruction, format!("an untyped pointer into {class}"));
            }
        }),
    },
];
