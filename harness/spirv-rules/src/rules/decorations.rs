//! Decorations: permitted targets and combinations.

use super::analysis::facts::{Facts, ModuleVariable};
use super::analysis::type_contents::TypeContents;
use super::{Check, Findings, Rule, Severity};
use assay_spirv::module::{DecorationRef, Type, TypeId};
use assay_spirv::tables::{BuiltIn, Decoration, ExecutionModel, FPFastMathMode, FPRoundingMode, Op, StorageClass};

/// Returns whether AllowTransform is set without AllowReassoc and AllowContract.
pub(super) fn has_incomplete_transform(flags: u32) -> bool {
    let flags = FPFastMathMode(flags);
    let needed = FPFastMathMode(FPFastMathMode::ALLOW_REASSOC.0 | FPFastMathMode::ALLOW_CONTRACT.0);
    flags.contains(FPFastMathMode::ALLOW_TRANSFORM) && !flags.contains(needed)
}

/// Variables that a decoration applies to: the target, or for a member decoration the variables of
/// that structure.
fn variables<'a>(
    facts: &'a Facts,
    target: u32,
    decorated: &DecorationRef,
) -> impl Iterator<Item = &'a ModuleVariable<'a>> {
    let own = facts.variable(target).filter(|_| decorated.member.is_none());
    let member = decorated.member.into_iter().flat_map(move |_| facts.variables_of(target));
    own.into_iter().chain(member)
}

/// First storage class of the decorated variables that `allowed` rejects.
fn class_outside(
    facts: &Facts,
    target: u32,
    decorated: &DecorationRef,
    allowed: impl Fn(StorageClass) -> bool,
) -> Option<StorageClass> {
    variables(facts, target, decorated).map(|v| v.class).find(|class| !allowed(*class))
}

fn is_interface(class: StorageClass) -> bool {
    matches!(class, StorageClass::Input | StorageClass::Output)
}

/// Type of the decorated variable or member.
fn decorated_type(facts: &Facts, target: u32, decorated: &DecorationRef) -> Option<TypeId> {
    match decorated.member {
        Some(member) => facts.module.members(facts.module.type_declared(target)?).get(member as usize).copied(),
        None => facts.variable(target).map(|v| v.ty),
    }
}

/// Number and width of the components of a scalar or vector, with enclosing arrays removed.
fn components(facts: &Facts, ty: TypeId) -> Option<(u32, u32)> {
    let (element, _) = assay_spirv::reflect::elements(facts.module, ty);
    match *facts.module.ty(element) {
        Type::Int { width, .. } | Type::Float { width, .. } => Some((1, width)),
        Type::Vector { component, count } => Some((count, facts.width(component)?)),
        _ => None,
    }
}

const INTERPOLATION: &[Decoration] =
    &[Decoration::Flat, Decoration::NoPerspective, Decoration::Sample, Decoration::Centroid];

/// Reports an interpolation decoration on a variable of `class` that an entry point of `model`
/// uses.
fn report_interpolation(
    facts: &Facts,
    target: u32,
    decorated: &DecorationRef,
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
        found.report(decorated.instruction, format!("{decoration} on a variable in {class} of {model}"));
    }
}

/// Returns whether a variable is a user-defined input or output, that is, neither a built-in nor a
/// block of built-ins.
fn is_user_interface(facts: &Facts, variable: &ModuleVariable) -> bool {
    let members = || {
        let declared = facts.type_word(variable.element);
        declared.is_some_and(|word| facts.module.decorations(word).any(|d| d.decoration == Some(Decoration::BuiltIn)))
    };
    is_interface(variable.class) && facts.built_in(variable.word).is_none() && !members()
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "location-class",
        id: "VUID-StandaloneSpirv-Location-06672",
        requirement: "Location and Component must decorate variables of interface storage classes only",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::Location, Decoration::Component], |facts, target, decorated, found| {
            use StorageClass as S;
            // TileImageEXT is not in the VUID's list, but tile images take their location from the
            // attachment.
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
                found.report(
                    decorated.instruction,
                    format!("{decoration} on a variable in {class}, which is not an interface storage class"),
                );
            }
        }),
    },
    Rule {
        name: "location-built-in",
        id: "VUID-StandaloneSpirv-Location-04915",
        requirement: "a built-in must not have Location or Component",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::Location, Decoration::Component], |facts, target, decorated, found| {
            let beside = facts
                .module
                .decorations(target)
                .any(|d| d.decoration == Some(Decoration::BuiltIn) && d.member == decorated.member);
            if beside {
                found.report(decorated.instruction, "Location or Component on a built-in");
            }
        }),
    },
    Rule {
        name: "location-missing",
        id: "VUID-StandaloneSpirv-Location-04917",
        requirement: "a user-defined Input or Output variable that is not a block must have a Location",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let block = facts.type_has(variable.element, Decoration::Block);
            if is_user_interface(facts, variable)
                && facts.is_listed(variable.word)
                && !block
                && !facts.has_decoration(variable.word, Decoration::Location)
            {
                variable
                    .report(found, format!("{} in {} without a Location", facts.name(variable.word), variable.class));
            }
        }),
    },
    Rule {
        name: "location-twice",
        id: "VUID-StandaloneSpirv-Location-04918",
        requirement: "if a variable has a Location, the members of its structure must not have one",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let Some(declared) = facts.type_word(variable.element) else { return };
            let members = facts
                .module
                .decorations(declared)
                .any(|d| d.member.is_some() && d.decoration == Some(Decoration::Location));
            if is_user_interface(facts, variable)
                && facts.has_decoration(variable.word, Decoration::Location)
                && members
            {
                variable.report(
                    found,
                    format!("{} has a Location, and so do members of its structure", facts.name(variable.word)),
                );
            }
        }),
    },
    Rule {
        name: "location-members",
        id: "VUID-StandaloneSpirv-Location-04919",
        requirement: "if a block variable has no Location, every member of the block must have one",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
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
                variable.report(
                    found,
                    format!("{} has no Location, and not every member of its block has one", facts.name(variable.word)),
                );
            }
        }),
    },
    Rule {
        name: "component-range",
        id: "VUID-StandaloneSpirv-Component-04920",
        requirement: "Component must be 0 to 3",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::Component], |_, _, decorated, found| {
            if decorated.operands.first().is_some_and(|c| *c > 3) {
                found.report(decorated.instruction, "Component is above 3");
            }
        }),
    },
    Rule {
        name: "component-vector",
        id: "VUID-StandaloneSpirv-Component-04921",
        requirement: "the components of a vector of up to 32-bit values must not exceed component 3",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::Component], |facts, target, decorated, found| {
            let Some((count, width)) = decorated_type(facts, target, decorated).and_then(|ty| components(facts, ty))
            else {
                return;
            };
            let first = decorated.operands.first().copied().unwrap_or(0);
            if width <= 32 && first <= 3 && count + first > 4 {
                found.report(
                    decorated.instruction,
                    format!("{count} components from component {first} on exceed component 3"),
                );
            }
        }),
    },
    Rule {
        name: "component-wide-vector",
        id: "VUID-StandaloneSpirv-Component-04922",
        requirement: "the components of a vector of 64-bit values, which take two components each, must not exceed component 3",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::Component], |facts, target, decorated, found| {
            let Some((count, width)) = decorated_type(facts, target, decorated).and_then(|ty| components(facts, ty))
            else {
                return;
            };
            let first = decorated.operands.first().copied().unwrap_or(0);
            if width == 64 && matches!(count, 1 | 2) && matches!(first, 0 | 2) && 2 * count + first > 4 {
                found.report(
                    decorated.instruction,
                    format!("{count} 64-bit components from component {first} on exceed component 3"),
                );
            }
        }),
    },
    Rule {
        name: "component-wide-odd",
        id: "VUID-StandaloneSpirv-Component-04923",
        requirement: "Component of a 64-bit scalar or vector of two must be 0 or 2",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::Component], |facts, target, decorated, found| {
            let Some((count, width)) = decorated_type(facts, target, decorated).and_then(|ty| components(facts, ty))
            else {
                return;
            };
            if width == 64 && count <= 2 && matches!(decorated.operands.first(), Some(1 | 3)) {
                found.report(decorated.instruction, "64-bit value at an odd Component, expected 0 or 2");
            }
        }),
    },
    Rule {
        name: "component-wide-long",
        id: "VUID-StandaloneSpirv-Component-07703",
        requirement: "64-bit vectors of three or four components must not have Component",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::Component], |facts, target, decorated, found| {
            let Some((count, width)) = decorated_type(facts, target, decorated).and_then(|ty| components(facts, ty))
            else {
                return;
            };
            if width == 64 && count > 2 {
                found.report(decorated.instruction, "Component on a 64-bit vector of more than two components");
            }
        }),
    },
    Rule {
        name: "component-type",
        id: "VUID-StandaloneSpirv-Component-10583",
        requirement: "Component must decorate scalars, vectors and arrays of them only",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::Component], |facts, target, decorated, found| {
            let ty = decorated_type(facts, target, decorated);
            if ty.is_some_and(|ty| components(facts, ty).is_none()) {
                found.report(
                    decorated.instruction,
                    "Component on a type other than a scalar, a vector or an array of these",
                );
            }
        }),
    },
    Rule {
        name: "shared-layouts",
        id: "VUID-StandaloneSpirv-GLSLShared-04669",
        requirement: "GLSLShared and GLSLPacked must not be used",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::GLSLShared, Decoration::GLSLPacked], |_, _, decorated, found| {
            found.report(decorated.instruction, "GLSLShared or GLSLPacked, expected Offset decorations");
        }),
    },
    Rule {
        name: "tessellation-levels",
        id: "VUID-StandaloneSpirv-TessLevelInner-10880",
        requirement: "TessLevelInner and TessLevelOuter variables must be decorated Patch",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let level =
                matches!(facts.built_in(variable.word), Some(BuiltIn::TessLevelInner | BuiltIn::TessLevelOuter));
            if level && !facts.has_decoration(variable.word, Decoration::Patch) {
                variable.report(found, "tessellation level without Patch");
            }
        }),
    },
    Rule {
        name: "interpolation-class",
        id: "VUID-StandaloneSpirv-Flat-04670",
        requirement: "Flat, NoPerspective, Sample and Centroid must decorate Input and Output variables only",
        severity: Severity::Error,
        check: Check::Decorations(INTERPOLATION, |facts, target, decorated, found| {
            let wrong = class_outside(facts, target, decorated, is_interface);
            if let (Some(class), Some(decoration)) = (wrong, decorated.decoration) {
                found.report(
                    decorated.instruction,
                    format!("{decoration} on a variable in {class}, expected Input or Output"),
                );
            }
        }),
    },
    Rule {
        name: "interpolation-fragment-output",
        id: "VUID-StandaloneSpirv-Flat-06201",
        requirement: "Output variables of Fragment must not have interpolation decorations",
        severity: Severity::Error,
        check: Check::Decorations(INTERPOLATION, |facts, target, decorated, found| {
            report_interpolation(facts, target, decorated, found, StorageClass::Output, ExecutionModel::Fragment);
        }),
    },
    Rule {
        name: "interpolation-vertex-input",
        id: "VUID-StandaloneSpirv-Flat-06202",
        requirement: "Input variables of Vertex must not have interpolation decorations",
        severity: Severity::Error,
        check: Check::Decorations(INTERPOLATION, |facts, target, decorated, found| {
            report_interpolation(facts, target, decorated, found, StorageClass::Input, ExecutionModel::Vertex);
        }),
    },
    Rule {
        name: "flat-integers",
        id: "VUID-StandaloneSpirv-Flat-04744",
        requirement: "Input variables of Fragment that contain integers or 64-bit floats must be decorated Flat",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let fragment = || facts.entries_using(variable.word).any(|e| e.model == Some(ExecutionModel::Fragment));
            let struct_member = matches!(facts.module.ty(variable.element), Type::Struct { .. });
            let flat = facts.has_decoration(variable.word, Decoration::Flat)
                || facts.has_decoration(variable.word, Decoration::PerVertexKHR);
            if variable.class == StorageClass::Input
                && fragment()
                && !struct_member
                && facts.contents(variable.ty).any(TypeContents::NOT_INTERPOLATED)
                && !flat
            {
                variable.report(
                    found,
                    format!(
                        "{} contains integers or 64-bit floats, but is not decorated Flat",
                        facts.name(variable.word)
                    ),
                );
            }
        }),
    },
    Rule {
        name: "per-vertex-place",
        id: "VUID-StandaloneSpirv-PerVertexKHR-06777",
        requirement: "PerVertexKHR must decorate Input variables of Fragment only",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::PerVertexKHR], |facts, target, decorated, found| {
            let wrong = match facts.variable(target) {
                Some(variable) => {
                    variable.class != StorageClass::Input
                        || facts.user_outside(target, |m| m == ExecutionModel::Fragment).is_some()
                }
                // A decorated member is judged by the variables of its structure.
                None => decorated.member.is_none(),
            };
            if wrong {
                let message =
                    format!("PerVertexKHR on {}, which is not an Input variable of Fragment", facts.name(target));
                found.report(decorated.instruction, message);
            }
        }),
    },
    Rule {
        name: "per-vertex-array",
        id: "VUID-StandaloneSpirv-Input-06778",
        requirement: "Input variables decorated PerVertexKHR must be arrays",
        severity: Severity::Error,
        check: Check::Variables(|facts, variable, found| {
            let array = matches!(facts.module.ty(variable.ty), Type::Array { .. } | Type::RuntimeArray { .. });
            if facts.has_decoration(variable.word, Decoration::PerVertexKHR)
                && variable.class == StorageClass::Input
                && !array
            {
                variable.report(found, format!("PerVertexKHR on {}, which is not an array", facts.name(variable.word)));
            }
        }),
    },
    Rule {
        name: "rounding-mode",
        id: "VUID-StandaloneSpirv-FPRoundingMode-04675",
        requirement: "FPRoundingMode must be RTE or RTZ",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::FPRoundingMode], |_, _, decorated, found| {
            let mode = decorated.operands.first().and_then(|word| FPRoundingMode::from_word(*word));
            if let Some(mode) = mode.filter(|m| !matches!(m, FPRoundingMode::RTE | FPRoundingMode::RTZ)) {
                found.report(decorated.instruction, format!("FPRoundingMode {mode}, expected RTE or RTZ"));
            }
        }),
    },
    Rule {
        name: "rounding-mode-place",
        id: "SPIR-V specification, FPRoundingMode: only on a width-only conversion whose result is stored as a 16-bit float",
        requirement: "FPRoundingMode must decorate OpFConvert to 16 bits only",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::FPRoundingMode], |facts, target, decorated, found| {
            let definition = facts.module.definition_of(target);
            let narrows = definition.is_some_and(|d| {
                let ty = d.result_type().and_then(|word| facts.module.type_declared(word));
                d.op == Some(Op::FConvert) && ty.and_then(|ty| facts.width(ty)) == Some(16)
            });
            if !narrows {
                found.report(decorated.instruction, "target of FPRoundingMode is not an OpFConvert to 16 bits");
            }
        }),
    },
    Rule {
        name: "invariant-class",
        id: "VUID-StandaloneSpirv-Invariant-04677",
        requirement: "Invariant must decorate Input and Output variables only",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::Invariant], |facts, target, decorated, found| {
            if let Some(class) = class_outside(facts, target, decorated, is_interface) {
                found.report(
                    decorated.instruction,
                    format!("Invariant on a variable in {class}, expected Input or Output"),
                );
            }
        }),
    },
    Rule {
        name: "fast-math-transform",
        id: "SPIR-V specification, FP Fast Math Mode: AllowTransform requires AllowReassoc and AllowContract (decoration)",
        requirement: "AllowTransform in FPFastMathMode requires AllowReassoc and AllowContract",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::FPFastMathMode], |_, _, decorated, found| {
            if decorated.operands.first().is_some_and(|flags| has_incomplete_transform(*flags)) {
                found.report(decorated.instruction, "AllowTransform without AllowReassoc and AllowContract");
            }
        }),
    },
    Rule {
        name: "fast-math-no-contraction",
        id: "SPIR-V specification, FPFastMathMode: must not be applied to a target decorated NoContraction",
        requirement: "FPFastMathMode must not decorate a target decorated NoContraction",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::FPFastMathMode], |facts, target, decorated, found| {
            if facts.has_decoration(target, Decoration::NoContraction) {
                found.report(decorated.instruction, "FPFastMathMode on a target decorated NoContraction");
            }
        }),
    },
];
