//! Built-ins: their availability in Vulkan, execution models, storage classes and types.

use super::analysis::facts::{Facts, ModuleVariable};
use super::{Check, Rule, Severity};
use assay_spirv::module::{Type, TypeId};
use assay_spirv::tables::{BuiltIn, Decoration, ExecutionModel, StorageClass};

/// Requirements of one built-in of compute: its execution models and its number of 32-bit integer
/// components.
struct BuiltInRow {
    built_in: BuiltIn,
    workgroup_only: bool,
    components: u32,
}

const fn row(built_in: BuiltIn, workgroup_only: bool, components: u32) -> BuiltInRow {
    BuiltInRow { built_in, workgroup_only, components }
}

/// Built-ins of compute that share one form of rule.
const COMPUTE_BUILT_INS: [BuiltInRow; 15] = [
    row(BuiltIn::NumWorkgroups, true, 3),
    row(BuiltIn::WorkgroupId, true, 3),
    row(BuiltIn::LocalInvocationId, true, 3),
    row(BuiltIn::GlobalInvocationId, true, 3),
    row(BuiltIn::LocalInvocationIndex, true, 1),
    row(BuiltIn::NumSubgroups, true, 1),
    row(BuiltIn::SubgroupId, true, 1),
    row(BuiltIn::SubgroupSize, false, 1),
    row(BuiltIn::SubgroupLocalInvocationId, false, 1),
    row(BuiltIn::SubgroupEqMask, false, 4),
    row(BuiltIn::SubgroupGeMask, false, 4),
    row(BuiltIn::SubgroupGtMask, false, 4),
    row(BuiltIn::SubgroupLeMask, false, 4),
    row(BuiltIn::SubgroupLtMask, false, 4),
    row(BuiltIn::DeviceIndex, false, 1),
];

/// Returns the built-ins of a variable and of the members of its structure, each with its type.
fn built_ins(facts: &Facts, variable: &ModuleVariable) -> Vec<(BuiltIn, TypeId)> {
    let mut all: Vec<_> = facts.built_in(variable.word).map(|built_in| (built_in, variable.ty)).into_iter().collect();
    let structure =
        facts.type_word(variable.element).filter(|_| matches!(facts.module.ty(variable.element), Type::Struct { .. }));
    let Some(structure) = structure else { return all };
    let members = facts.module.members(variable.element);
    for decorated in facts.module.decorations(structure).filter(|d| d.decoration == Some(Decoration::BuiltIn)) {
        let ty = decorated.member.and_then(|member| members.get(member as usize));
        let built_in = decorated.operands.first().and_then(|word| BuiltIn::from_word(*word));
        all.extend(built_in.zip(ty.copied()));
    }
    all
}

/// Returns the compute built-ins among [`built_ins`], with their requirements.
fn built_in_rows(facts: &Facts, variable: &ModuleVariable) -> Vec<(&'static BuiltInRow, TypeId)> {
    let row = |(built_in, ty)| Some((COMPUTE_BUILT_INS.iter().find(|row| row.built_in == built_in)?, ty));
    built_ins(facts, variable).into_iter().filter_map(row).collect()
}

/// Returns whether a type is a 32-bit integer (`components` is 1) or a vector of `components`
/// 32-bit integers.
pub(super) fn is_u32_of(facts: &Facts, ty: TypeId, components: u32) -> bool {
    match *facts.module.ty(ty) {
        Type::Int { width: 32, .. } => components == 1,
        Type::Vector { component, count } => {
            count == components && matches!(facts.module.ty(component), Type::Int { width: 32, .. })
        }
        _ => false,
    }
}

/// Returns whether a built-in belongs to kernels or to an API other than Vulkan.
fn is_non_vulkan(built_in: BuiltIn) -> bool {
    use BuiltIn as B;
    matches!(
        built_in,
        B::WorkDim
            | B::GlobalSize
            | B::EnqueuedWorkgroupSize
            | B::GlobalOffset
            | B::GlobalLinearId
            | B::SubgroupMaxSize
            | B::NumEnqueuedSubgroups
            | B::VertexId
    )
}

/// Returns the type of a variable, or of a member of its structure, that is decorated SampleMask.
fn sample_mask(facts: &Facts, variable: &ModuleVariable) -> Option<TypeId> {
    built_ins(facts, variable).into_iter().find(|(built_in, _)| *built_in == BuiltIn::SampleMask).map(|(_, ty)| ty)
}

/// Returns whether a type is an array of 32-bit integers, with or without a length.
fn is_u32_array(facts: &Facts, ty: TypeId) -> bool {
    match *facts.module.ty(ty) {
        Type::Array { element, .. } | Type::RuntimeArray { element } => is_u32_of(facts, element, 1),
        _ => false,
    }
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "built-in-listed",
        id: "VUID-StandaloneSpirv-BuiltIn-04668",
        requirement: "the built-in must be one that Vulkan supports",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::BuiltIn], |_, _, decorated, found| {
            let built_in = decorated.operands.first().and_then(|word| BuiltIn::from_word(*word));
            if let Some(built_in) = built_in.filter(|b| is_non_vulkan(*b)) {
                found.report(decorated.instruction, format!("Vulkan does not support built-in {built_in}"));
            }
        }),
    },
    Rule {
        name: "built-in-model",
        id: "VUID-GlobalInvocationId-GlobalInvocationId-04236 and the same requirement of other built-ins (04281, 04284, 04293, 04296, 04367, 04422)",
        requirement: "workgroup built-ins must be used in task, mesh and compute execution models only",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let rows = built_in_rows(facts, variable);
            let Some((row, _)) = rows.into_iter().find(|(row, _)| row.workgroup_only) else { return };
            use ExecutionModel::{GLCompute, MeshEXT, MeshNV, TaskEXT, TaskNV};
            let allowed = |m| matches!(m, GLCompute | MeshEXT | MeshNV | TaskEXT | TaskNV);
            if let Some(model) = facts.static_user_outside(variable.word, allowed) {
                variable.report(found, format!("{} in {model}, expected task, mesh or compute", row.built_in));
            }
        }),
    },
    Rule {
        name: "built-in-class",
        id: "VUID-GlobalInvocationId-GlobalInvocationId-04237 and the same requirement of other built-ins (04205, 04282, 04285, 04294, 04297, 04368, 04370 to 04382, 04423)",
        requirement: "workgroup and subgroup built-ins must be Input variables",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let rows = built_in_rows(facts, variable);
            if let Some((row, _)) = rows.first().filter(|_| variable.class != StorageClass::Input) {
                variable.report(found, format!("{} in {}, expected Input", row.built_in, variable.class));
            }
        }),
    },
    Rule {
        name: "built-in-type",
        id: "VUID-GlobalInvocationId-GlobalInvocationId-04238 and the same requirement of other built-ins (04206, 04283, 04286, 04295, 04298, 04369, 04371 to 04383, 04424)",
        requirement: "workgroup and subgroup built-ins must have the type that their description requires",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let rows = built_in_rows(facts, variable);
            if let Some((row, _)) = rows.iter().find(|(row, ty)| !is_u32_of(facts, *ty, row.components)) {
                let expected = match row.components {
                    1 => "a 32-bit integer".to_owned(),
                    n => format!("a vector of {n} 32-bit integers"),
                };
                variable.report(found, format!("{} is not {expected}", row.built_in));
            }
        }),
    },
    Rule {
        name: "workgroup-size-constant",
        id: "VUID-WorkgroupSize-WorkgroupSize-04426",
        requirement: "WorkgroupSize must decorate a constant (with TileShadingRateQCOM: an Input variable)",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::BuiltIn], |facts, target, decorated, found| {
            let size = decorated.operands.first() == Some(&BuiltIn::WorkgroupSize.word()) && decorated.member.is_none();
            let input = || facts.variable(target).is_some_and(|v| v.class == StorageClass::Input);
            let rate = || {
                facts.entries.iter().any(|e| e.mode(assay_spirv::tables::ExecutionMode::TileShadingRateQCOM).is_some())
            };
            if size && !facts.is_constant(target) && !(input() && rate()) {
                found.report(decorated.instruction, "target of WorkgroupSize is not a constant");
            }
        }),
    },
    Rule {
        name: "workgroup-size-type",
        id: "VUID-WorkgroupSize-WorkgroupSize-04427",
        requirement: "WorkgroupSize must be a vector of three 32-bit integers",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::BuiltIn], |facts, target, decorated, found| {
            let size = decorated.operands.first() == Some(&BuiltIn::WorkgroupSize.word());
            let ty = facts.module.type_of(target).filter(|_| facts.is_constant(target));
            if size && ty.is_some_and(|ty| !is_u32_of(facts, ty, 3)) {
                found.report(decorated.instruction, "target of WorkgroupSize is not a vector of three 32-bit integers");
            }
        }),
    },
    Rule {
        name: "sample-mask-model",
        id: "VUID-SampleMask-SampleMask-04357",
        requirement: "SampleMask must be used in Fragment only",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            if sample_mask(facts, variable).is_none() {
                return;
            }
            if let Some(model) = facts.static_user_outside(variable.word, |m| m == ExecutionModel::Fragment) {
                variable.report(found, format!("SampleMask in {model}, expected Fragment"));
            }
        }),
    },
    Rule {
        name: "sample-mask-class",
        id: "VUID-SampleMask-SampleMask-04358",
        requirement: "SampleMask must be an Input or Output variable",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let interface = matches!(variable.class, StorageClass::Input | StorageClass::Output);
            if sample_mask(facts, variable).is_some() && !interface {
                variable.report(found, format!("SampleMask in {}, expected Input or Output", variable.class));
            }
        }),
    },
    Rule {
        name: "sample-mask-type",
        id: "VUID-SampleMask-SampleMask-04359",
        requirement: "SampleMask must be an array of 32-bit integers",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            if sample_mask(facts, variable).is_some_and(|ty| !is_u32_array(facts, ty)) {
                variable.report(found, "SampleMask is not an array of 32-bit integers");
            }
        }),
    },
];
