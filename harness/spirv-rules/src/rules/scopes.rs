//! Execution, memory and group scopes.

use super::opcode_groups::{WITH_MEMORY_SEMANTICS, joined};
use super::scope_operands::ScopeRole;
use super::{Check, Rule, Severity};
use assay_spirv::tables::{Capability, ExecutionModel, MemoryModel, Op, Scope};

/// Instructions with a memory or execution scope operand.
const SCOPED: &[Op] = &joined::<{ WITH_MEMORY_SEMANTICS.len() + ACCESSES.len() }>(WITH_MEMORY_SEMANTICS, ACCESSES);

const ACCESSES: &[Op] = &[Op::Load, Op::Store, Op::CopyMemory, Op::ImageRead, Op::ImageWrite];

/// Group instructions with a scope operand.
const GROUP_OPERATIONS: &[Op] = &[
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

/// Returns whether the invocations of a model form workgroups that a barrier can synchronise.
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
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: in the Vulkan memory model, Device scope requires VulkanMemoryModelDeviceScope",
        requirement: "in the Vulkan memory model, memory scope Device requires VulkanMemoryModelDeviceScope",
        severity: Severity::Error,
        check: Check::Scoped(&[], |facts, instruction, operands, found| {
            let declared = facts.has(Capability::VulkanMemoryModelDeviceScope);
            let vulkan = facts.memory_model() == Some(MemoryModel::Vulkan);
            if vulkan && !declared && operands.has_scope(ScopeRole::Memory, Scope::Device) {
                let op = instruction.name();
                found.report(
                    instruction,
                    format!("{op} with scope Device without capability VulkanMemoryModelDeviceScope"),
                );
            }
        }),
    },
    Rule {
        name: "execution-scope",
        id: "VUID-StandaloneSpirv-None-04636",
        requirement: "the execution scope of OpControlBarrier must be Workgroup or Subgroup",
        severity: Severity::Error,
        check: Check::Scoped(&[Op::ControlBarrier], |_, instruction, operands, found| {
            for &(role, scope) in &operands.scopes {
                if role == ScopeRole::Execution && !matches!(scope, Scope::Workgroup | Scope::Subgroup) {
                    found.report(instruction, format!("execution scope {scope}, expected Workgroup or Subgroup"));
                }
            }
        }),
    },
    Rule {
        name: "cooperative-matrix-scope",
        id: "VUID-StandaloneSpirv-Scope-12243",
        requirement: "the scope of OpTypeCooperativeMatrixKHR must be Workgroup or Subgroup",
        severity: Severity::Error,
        check: Check::Scoped(&[Op::TypeCooperativeMatrixKHR], |_, instruction, operands, found| {
            for &(_, scope) in &operands.scopes {
                if !matches!(scope, Scope::Workgroup | Scope::Subgroup) {
                    found.report(
                        instruction,
                        format!("cooperative matrix with scope {scope}, expected Workgroup or Subgroup"),
                    );
                }
            }
        }),
    },
    Rule {
        name: "execution-scope-workgroup-model",
        id: "VUID-StandaloneSpirv-None-04637",
        requirement: "execution scope Workgroup must be used in task, mesh, tessellation control and compute execution models only",
        severity: Severity::Error,
        check: Check::Scoped(
            &[Op::ControlBarrier, Op::ControlBarrierArriveEXT, Op::ControlBarrierWaitEXT],
            |facts, instruction, operands, found| {
                let workgroup = operands.has_scope(ScopeRole::Execution, Scope::Workgroup);
                // Models of barrier-outside-workgroups (VUID 04682) are checked by that rule.
                let exempt = |model| has_workgroup(model) || barrier_is_subgroup_only(model);
                if workgroup && let Some(model) = facts.model_outside(instruction.index, exempt) {
                    found.report(instruction, format!("execution scope Workgroup in {model}, which has no workgroups"));
                }
            },
        ),
    },
    Rule {
        name: "barrier-outside-workgroups",
        id: "VUID-StandaloneSpirv-OpControlBarrier-04682",
        requirement: "in execution models without workgroups, the execution scope of OpControlBarrier must be Subgroup",
        severity: Severity::Error,
        check: Check::Scoped(&[Op::ControlBarrier], |facts, instruction, operands, found| {
            let subgroup = operands.has_scope(ScopeRole::Execution, Scope::Subgroup);
            if !subgroup && let Some(model) = facts.model_outside(instruction.index, |m| !barrier_is_subgroup_only(m)) {
                found.report(instruction, format!("OpControlBarrier in {model}, expected execution scope Subgroup"));
            }
        }),
    },
    Rule {
        name: "split-barrier-scope",
        id: "VUID-StandaloneSpirv-OpControlBarrierArriveEXT-13553",
        requirement: "the execution scope of a split barrier must be Workgroup or Subgroup",
        severity: Severity::Error,
        check: Check::Scoped(
            &[Op::ControlBarrierArriveEXT, Op::ControlBarrierWaitEXT],
            |_, instruction, operands, found| {
                for &(role, scope) in &operands.scopes {
                    if role == ScopeRole::Execution && !matches!(scope, Scope::Workgroup | Scope::Subgroup) {
                        found.report(instruction, format!("execution scope {scope}, expected Workgroup or Subgroup"));
                    }
                }
            },
        ),
    },
    Rule {
        name: "memory-scope",
        id: "VUID-StandaloneSpirv-None-04638",
        requirement: "the memory scope must be Device, QueueFamily, Workgroup, ShaderCallKHR, Subgroup or Invocation",
        severity: Severity::Error,
        check: Check::Scoped(SCOPED, |_, instruction, operands, found| {
            for &(role, scope) in &operands.scopes {
                if role == ScopeRole::Memory && !is_vulkan(scope) {
                    found.report(instruction, format!("memory scope {scope}, which Vulkan does not support"));
                }
            }
        }),
    },
    Rule {
        name: "memory-scope-tessellation",
        id: "VUID-StandaloneSpirv-ExecutionModel-07320",
        requirement: "in TessellationControl with memory model GLSL450, the memory scope must not be Workgroup",
        severity: Severity::Error,
        check: Check::Scoped(SCOPED, |facts, instruction, operands, found| {
            let workgroup = operands.has_scope(ScopeRole::Memory, Scope::Workgroup);
            let control = || facts.model_outside(instruction.index, |m| m != ExecutionModel::TessellationControl);
            if workgroup && facts.memory_model() == Some(MemoryModel::GLSL450) && control().is_some() {
                found.report(instruction, "memory scope Workgroup in TessellationControl with memory model GLSL450");
            }
        }),
    },
    Rule {
        name: "memory-scope-workgroup-model",
        id: "VUID-StandaloneSpirv-None-07321",
        requirement: "memory scope Workgroup must be used in task, mesh, tessellation control and compute execution models only",
        severity: Severity::Error,
        check: Check::Scoped(SCOPED, |facts, instruction, operands, found| {
            let workgroup = operands.has_scope(ScopeRole::Memory, Scope::Workgroup);
            if workgroup && let Some(model) = facts.model_outside(instruction.index, has_workgroup) {
                found.report(instruction, format!("memory scope Workgroup in {model}, which has no workgroups"));
            }
        }),
    },
    Rule {
        name: "memory-scope-shader-call-model",
        id: "VUID-StandaloneSpirv-None-04640",
        requirement: "memory scope ShaderCallKHR must be used in ray tracing execution models only",
        severity: Severity::Error,
        check: Check::Scoped(SCOPED, |facts, instruction, operands, found| {
            let call = operands.has_scope(ScopeRole::Memory, Scope::ShaderCallKHR);
            if call && let Some(model) = facts.model_outside(instruction.index, is_ray_tracing) {
                found.report(
                    instruction,
                    format!("memory scope ShaderCallKHR in {model}, expected a ray tracing execution model"),
                );
            }
        }),
    },
    Rule {
        name: "memory-scope-invocation-semantics",
        id: "VUID-StandaloneSpirv-None-04641",
        requirement: "with memory scope Invocation, the memory semantics must have no memory order",
        severity: Severity::Error,
        check: Check::Scoped(SCOPED, |_, instruction, operands, found| {
            let invocation = operands.has_scope(ScopeRole::Memory, Scope::Invocation);
            let ordered = operands.any_semantics(|s| s & super::memory_semantics::ORDERS != 0);
            if invocation && ordered {
                found.report(instruction, "memory scope Invocation with a memory order, expected no order");
            }
        }),
    },
    Rule {
        name: "group-scope",
        id: "VUID-StandaloneSpirv-None-04642",
        requirement: "the scope of a group operation must be Subgroup",
        severity: Severity::Error,
        check: Check::Scoped(GROUP_OPERATIONS, |_, instruction, operands, found| {
            for &(_, scope) in &operands.scopes {
                if scope != Scope::Subgroup {
                    found.report(instruction, format!("{} with scope {scope}, expected Subgroup", instruction.name()));
                }
            }
        }),
    },
    Rule {
        name: "memory-scope-subgroup-capability",
        id: "VUID-StandaloneSpirv-SubgroupVoteKHR-07951",
        requirement: "memory scope Subgroup requires SubgroupVoteKHR, GroupNonUniform or SubgroupBallotKHR",
        severity: Severity::Error,
        check: Check::Scoped(SCOPED, |facts, instruction, operands, found| {
            let subgroup = operands.has_scope(ScopeRole::Memory, Scope::Subgroup);
            let any = [Capability::SubgroupVoteKHR, Capability::GroupNonUniform, Capability::SubgroupBallotKHR];
            if subgroup && !any.into_iter().any(|c| facts.has(c)) {
                found.report(
                    instruction,
                    "memory scope Subgroup without capability SubgroupVoteKHR, GroupNonUniform or SubgroupBallotKHR",
                );
            }
        }),
    },
    Rule {
        name: "clock-scope",
        id: "VUID-StandaloneSpirv-OpReadClockKHR-04652",
        requirement: "the scope of OpReadClockKHR must be Subgroup or Device",
        severity: Severity::Error,
        check: Check::Scoped(&[Op::ReadClockKHR], |_, instruction, operands, found| {
            for &(_, scope) in &operands.scopes {
                if !matches!(scope, Scope::Subgroup | Scope::Device) {
                    found
                        .report(instruction, format!("OpReadClockKHR with scope {scope}, expected Subgroup or Device"));
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
