//! Decorations: what they may stand on, and together with what. Built-ins.

use super::contents::Contents;
use super::facts::{Facts, Variable};
use super::{Findings, On, Rule, Severity};
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

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "location-class",
        id: "VUID-StandaloneSpirv-Location-06672",
        says: "Location and Component only on interfaces",
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
        on: On::Decorations(&[Decoration::GLSLShared, Decoration::GLSLPacked], |_, _, decorated, found| {
            found.at(decorated.instruction, "GLSLShared or GLSLPacked, expected explicit offsets");
        }),
    },
    Rule {
        name: "tessellation-levels",
        id: "VUID-StandaloneSpirv-TessLevelInner-10880",
        says: "TessLevelInner and TessLevelOuter are decorated Patch",
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
        on: On::Decorations(INTERPOLATION, |facts, target, decorated, found| {
            interpolation_in(facts, target, decorated, found, StorageClass::Output, ExecutionModel::Fragment);
        }),
    },
    Rule {
        name: "interpolation-vertex-input",
        id: "VUID-StandaloneSpirv-Flat-06202",
        says: "no interpolation decorations on inputs of vertex stages",
        severity: Severity::Error,
        on: On::Decorations(INTERPOLATION, |facts, target, decorated, found| {
            interpolation_in(facts, target, decorated, found, StorageClass::Input, ExecutionModel::Vertex);
        }),
    },
    Rule {
        name: "flat-integers",
        id: "VUID-StandaloneSpirv-Flat-04744",
        says: "integer and double inputs of fragment stages are Flat",
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
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
        severity: Severity::Error,
        on: On::Decorations(&[Decoration::FPFastMathMode], |facts, target, decorated, found| {
            if facts.has_decoration(target, Decoration::NoContraction) {
                found.at(decorated.instruction, "FPFastMathMode on what is decorated NoContraction");
            }
        }),
    },
];
