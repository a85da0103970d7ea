//! Built-ins: which there are, where they may be used, their storage classes and types.

use super::facts::{Facts, Variable};
use super::{On, Rule, Severity};
use crate::module::{Type, TypeId};
use crate::tables::{BuiltIn, Decoration, ExecutionModel, StorageClass};

/// A built-in of compute: the models that may use it, and its components, 32-bit integers.
struct BuiltInRow {
    built_in: BuiltIn,
    workgroup_only: bool,
    components: u32,
}

const fn row(built_in: BuiltIn, workgroup_only: bool, components: u32) -> BuiltInRow {
    BuiltInRow { built_in, workgroup_only, components }
}

/// Built-ins of compute whose rules have one form.
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

/// The built-ins that a variable is or that members of its structure are, each with its type.
fn built_ins(facts: &Facts, variable: &Variable) -> Vec<(BuiltIn, TypeId)> {
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

/// The built-ins of compute among [`built_ins`], with what is required of them.
fn built_in_rows(facts: &Facts, variable: &Variable) -> Vec<(&'static BuiltInRow, TypeId)> {
    let row = |(built_in, ty)| Some((COMPUTE_BUILT_INS.iter().find(|row| row.built_in == built_in)?, ty));
    built_ins(facts, variable).into_iter().filter_map(row).collect()
}

/// Whether a type is a 32-bit integer or a vector of so many.
pub(super) fn is_u32_of(facts: &Facts, ty: TypeId, components: u32) -> bool {
    match *facts.module.ty(ty) {
        Type::Int { width: 32, .. } => components == 1,
        Type::Vector { component, count } => {
            count == components && matches!(facts.module.ty(component), Type::Int { width: 32, .. })
        }
        _ => false,
    }
}

/// Built-ins of kernels and of APIs other than Vulkan.
fn is_foreign(built_in: BuiltIn) -> bool {
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

/// The type of the sample mask, if a variable or a member of its structure is one.
fn sample_mask(facts: &Facts, variable: &Variable) -> Option<TypeId> {
    built_ins(facts, variable).into_iter().find(|(built_in, _)| *built_in == BuiltIn::SampleMask).map(|(_, ty)| ty)
}

/// Whether a type is an array of 32-bit integers, of a stated length or not.
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
        says: "built-ins are those that Vulkan lists",
        severity: Severity::Error,
        on: On::Decorations(&[Decoration::BuiltIn], |_, _, decorated, found| {
            let built_in = decorated.operands.first().and_then(|word| BuiltIn::from_word(*word));
            if let Some(built_in) = built_in.filter(|b| is_foreign(*b)) {
                found.at(decorated.instruction, format!("built-in {built_in}, which Vulkan does not have"));
            }
        }),
    },
    Rule {
        name: "built-in-model",
        id: "VUID-GlobalInvocationId-GlobalInvocationId-04236 and its siblings (04281, 04284, 04293, 04296, 04367, 04422)",
        says: "the built-ins of workgroups only in task, mesh and compute stages",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            let rows = built_in_rows(facts, variable);
            let Some((row, _)) = rows.into_iter().find(|(row, _)| row.workgroup_only) else { return };
            use ExecutionModel::{GLCompute, MeshEXT, MeshNV, TaskEXT, TaskNV};
            let allowed = |m| matches!(m, GLCompute | MeshEXT | MeshNV | TaskEXT | TaskNV);
            if let Some(model) = facts.static_user_outside(variable.word, allowed) {
                variable.breaks(found, format!("{} in {model}, expected task, mesh or compute", row.built_in));
            }
        }),
    },
    Rule {
        name: "built-in-class",
        id: "VUID-GlobalInvocationId-GlobalInvocationId-04237 and its siblings (04205, 04282, 04285, 04294, 04297, 04368, 04370 to 04382, 04423)",
        says: "the built-ins of workgroups and subgroups are inputs",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            let rows = built_in_rows(facts, variable);
            if let Some((row, _)) = rows.first().filter(|_| variable.class != StorageClass::Input) {
                variable.breaks(found, format!("{} in {}, expected Input", row.built_in, variable.class));
            }
        }),
    },
    Rule {
        name: "built-in-type",
        id: "VUID-GlobalInvocationId-GlobalInvocationId-04238 and its siblings (04206, 04283, 04286, 04295, 04298, 04369, 04371 to 04383, 04424)",
        says: "the built-ins of workgroups and subgroups have their type",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            let rows = built_in_rows(facts, variable);
            if let Some((row, _)) = rows.iter().find(|(row, ty)| !is_u32_of(facts, *ty, row.components)) {
                let expected = match row.components {
                    1 => "a 32-bit integer".to_owned(),
                    n => format!("a vector of {n} 32-bit integers"),
                };
                variable.breaks(found, format!("{} is not {expected}", row.built_in));
            }
        }),
    },
    Rule {
        name: "workgroup-size-constant",
        id: "VUID-WorkgroupSize-WorkgroupSize-04426",
        says: "what is decorated WorkgroupSize is a constant (with a tile shading rate: an input)",
        severity: Severity::Error,
        on: On::Decorations(&[Decoration::BuiltIn], |facts, target, decorated, found| {
            let size = decorated.operands.first() == Some(&BuiltIn::WorkgroupSize.word()) && decorated.member.is_none();
            let input = || facts.variable(target).is_some_and(|v| v.class == StorageClass::Input);
            let rate =
                || facts.entries.iter().any(|e| e.mode(crate::tables::ExecutionMode::TileShadingRateQCOM).is_some());
            if size && !facts.is_constant(target) && !(input() && rate()) {
                found.at(decorated.instruction, "WorkgroupSize on something that is no constant");
            }
        }),
    },
    Rule {
        name: "workgroup-size-type",
        id: "VUID-WorkgroupSize-WorkgroupSize-04427",
        says: "WorkgroupSize has three 32-bit integers",
        severity: Severity::Error,
        on: On::Decorations(&[Decoration::BuiltIn], |facts, target, decorated, found| {
            let size = decorated.operands.first() == Some(&BuiltIn::WorkgroupSize.word());
            let ty = facts.module.type_of(target).filter(|_| facts.is_constant(target));
            if size && ty.is_some_and(|ty| !is_u32_of(facts, ty, 3)) {
                found.at(decorated.instruction, "WorkgroupSize on something other than three 32-bit integers");
            }
        }),
    },
    Rule {
        name: "sample-mask-model",
        id: "VUID-SampleMask-SampleMask-04357",
        says: "SampleMask only in fragment stages",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            if sample_mask(facts, variable).is_none() {
                return;
            }
            if let Some(model) = facts.static_user_outside(variable.word, |m| m == ExecutionModel::Fragment) {
                variable.breaks(found, format!("SampleMask in {model}, expected Fragment"));
            }
        }),
    },
    Rule {
        name: "sample-mask-class",
        id: "VUID-SampleMask-SampleMask-04358",
        says: "SampleMask is an input or an output",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            let interface = matches!(variable.class, StorageClass::Input | StorageClass::Output);
            if sample_mask(facts, variable).is_some() && !interface {
                variable.breaks(found, format!("SampleMask in {}, expected Input or Output", variable.class));
            }
        }),
    },
    Rule {
        name: "sample-mask-type",
        id: "VUID-SampleMask-SampleMask-04359",
        says: "SampleMask is an array of 32-bit integers",
        severity: Severity::Error,
        on: On::Variables(|facts, variable, found| {
            if sample_mask(facts, variable).is_some_and(|ty| !is_u32_array(facts, ty)) {
                variable.breaks(found, "SampleMask is not an array of 32-bit integers");
            }
        }),
    },
];
