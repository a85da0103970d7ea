//! Decorations: what they may stand on, and together with what. Built-ins.

use super::contents::Contents;
use super::facts::{Facts, Variable};
use super::{Findings, On, Rule};
use crate::module::{Decorated, Type, TypeId};
use crate::tables::{BuiltIn, Decoration, ExecutionModel, FPFastMathMode, FPRoundingMode, Op, StorageClass};

/// Whether AllowTransform stands without what it needs.
pub(super) fn lacks_for_transform(flags: u32) -> bool {
    let flags = FPFastMathMode(flags);
    let needed = FPFastMathMode(FPFastMathMode::ALLOW_REASSOC.0 | FPFastMathMode::ALLOW_CONTRACT.0);
    flags.contains(FPFastMathMode::ALLOW_TRANSFORM) && !flags.contains(needed)
}

/// The variable that a decoration is about, or the variables that hold the structure whose member it is about.
fn variables<'a>(facts: &'a Facts, target: u32, decorated: &Decorated) -> impl Iterator<Item = &'a Variable<'a>> {
    let own = facts.variable(target).filter(|_| decorated.member.is_none());
    let member = decorated.member.into_iter().flat_map(move |_| facts.variables_of(target));
    own.into_iter().chain(member)
}

/// The first storage class of what a decoration is about that `allowed` does not hold for.
fn class_outside(
    facts: &Facts,
    target: u32,
    decorated: &Decorated,
    allowed: impl Fn(StorageClass) -> bool,
) -> Option<StorageClass> {
    variables(facts, target, decorated).map(|v| v.class).find(|class| !allowed(*class))
}

fn is_interface(class: StorageClass) -> bool {
    matches!(class, StorageClass::Input | StorageClass::Output)
}

/// The type that a decoration is about.
fn decorated_type(facts: &Facts, target: u32, decorated: &Decorated) -> Option<TypeId> {
    match decorated.member {
        Some(member) => facts.module.members(facts.module.type_declared(target)?).get(member as usize).copied(),
        None => facts.variable(target).map(|v| v.ty),
    }
}

/// Components and their width of a scalar or vector, arrays around it taken away.
fn components(facts: &Facts, ty: TypeId) -> Option<(u32, u32)> {
    let (element, _) = crate::reflect::elements(facts.module, ty);
    match *facts.module.ty(element) {
        Type::Int { width, .. } | Type::Float { width, .. } => Some((1, width)),
        Type::Vector { component, count } => Some((count, facts.width(component)?)),
        _ => None,
    }
}

const INTERPOLATION: &[Decoration] =
    &[Decoration::Flat, Decoration::NoPerspective, Decoration::Sample, Decoration::Centroid];

/// Tells of an interpolation decoration on a variable of `class` that a stage of `model` uses.
fn interpolation_in(
    facts: &Facts,
    target: u32,
    decorated: &Decorated,
    found: &mut Findings,
    class: StorageClass,
    model: ExecutionModel,
) {
    let used = facts
        .variable(target)
        .into_iter()
        .chain(facts.variables_of(target))
        .any(|v| v.class == class && facts.entries_using(v.word).any(|e| e.model == Some(model)));
    if used && let Some(decoration) = decorated.decoration {
        found.at(decorated.instruction, format!("{decoration} on {class} of {model}"));
    }
}

/// User-defined interface variables of graphics stages.
fn is_user_interface(facts: &Facts, variable: &Variable) -> bool {
    let members = || {
        let declared = facts.type_word(variable.element);
        declared.is_some_and(|word| facts.module.decorations(word).any(|d| d.decoration == Some(Decoration::BuiltIn)))
    };
    is_interface(variable.class) && facts.built_in(variable.word).is_none() && !members()
}

/// A built-in with the models it is for, its storage class, and its shape: components of 32-bit integers.
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

fn built_in_row<'a>(facts: &Facts, variable: &Variable) -> Option<&'a BuiltInRow> {
    let built_in = facts.built_in(variable.word)?;
    COMPUTE_BUILT_INS.iter().find(|row| row.built_in == built_in)
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

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "built-in-listed",
        id: "VUID-StandaloneSpirv-BuiltIn-04668",
        says: "built-ins are those that Vulkan lists",
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
        on: On::Variables(|facts, variable, found| {
            let Some(row) = built_in_row(facts, variable).filter(|row| row.workgroup_only) else { return };
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
        on: On::Variables(|facts, variable, found| {
            if let Some(row) = built_in_row(facts, variable).filter(|_| variable.class != StorageClass::Input) {
                variable.breaks(found, format!("{} in {}, expected Input", row.built_in, variable.class));
            }
        }),
    },
    Rule {
        name: "built-in-type",
        id: "VUID-GlobalInvocationId-GlobalInvocationId-04238 and its siblings (04206, 04283, 04286, 04295, 04298, 04369, 04371 to 04383, 04424)",
        says: "the built-ins of workgroups and subgroups have their type",
        on: On::Variables(|facts, variable, found| {
            if let Some(row) =
                built_in_row(facts, variable).filter(|row| !is_u32_of(facts, variable.ty, row.components))
            {
                variable.breaks(found, format!("{} is not {} 32-bit integer(s)", row.built_in, row.components));
            }
        }),
    },
    Rule {
        name: "workgroup-size-constant",
        id: "VUID-WorkgroupSize-WorkgroupSize-04426",
        says: "what is decorated WorkgroupSize is a constant (with a tile shading rate: an input)",
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
        on: On::Decorations(&[Decoration::BuiltIn], |facts, target, decorated, found| {
            let size = decorated.operands.first() == Some(&BuiltIn::WorkgroupSize.word());
            let ty = facts.module.type_of(target).filter(|_| facts.is_constant(target));
            if size && ty.is_some_and(|ty| !is_u32_of(facts, ty, 3)) {
                found.at(decorated.instruction, "WorkgroupSize on something other than three 32-bit integers");
            }
        }),
    },
    Rule {
        name: "location-class",
        id: "VUID-StandaloneSpirv-Location-06672",
        says: "Location and Component only on interfaces",
        on: On::Decorations(&[Decoration::Location, Decoration::Component], |facts, target, decorated, found| {
            use StorageClass as S;
            // Not in the rule's list, but tile images take their location from the attachment.
            let wrong = class_outside(facts, target, decorated, |class| {
                matches!(
                    class,
                    S::Input
                        | S::Output
                        | S::RayPayloadKHR
                        | S::IncomingRayPayloadKHR
                        | S::HitAttributeKHR
                        | S::HitObjectAttributeNV
                        | S::HitObjectAttributeEXT
                        | S::CallableDataKHR
                        | S::IncomingCallableDataKHR
                        | S::ShaderRecordBufferKHR
                        | S::TileImageEXT
                )
            });
            if let (Some(class), Some(decoration)) = (wrong, decorated.decoration) {
                found.at(decorated.instruction, format!("{decoration} on {class}, which is no interface"));
            }
        }),
    },
    Rule {
        name: "location-built-in",
        id: "VUID-StandaloneSpirv-Location-04915",
        says: "built-ins have neither Location nor Component",
        on: On::Decorations(&[Decoration::Location, Decoration::Component], |facts, target, decorated, found| {
            let beside = facts
                .module
                .decorations(target)
                .any(|d| d.decoration == Some(Decoration::BuiltIn) && d.member == decorated.member);
            if beside {
                found.at(decorated.instruction, "Location or Component on a built-in");
            }
        }),
    },
    Rule {
        name: "location-missing",
        id: "VUID-StandaloneSpirv-Location-04917",
        says: "interface variables that are no blocks have a Location",
        on: On::Variables(|facts, variable, found| {
            let block = facts.type_has(variable.element, Decoration::Block);
            if is_user_interface(facts, variable)
                && facts.is_listed(variable.word)
                && !block
                && !facts.has_decoration(variable.word, Decoration::Location)
            {
                variable
                    .breaks(found, format!("{} in {} without a Location", facts.name(variable.word), variable.class));
            }
        }),
    },
    Rule {
        name: "location-twice",
        id: "VUID-StandaloneSpirv-Location-04918",
        says: "members have no Location where their variable has one",
        on: On::Variables(|facts, variable, found| {
            let Some(declared) = facts.type_word(variable.element) else { return };
            let members = facts
                .module
                .decorations(declared)
                .any(|d| d.member.is_some() && d.decoration == Some(Decoration::Location));
            if is_user_interface(facts, variable)
                && facts.has_decoration(variable.word, Decoration::Location)
                && members
            {
                variable.breaks(
                    found,
                    format!("{} and members of its structure have a Location", facts.name(variable.word)),
                );
            }
        }),
    },
    Rule {
        name: "location-members",
        id: "VUID-StandaloneSpirv-Location-04919",
        says: "every member of a block without Location has one",
        on: On::Variables(|facts, variable, found| {
            if !is_user_interface(facts, variable) || !facts.type_has(variable.element, Decoration::Block) {
                return;
            }
            let Some(declared) = facts.type_word(variable.element) else { return };
            let located: std::collections::HashSet<u32> = facts
                .module
                .decorations(declared)
                .filter(|d| d.decoration == Some(Decoration::Location))
                .filter_map(|d| d.member)
                .collect();
            let count = facts.module.members(variable.element).len() as u32;
            let all = (0..count).all(|m| located.contains(&m));
            if !facts.has_decoration(variable.word, Decoration::Location) && !all {
                variable.breaks(found, format!("members of {}'s block without a Location", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "component-range",
        id: "VUID-StandaloneSpirv-Component-04920",
        says: "Component is 0 to 3",
        on: On::Decorations(&[Decoration::Component], |_, _, decorated, found| {
            if decorated.operands.first().is_some_and(|c| *c > 3) {
                found.at(decorated.instruction, "Component above 3");
            }
        }),
    },
    Rule {
        name: "component-vector",
        id: "VUID-StandaloneSpirv-Component-04921",
        says: "a vector fits into the four components from its Component on",
        on: On::Decorations(&[Decoration::Component], |facts, target, decorated, found| {
            let Some((count, width)) = decorated_type(facts, target, decorated).and_then(|ty| components(facts, ty))
            else {
                return;
            };
            let first = decorated.operands.first().copied().unwrap_or(0);
            if width <= 32 && first <= 3 && count + first > 4 {
                found.at(decorated.instruction, format!("{count} components from component {first} on, at most 4 fit"));
            }
        }),
    },
    Rule {
        name: "component-wide-vector",
        id: "VUID-StandaloneSpirv-Component-04922",
        says: "a 64-bit vector fits, two components each",
        on: On::Decorations(&[Decoration::Component], |facts, target, decorated, found| {
            let Some((count, width)) = decorated_type(facts, target, decorated).and_then(|ty| components(facts, ty))
            else {
                return;
            };
            let first = decorated.operands.first().copied().unwrap_or(0);
            if width == 64 && matches!(count, 1 | 2) && matches!(first, 0 | 2) && 2 * count + first > 4 {
                found.at(
                    decorated.instruction,
                    format!("{count} 64-bit components from component {first} on do not fit"),
                );
            }
        }),
    },
    Rule {
        name: "component-wide-odd",
        id: "VUID-StandaloneSpirv-Component-04923",
        says: "64-bit scalars and pairs start at component 0 or 2",
        on: On::Decorations(&[Decoration::Component], |facts, target, decorated, found| {
            let Some((count, width)) = decorated_type(facts, target, decorated).and_then(|ty| components(facts, ty))
            else {
                return;
            };
            if width == 64 && count <= 2 && matches!(decorated.operands.first(), Some(1 | 3)) {
                found.at(decorated.instruction, "a 64-bit value at an odd component");
            }
        }),
    },
    Rule {
        name: "component-wide-long",
        id: "VUID-StandaloneSpirv-Component-07703",
        says: "64-bit vectors of three and four have no Component",
        on: On::Decorations(&[Decoration::Component], |facts, target, decorated, found| {
            let Some((count, width)) = decorated_type(facts, target, decorated).and_then(|ty| components(facts, ty))
            else {
                return;
            };
            if width == 64 && count > 2 {
                found.at(decorated.instruction, "Component on a 64-bit vector of more than two components");
            }
        }),
    },
    Rule {
        name: "component-type",
        id: "VUID-StandaloneSpirv-Component-10583",
        says: "Component only on scalars, vectors and arrays of them",
        on: On::Decorations(&[Decoration::Component], |facts, target, decorated, found| {
            let ty = decorated_type(facts, target, decorated);
            if ty.is_some_and(|ty| components(facts, ty).is_none()) {
                found.at(decorated.instruction, "Component on something other than scalars and vectors");
            }
        }),
    },
    Rule {
        name: "shared-layouts",
        id: "VUID-StandaloneSpirv-GLSLShared-04669",
        says: "GLSLShared and GLSLPacked are not used",
        on: On::Decorations(&[Decoration::GLSLShared, Decoration::GLSLPacked], |_, _, decorated, found| {
            found.at(decorated.instruction, "GLSLShared or GLSLPacked, expected explicit offsets");
        }),
    },
    Rule {
        name: "tessellation-levels",
        id: "VUID-StandaloneSpirv-TessLevelInner-10880",
        says: "TessLevelInner and TessLevelOuter are decorated Patch",
        on: On::Variables(|facts, variable, found| {
            let level =
                matches!(facts.built_in(variable.word), Some(BuiltIn::TessLevelInner | BuiltIn::TessLevelOuter));
            if level && !facts.has_decoration(variable.word, Decoration::Patch) {
                variable.breaks(found, "a tessellation level without Patch");
            }
        }),
    },
    Rule {
        name: "interpolation-class",
        id: "VUID-StandaloneSpirv-Flat-04670",
        says: "Flat, NoPerspective, Sample and Centroid only on Input and Output",
        on: On::Decorations(INTERPOLATION, |facts, target, decorated, found| {
            let wrong = class_outside(facts, target, decorated, is_interface);
            if let (Some(class), Some(decoration)) = (wrong, decorated.decoration) {
                found.at(decorated.instruction, format!("{decoration} on {class}, expected Input or Output"));
            }
        }),
    },
    Rule {
        name: "interpolation-fragment-output",
        id: "VUID-StandaloneSpirv-Flat-06201",
        says: "no interpolation decorations on outputs of fragment stages",
        on: On::Decorations(INTERPOLATION, |facts, target, decorated, found| {
            interpolation_in(facts, target, decorated, found, StorageClass::Output, ExecutionModel::Fragment);
        }),
    },
    Rule {
        name: "interpolation-vertex-input",
        id: "VUID-StandaloneSpirv-Flat-06202",
        says: "no interpolation decorations on inputs of vertex stages",
        on: On::Decorations(INTERPOLATION, |facts, target, decorated, found| {
            interpolation_in(facts, target, decorated, found, StorageClass::Input, ExecutionModel::Vertex);
        }),
    },
    Rule {
        name: "flat-integers",
        id: "VUID-StandaloneSpirv-Flat-04744",
        says: "integer and double inputs of fragment stages are Flat",
        on: On::Variables(|facts, variable, found| {
            let fragment = || facts.entries_using(variable.word).any(|e| e.model == Some(ExecutionModel::Fragment));
            let struct_member = matches!(facts.module.ty(variable.element), Type::Struct { .. });
            let flat = facts.has_decoration(variable.word, Decoration::Flat)
                || facts.has_decoration(variable.word, Decoration::PerVertexKHR);
            if variable.class == StorageClass::Input
                && fragment()
                && !struct_member
                && facts.contents(variable.ty).any(Contents::EXACT)
                && !flat
            {
                variable
                    .breaks(found, format!("{} holds integers or doubles and is not Flat", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "per-vertex-place",
        id: "VUID-StandaloneSpirv-PerVertexKHR-06777",
        says: "PerVertexKHR only on inputs of fragment stages",
        on: On::Decorations(&[Decoration::PerVertexKHR], |facts, target, decorated, found| {
            let wrong = match facts.variable(target) {
                Some(variable) => {
                    variable.class != StorageClass::Input
                        || facts.user_outside(target, |m| m == ExecutionModel::Fragment).is_some()
                }
                // Of a member the variables of its structure say where it is.
                None => decorated.member.is_none(),
            };
            if wrong {
                let message = format!("PerVertexKHR on {}, which is no input of a fragment stage", facts.name(target));
                found.at(decorated.instruction, message);
            }
        }),
    },
    Rule {
        name: "per-vertex-array",
        id: "VUID-StandaloneSpirv-Input-06778",
        says: "inputs decorated PerVertexKHR are arrays",
        on: On::Variables(|facts, variable, found| {
            let array = matches!(facts.module.ty(variable.ty), Type::Array { .. } | Type::RuntimeArray { .. });
            if facts.has_decoration(variable.word, Decoration::PerVertexKHR)
                && variable.class == StorageClass::Input
                && !array
            {
                variable.breaks(found, format!("PerVertexKHR on {}, which is no array", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "rounding-mode",
        id: "VUID-StandaloneSpirv-FPRoundingMode-04675",
        says: "FPRoundingMode is RTE or RTZ",
        on: On::Decorations(&[Decoration::FPRoundingMode], |_, _, decorated, found| {
            let mode = decorated.operands.first().and_then(|word| FPRoundingMode::from_word(*word));
            if let Some(mode) = mode.filter(|m| !matches!(m, FPRoundingMode::RTE | FPRoundingMode::RTZ)) {
                found.at(decorated.instruction, format!("FPRoundingMode {mode}, expected RTE or RTZ"));
            }
        }),
    },
    Rule {
        name: "rounding-mode-place",
        id: "SPIR-V specification, FPRoundingMode: only on a width-only conversion whose result is stored as a 16-bit float",
        says: "FPRoundingMode only on float conversions to 16 bits",
        on: On::Decorations(&[Decoration::FPRoundingMode], |facts, target, decorated, found| {
            let definition = facts.module.definition_of_word(target);
            let narrows = definition.is_some_and(|d| {
                let ty = d.result_type().and_then(|word| facts.module.type_declared(word));
                d.op == Some(Op::FConvert) && ty.and_then(|ty| facts.width(ty)) == Some(16)
            });
            if !narrows {
                found.at(decorated.instruction, "FPRoundingMode on something other than OpFConvert to 16 bits");
            }
        }),
    },
    Rule {
        name: "invariant-class",
        id: "VUID-StandaloneSpirv-Invariant-04677",
        says: "Invariant only on Input and Output",
        on: On::Decorations(&[Decoration::Invariant], |facts, target, decorated, found| {
            if let Some(class) = class_outside(facts, target, decorated, is_interface) {
                found.at(decorated.instruction, format!("Invariant on {class}, expected Input or Output"));
            }
        }),
    },
    Rule {
        name: "fast-math-transform",
        id: "SPIR-V specification, FP Fast Math Mode: AllowTransform needs AllowReassoc and AllowContract (decoration)",
        says: "AllowTransform in a decoration comes with AllowReassoc and AllowContract",
        on: On::Decorations(&[Decoration::FPFastMathMode], |_, _, decorated, found| {
            if decorated.operands.first().is_some_and(|flags| lacks_for_transform(*flags)) {
                found.at(decorated.instruction, "AllowTransform without AllowReassoc and AllowContract");
            }
        }),
    },
    Rule {
        name: "fast-math-no-contraction",
        id: "SPIR-V specification, FPFastMathMode: not on what is decorated NoContraction",
        says: "FPFastMathMode and NoContraction exclude each other",
        on: On::Decorations(&[Decoration::FPFastMathMode], |facts, target, decorated, found| {
            if facts.has_decoration(target, Decoration::NoContraction) {
                found.at(decorated.instruction, "FPFastMathMode on what is decorated NoContraction");
            }
        }),
    },
];
