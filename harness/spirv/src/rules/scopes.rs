//! Scopes of execution, memory and groups.

use super::ops::{ORDERED, joined};
use super::stated::ScopeRole;
use super::{On, Rule, Severity};
use crate::tables::{Capability, ExecutionModel, MemoryModel, Op, Scope};

/// Instructions with a scope operand.
const SCOPED: &[Op] = &joined::<{ ORDERED.len() + ACCESSES.len() }>(ORDERED, ACCESSES);

const ACCESSES: &[Op] = &[Op::Load, Op::Store, Op::CopyMemory, Op::ImageRead, Op::ImageWrite];

/// Group operations with a scope operand.
const GROUPED: &[Op] = &[
    Op::GroupNonUniformElect,
    Op::GroupNonUniformAll,
    Op::GroupNonUniformAny,
    Op::GroupNonUniformAllEqual,
    Op::GroupNonUniformBroadcast,
    Op::GroupNonUniformBroadcastFirst,
    Op::GroupNonUniformBallot,
    Op::GroupNonUniformInverseBallot,
    Op::GroupNonUniformBallotBitExtract,
    Op::GroupNonUniformBallotBitCount,
    Op::GroupNonUniformBallotFindLSB,
    Op::GroupNonUniformBallotFindMSB,
    Op::GroupNonUniformShuffle,
    Op::GroupNonUniformShuffleXor,
    Op::GroupNonUniformShuffleUp,
    Op::GroupNonUniformShuffleDown,
    Op::GroupNonUniformIAdd,
    Op::GroupNonUniformFAdd,
    Op::GroupNonUniformIMul,
    Op::GroupNonUniformFMul,
    Op::GroupNonUniformSMin,
    Op::GroupNonUniformUMin,
    Op::GroupNonUniformFMin,
    Op::GroupNonUniformSMax,
    Op::GroupNonUniformUMax,
    Op::GroupNonUniformFMax,
    Op::GroupNonUniformBitwiseAnd,
    Op::GroupNonUniformBitwiseOr,
    Op::GroupNonUniformBitwiseXor,
    Op::GroupNonUniformLogicalAnd,
    Op::GroupNonUniformLogicalOr,
    Op::GroupNonUniformLogicalXor,
    Op::GroupNonUniformQuadBroadcast,
    Op::GroupNonUniformQuadSwap,
    Op::GroupNonUniformRotateKHR,
];

/// Models whose invocations form workgroups that a barrier can wait for.
pub(super) fn has_workgroup(model: ExecutionModel) -> bool {
    use ExecutionModel::{GLCompute, MeshEXT, MeshNV, TaskEXT, TaskNV, TessellationControl};
    matches!(model, GLCompute | MeshEXT | MeshNV | TaskEXT | TaskNV | TessellationControl)
}

fn is_ray_tracing(model: ExecutionModel) -> bool {
    use ExecutionModel::{AnyHitKHR, CallableKHR, ClosestHitKHR, IntersectionKHR, MissKHR, RayGenerationKHR};
    matches!(model, AnyHitKHR | CallableKHR | ClosestHitKHR | IntersectionKHR | MissKHR | RayGenerationKHR)
}

fn is_vulkan(scope: Scope) -> bool {
    use Scope::{Device, Invocation, QueueFamily, ShaderCallKHR, Subgroup, Workgroup};
    matches!(scope, Device | QueueFamily | Workgroup | ShaderCallKHR | Subgroup | Invocation)
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "device-scope-capability",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: in the Vulkan memory model, Device scope needs VulkanMemoryModelDeviceScope",
        says: "in the Vulkan memory model, scope Device for memory needs VulkanMemoryModelDeviceScope",
        severity: Severity::Error,
        on: On::Stated(&[], |facts, instruction, stated, found| {
            let declared = facts.has(Capability::VulkanMemoryModelDeviceScope);
            let vulkan = facts.memory_model() == Some(MemoryModel::Vulkan);
            if vulkan && !declared && stated.is(ScopeRole::Memory, Scope::Device) {
                let op = instruction.name();
                found.at(instruction, format!("{op} of scope Device without capability VulkanMemoryModelDeviceScope"));
            }
        }),
    },
    Rule {
        name: "execution-scope",
        id: "VUID-StandaloneSpirv-None-04636",
        says: "the scope for execution is Workgroup or Subgroup",
        severity: Severity::Error,
        on: On::Stated(&[Op::ControlBarrier], |_, instruction, stated, found| {
            for &(role, scope) in &stated.scopes {
                if role == ScopeRole::Execution && !matches!(scope, Scope::Workgroup | Scope::Subgroup) {
                    found.at(instruction, format!("scope for execution {scope}, expected Workgroup or Subgroup"));
                }
            }
        }),
    },
    Rule {
        name: "cooperative-matrix-scope",
        id: "VUID-StandaloneSpirv-Scope-12243",
        says: "the scope of a cooperative matrix is Workgroup or Subgroup",
        severity: Severity::Error,
        on: On::Stated(&[Op::TypeCooperativeMatrixKHR], |_, instruction, stated, found| {
            for &(_, scope) in &stated.scopes {
                if !matches!(scope, Scope::Workgroup | Scope::Subgroup) {
                    found.at(
                        instruction,
                        format!("scope {scope} of a cooperative matrix, expected Workgroup or Subgroup"),
                    );
                }
            }
        }),
    },
    Rule {
        name: "execution-scope-workgroup-model",
        id: "VUID-StandaloneSpirv-None-04637",
        says: "execution scope Workgroup only in task, mesh, tessellation control and compute",
        severity: Severity::Error,
        on: On::Stated(
            &[Op::ControlBarrier, Op::ControlBarrierArriveEXT, Op::ControlBarrierWaitEXT],
            |facts, instruction, stated, found| {
                let workgroup = stated.is(ScopeRole::Execution, Scope::Workgroup);
                // The models that have a rule of their own (04682) are told by that one.
                let told = |model| has_workgroup(model) || barrier_is_subgroup_only(model);
                if workgroup && let Some(model) = facts.model_outside(instruction.index, told) {
                    found.at(instruction, format!("scope for execution Workgroup in {model}, which has no workgroups"));
                }
            },
        ),
    },
    Rule {
        name: "barrier-outside-workgroups",
        id: "VUID-StandaloneSpirv-OpControlBarrier-04682",
        says: "in stages without workgroups a control barrier has execution scope Subgroup",
        severity: Severity::Error,
        on: On::Stated(&[Op::ControlBarrier], |facts, instruction, stated, found| {
            let subgroup = stated.is(ScopeRole::Execution, Scope::Subgroup);
            if !subgroup && let Some(model) = facts.model_outside(instruction.index, |m| !barrier_is_subgroup_only(m)) {
                found.at(instruction, format!("OpControlBarrier in {model}, expected scope for execution Subgroup"));
            }
        }),
    },
    Rule {
        name: "split-barrier-scope",
        id: "VUID-StandaloneSpirv-OpControlBarrierArriveEXT-13553",
        says: "a split barrier has execution scope Workgroup or Subgroup",
        severity: Severity::Error,
        on: On::Stated(&[Op::ControlBarrierArriveEXT, Op::ControlBarrierWaitEXT], |_, instruction, stated, found| {
            for &(role, scope) in &stated.scopes {
                if role == ScopeRole::Execution && !matches!(scope, Scope::Workgroup | Scope::Subgroup) {
                    found.at(instruction, format!("scope for execution {scope}, expected Workgroup or Subgroup"));
                }
            }
        }),
    },
    Rule {
        name: "memory-scope",
        id: "VUID-StandaloneSpirv-None-04638",
        says: "the scope for memory is Device, QueueFamily, Workgroup, ShaderCallKHR, Subgroup or Invocation",
        severity: Severity::Error,
        on: On::Stated(SCOPED, |_, instruction, stated, found| {
            for &(role, scope) in &stated.scopes {
                if role == ScopeRole::Memory && !is_vulkan(scope) {
                    found.at(instruction, format!("scope for memory {scope}, which Vulkan does not have"));
                }
            }
        }),
    },
    Rule {
        name: "memory-scope-tessellation",
        id: "VUID-StandaloneSpirv-ExecutionModel-07320",
        says: "in tessellation control with memory model GLSL450 the scope for memory is not Workgroup",
        severity: Severity::Error,
        on: On::Stated(SCOPED, |facts, instruction, stated, found| {
            let workgroup = stated.is(ScopeRole::Memory, Scope::Workgroup);
            let control = || facts.model_outside(instruction.index, |m| m != ExecutionModel::TessellationControl);
            if workgroup && facts.memory_model() == Some(MemoryModel::GLSL450) && control().is_some() {
                found.at(instruction, "scope for memory Workgroup in TessellationControl with memory model GLSL450");
            }
        }),
    },
    Rule {
        name: "memory-scope-workgroup-model",
        id: "VUID-StandaloneSpirv-None-07321",
        says: "memory scope Workgroup only in task, mesh, tessellation control and compute",
        severity: Severity::Error,
        on: On::Stated(SCOPED, |facts, instruction, stated, found| {
            let workgroup = stated.is(ScopeRole::Memory, Scope::Workgroup);
            if workgroup && let Some(model) = facts.model_outside(instruction.index, has_workgroup) {
                found.at(instruction, format!("scope for memory Workgroup in {model}, which has no workgroups"));
            }
        }),
    },
    Rule {
        name: "memory-scope-shader-call-model",
        id: "VUID-StandaloneSpirv-None-04640",
        says: "memory scope ShaderCallKHR only in ray tracing stages",
        severity: Severity::Error,
        on: On::Stated(SCOPED, |facts, instruction, stated, found| {
            let call = stated.is(ScopeRole::Memory, Scope::ShaderCallKHR);
            if call && let Some(model) = facts.model_outside(instruction.index, is_ray_tracing) {
                found.at(
                    instruction,
                    format!("scope for memory ShaderCallKHR in {model}, expected a ray tracing stage"),
                );
            }
        }),
    },
    Rule {
        name: "memory-scope-invocation-semantics",
        id: "VUID-StandaloneSpirv-None-04641",
        says: "with memory scope Invocation the memory order is relaxed",
        severity: Severity::Error,
        on: On::Stated(SCOPED, |_, instruction, stated, found| {
            let invocation = stated.is(ScopeRole::Memory, Scope::Invocation);
            let ordered = stated.orders(|s| s & super::semantics::ORDERS != 0);
            if invocation && ordered {
                found.at(instruction, "scope for memory Invocation with a memory order, expected relaxed");
            }
        }),
    },
    Rule {
        name: "group-scope",
        id: "VUID-StandaloneSpirv-None-04642",
        says: "the scope of group operations is Subgroup",
        severity: Severity::Error,
        on: On::Stated(GROUPED, |_, instruction, stated, found| {
            for &(_, scope) in &stated.scopes {
                if scope != Scope::Subgroup {
                    found.at(instruction, format!("{} of scope {scope}, expected Subgroup", instruction.name()));
                }
            }
        }),
    },
    Rule {
        name: "memory-scope-subgroup-capability",
        id: "VUID-StandaloneSpirv-SubgroupVoteKHR-07951",
        says: "memory scope Subgroup needs SubgroupVoteKHR, GroupNonUniform or SubgroupBallotKHR",
        severity: Severity::Error,
        on: On::Stated(SCOPED, |facts, instruction, stated, found| {
            let subgroup = stated.is(ScopeRole::Memory, Scope::Subgroup);
            let any = [Capability::SubgroupVoteKHR, Capability::GroupNonUniform, Capability::SubgroupBallotKHR];
            if subgroup && !any.into_iter().any(|c| facts.has(c)) {
                found.at(instruction, "scope for memory Subgroup without a subgroup capability (GroupNonUniform)");
            }
        }),
    },
    Rule {
        name: "clock-scope",
        id: "VUID-StandaloneSpirv-OpReadClockKHR-04652",
        says: "the scope of OpReadClockKHR is Subgroup or Device",
        severity: Severity::Error,
        on: On::Stated(&[Op::ReadClockKHR], |_, instruction, stated, found| {
            for &(_, scope) in &stated.scopes {
                if !matches!(scope, Scope::Subgroup | Scope::Device) {
                    found.at(instruction, format!("OpReadClockKHR of scope {scope}, expected Subgroup or Device"));
                }
            }
        }),
    },
];

fn barrier_is_subgroup_only(model: ExecutionModel) -> bool {
    use ExecutionModel::{Fragment, Geometry, TessellationEvaluation, Vertex};
    let ray = is_ray_tracing(model) && model != ExecutionModel::CallableKHR;
    ray || matches!(model, Fragment | Vertex | TessellationEvaluation | Geometry)
}
