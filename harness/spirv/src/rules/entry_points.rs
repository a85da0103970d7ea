//! Entry points, execution models and execution modes.

use super::facts::{Entry, Facts};
use super::{On, Rule, Severity};
use crate::hash::FastSet;
use crate::module::{BlockIndex, Instruction, Merge, Type};
use crate::reflect::{self, WorkgroupSize};
use crate::tables::{BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FPFastMathMode, Op, StorageClass};

/// Models that say how large their workgroups are.
fn states_workgroup(model: ExecutionModel) -> bool {
    use ExecutionModel::{GLCompute, MeshEXT, MeshNV, TaskEXT, TaskNV};
    matches!(model, GLCompute | MeshEXT | MeshNV | TaskEXT | TaskNV)
}

/// The interface variables of a storage class, with their built-ins: their own, or of the members of their block.
fn built_ins(facts: &Facts, entry: &Entry, class: StorageClass) -> Vec<BuiltIn> {
    let mut found = Vec::new();
    for word in &entry.usage.interface {
        let Some((_, ty)) = reflect::variable(facts.module, *word).filter(|(c, _)| *c == class) else { continue };
        found.extend(facts.built_in(*word));
        let (element, _) = reflect::elements(facts.module, ty);
        if let (Type::Struct { .. }, Some(declared)) = (facts.module.ty(element), facts.type_word(element)) {
            let members = facts.module.decorations(declared).filter(|d| d.decoration == Some(Decoration::BuiltIn));
            found.extend(members.filter_map(|d| BuiltIn::from_word(*d.operands.first()?)));
        }
    }
    found
}

fn repeated(built_ins: &[BuiltIn]) -> Option<BuiltIn> {
    let mut seen = FastSet::default();
    built_ins.iter().copied().find(|b| !seen.insert(*b))
}

/// The instruction that says an execution mode.
fn mode_instruction<'a>(facts: &'a Facts, entry: &Entry, mode: ExecutionMode) -> Option<Instruction<'a>> {
    facts.module.instruction_at(entry.mode(mode)?.at)
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "entry-point-signature",
        id: "VUID-StandaloneSpirv-None-04633",
        says: "an entry point has no parameters and returns nothing",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let function = facts.module.definition_of_word(entry.usage.function);
            let Some(function) = function.filter(|definition| definition.op == Some(Op::Function)) else {
                found.at(entry.instruction, "the entry point is no function");
                return;
            };
            let ty = function.operand(1).and_then(|word| facts.module.type_declared(word));
            let is_void = ty.is_some_and(|ty| match facts.module.ty(ty) {
                Type::Function { returns, .. } => {
                    *facts.module.ty(*returns) == Type::Void && facts.module.members(ty).is_empty()
                }
                _ => false,
            });
            let made = function.result_type().and_then(|word| facts.module.type_declared(word));
            if !is_void || made.is_some_and(|ty| *facts.module.ty(ty) != Type::Void) {
                found.at(
                    entry.instruction,
                    "the entry point's function has parameters or a result, or no function's type: expected neither",
                );
            }
        }),
    },
    Rule {
        name: "no-recursion",
        id: "VUID-StandaloneSpirv-None-04634",
        says: "no function calls itself, be it through others",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            let module = facts.module;
            let functions = module.functions();
            let called = |f: usize| {
                let calls = module.instructions_in(functions[f].instructions.clone());
                let calls = calls.filter(|i| i.op == Some(Op::FunctionCall)).filter_map(|i| i.operand(0));
                calls.filter_map(|word| module.function_place(word)).collect::<Vec<_>>()
            };
            // 0: not seen, 1: being followed, 2: done. Each function is entered once.
            let mut state = vec![0u8; functions.len()];
            for start in 0..functions.len() {
                if state[start] != 0 {
                    continue;
                }
                state[start] = 1;
                let mut stack = vec![(start, called(start))];
                while let Some((function, rest)) = stack.last_mut() {
                    match rest.pop() {
                        Some(next) if state[next] == 1 => {
                            let definition = module.definition_of_word(functions[next].id);
                            if let Some(definition) = definition {
                                let name = facts.name(functions[next].id);
                                found.at(definition, format!("{name} calls itself, directly or through others"));
                            }
                        }
                        Some(next) if state[next] == 0 => {
                            state[next] = 1;
                            stack.push((next, called(next)));
                        }
                        Some(_) => {}
                        None => {
                            state[*function] = 2;
                            stack.pop();
                        }
                    }
                }
            }
        }),
    },
    Rule {
        name: "execution-model",
        id: "vulkan-environment-for-spirv, Capabilities: models come with capabilities that Vulkan lists",
        says: "the execution model is one of Vulkan's",
        severity: Severity::Error,
        on: On::EntryPoints(|_, entry, found| {
            if let Some(ExecutionModel::Kernel) = entry.model {
                found.at(entry.instruction, "execution model Kernel, which Vulkan does not have: expected GLCompute");
            }
        }),
    },
    Rule {
        name: "lower-left-origin",
        id: "VUID-StandaloneSpirv-OriginLowerLeft-04653",
        says: "fragment entry points declare OriginUpperLeft, never OriginLowerLeft",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            if let Some(instruction) = mode_instruction(facts, entry, ExecutionMode::OriginLowerLeft) {
                found.at(instruction, "OriginLowerLeft, expected OriginUpperLeft");
            } else if entry.model == Some(ExecutionModel::Fragment)
                && entry.mode(ExecutionMode::OriginUpperLeft).is_none()
            {
                found.at(entry.instruction, "a fragment entry point without OriginUpperLeft");
            }
        }),
    },
    Rule {
        name: "pixel-center-integer",
        id: "VUID-StandaloneSpirv-PixelCenterInteger-04654",
        says: "PixelCenterInteger is not used",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            if let Some(instruction) = mode_instruction(facts, entry, ExecutionMode::PixelCenterInteger) {
                found.at(instruction, "PixelCenterInteger: pixels are centred at half-integer coordinates");
            }
        }),
    },
    Rule {
        name: "repeated-input-built-in",
        id: "VUID-StandaloneSpirv-OpEntryPoint-09658",
        says: "an entry point's inputs have each built-in once",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            if let Some(built_in) = repeated(&built_ins(facts, entry, StorageClass::Input)) {
                found.at(entry.instruction, format!("two inputs of the interface are {built_in}"));
            }
        }),
    },
    Rule {
        name: "repeated-output-built-in",
        id: "VUID-StandaloneSpirv-OpEntryPoint-09659",
        says: "an entry point's outputs have each built-in once",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            if let Some(built_in) = repeated(&built_ins(facts, entry, StorageClass::Output)) {
                found.at(entry.instruction, format!("two outputs of the interface are {built_in}"));
            }
        }),
    },
    Rule {
        name: "one-push-constant-in-interface",
        id: "VUID-StandaloneSpirv-OpVariable-06673",
        says: "an interface lists one push constant variable at most",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let pushed = |word: &&u32| {
                reflect::variable(facts.module, **word).is_some_and(|(class, _)| class == StorageClass::PushConstant)
            };
            let listed = entry.usage.interface.iter().filter(pushed).collect::<FastSet<_>>().len();
            if listed > 1 && !facts.has(Capability::PushConstantBanksNV) {
                found.at(
                    entry.instruction,
                    format!("{listed} push constant variables in the interface, at most 1 can be"),
                );
            }
        }),
    },
    Rule {
        name: "one-push-constant-in-use",
        id: "VUID-StandaloneSpirv-OpEntryPoint-06674",
        says: "an entry point uses one push constant variable at most",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let pushed = |id: &&crate::module::Id| {
                let word = facts.module.word(**id);
                reflect::variable(facts.module, word).is_some_and(|(class, _)| class == StorageClass::PushConstant)
            };
            let used = entry.usage.globals.iter().filter(pushed).count();
            if used > 1 && !facts.has(Capability::PushConstantBanksNV) {
                found.at(entry.instruction, format!("{used} push constant variables in use, at most 1 can be"));
            }
        }),
    },
    Rule {
        name: "workgroup-size",
        id: "VUID-StandaloneSpirv-None-10685",
        says: "task, mesh and compute entry points state their workgroup's size or their tile shading rate",
        severity: Severity::Error,
        on: On::EntryPoints(|_, entry, found| {
            let rate = entry.mode(ExecutionMode::TileShadingRateQCOM).is_some();
            if entry.model.is_some_and(states_workgroup) && !rate && entry.workgroup_size.is_none() {
                let message = "no LocalSize, LocalSizeId, TileShadingRateQCOM or constant decorated WorkgroupSize";
                found.at(entry.instruction, message);
            }
        }),
    },
    Rule {
        name: "local-size-id-constant",
        id: "SPIR-V specification, LocalSizeId: each size is a constant instruction",
        says: "the sizes of LocalSizeId are constants",
        severity: Severity::Error,
        on: On::Instructions(&[Op::ExecutionMode, Op::ExecutionModeId], |facts, instruction, found| {
            let [_, mode, sizes @ ..] = instruction.operands() else { return };
            if *mode != ExecutionMode::LocalSizeId.word() {
                return;
            }
            if let Some(word) = sizes.iter().find(|word| !facts.is_constant(**word)) {
                found.at(instruction, format!("{} is no constant, but a size of LocalSizeId", facts.name(*word)));
            }
        }),
    },
    Rule {
        name: "workgroup-size-positive",
        id: "SPIR-V specification, LocalSize: sizes are at least 1",
        says: "no dimension of a workgroup is 0",
        severity: Severity::Error,
        on: On::EntryPoints(|_, entry, found| {
            if entry.workgroup_size.is_some_and(|s| s.size.contains(&0)) {
                found.at(entry.instruction, "a workgroup size of 0, expected at least 1 in each dimension");
            }
        }),
    },
    Rule {
        name: "derivative-quads",
        id: "VUID-StandaloneSpirv-DerivativeGroupQuadsKHR-10151 (DerivativeGroupQuadsNV-04684)",
        says: "with derivative quads x and y of the workgroup are even",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let odd = entry.workgroup_size.is_some_and(|s| s.size[0] % 2 != 0 || s.size[1] % 2 != 0);
            if let Some(instruction) = mode_instruction(facts, entry, ExecutionMode::DerivativeGroupQuadsKHR)
                && odd
            {
                found.at(instruction, "derivative quads in a workgroup whose x or y is odd");
            }
        }),
    },
    Rule {
        name: "derivative-lines",
        id: "VUID-StandaloneSpirv-DerivativeGroupLinearKHR-10152 (DerivativeGroupLinearNV-04778)",
        says: "with linear derivative groups a workgroup's invocations are a multiple of four",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let product = |s: WorkgroupSize| s.size.iter().fold(1u64, |p, n| p.saturating_mul(u64::from(*n)));
            let uneven = entry.workgroup_size.is_some_and(|s| product(s) % 4 != 0);
            if let Some(instruction) = mode_instruction(facts, entry, ExecutionMode::DerivativeGroupLinearKHR)
                && uneven
            {
                found.at(instruction, "linear derivative groups in a workgroup of a size that is no multiple of four");
            }
        }),
    },
    Rule {
        name: "split-barrier-stage",
        id: "VUID-StandaloneSpirv-SplitBarrierEXT-13552",
        says: "split barriers only in compute",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            if facts.has(Capability::SplitBarrierEXT) && entry.model.is_some_and(|m| m != ExecutionModel::GLCompute) {
                found.at(entry.instruction, "capability SplitBarrierEXT in a stage other than compute");
            }
        }),
    },
    Rule {
        name: "mesh-kinds",
        id: "VUID-StandaloneSpirv-MeshEXT-07102",
        says: "a module has mesh stages of one kind, EXT or NV",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            use ExecutionModel::{MeshEXT, MeshNV, TaskEXT, TaskNV};
            let of = |models: [ExecutionModel; 2]| {
                facts.entries.iter().find(|e| e.model.is_some_and(|m| models.contains(&m)))
            };
            if let (Some(_), Some(nv)) = (of([TaskEXT, MeshEXT]), of([TaskNV, MeshNV])) {
                found.at(nv.instruction, "an entry point of a kind NV beside one of a kind EXT");
            }
        }),
    },
    Rule {
        name: "mesh-vertices",
        id: "VUID-StandaloneSpirv-MeshEXT-07330",
        says: "OutputVertices of a mesh shader is at least 1",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let zero = entry.mode(ExecutionMode::OutputVertices).is_some_and(|m| m.operands.first() == Some(&0));
            if entry.model == Some(ExecutionModel::MeshEXT) && zero {
                found.at(
                    mode_instruction(facts, entry, ExecutionMode::OutputVertices).unwrap_or(entry.instruction),
                    "OutputVertices 0, expected at least 1",
                );
            }
        }),
    },
    Rule {
        name: "mesh-primitives",
        id: "VUID-StandaloneSpirv-MeshEXT-07331",
        says: "OutputPrimitivesEXT of a mesh shader is at least 1",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let zero = entry.mode(ExecutionMode::OutputPrimitivesEXT).is_some_and(|m| m.operands.first() == Some(&0));
            if entry.model == Some(ExecutionModel::MeshEXT) && zero {
                found.at(
                    mode_instruction(facts, entry, ExecutionMode::OutputPrimitivesEXT).unwrap_or(entry.instruction),
                    "OutputPrimitivesEXT 0, expected at least 1",
                );
            }
        }),
    },
    Rule {
        name: "float-controls-width",
        id: "SPIR-V specification, DenormPreserve and its companions: Target Width is a width of a floating-point type",
        says: "a float-controls mode names 16, 32 or 64 bits",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            for mode in FLOAT_CONTROLS {
                let modes = entry.modes.iter().filter(|m| m.mode == Some(mode));
                for wrong in modes.filter(|m| !matches!(m.operands[..], [16 | 32 | 64])) {
                    if let Some(instruction) = facts.module.instruction_at(wrong.at) {
                        found.at(instruction, format!("{mode} of a width other than 16, 32 or 64"));
                    }
                }
            }
        }),
    },
    Rule {
        name: "float-controls-conflict",
        id: "SPIR-V specification, Execution Mode: DenormPreserve and DenormFlushToZero, RoundingModeRTE and RoundingModeRTZ exclude each other",
        says: "of a width's denormal modes, and of its rounding modes, an entry point has one",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let pairs = [
                [ExecutionMode::DenormPreserve, ExecutionMode::DenormFlushToZero],
                [ExecutionMode::RoundingModeRTE, ExecutionMode::RoundingModeRTZ],
            ];
            for [one, other] in pairs {
                let widths =
                    |mode| entry.modes.iter().filter(move |m| m.mode == Some(mode)).filter_map(|m| m.operands.first());
                if let Some(width) = widths(one).find(|w| widths(other).any(|o| o == *w)) {
                    let instruction = mode_instruction(facts, entry, other).unwrap_or(entry.instruction);
                    found.at(instruction, format!("{one} and {other} for the same width {width}"));
                }
            }
        }),
    },
    Rule {
        name: "fast-math-default-excludes",
        id: "SPIR-V specification, FPFastMathDefault: not with SignedZeroInfNanPreserve, ContractionOff or NoContraction",
        says: "an entry point with FPFastMathDefault uses none of the older ways to say the same",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            if entry.mode(ExecutionMode::FPFastMathDefault).is_none() {
                return;
            }
            for mode in [ExecutionMode::SignedZeroInfNanPreserve, ExecutionMode::ContractionOff] {
                if let Some(instruction) = mode_instruction(facts, entry, mode) {
                    found.at(instruction, format!("{mode} in an entry point with FPFastMathDefault"));
                }
            }
        }),
    },
    Rule {
        name: "fast-math-default-decorations",
        id: "SPV_KHR_float_controls2: an entry point with FPFastMathDefault must not contain instructions decorated with NoContraction, nor a bitmask containing Fast",
        says: "what an entry point with FPFastMathDefault reaches is not decorated with NoContraction or Fast",
        severity: Severity::Error,
        on: On::Decorations(
            &[Decoration::NoContraction, Decoration::FPFastMathMode],
            |facts, target, decorated, found| {
                let fast =
                    decorated.operands.first().is_some_and(|mask| FPFastMathMode(*mask).contains(FPFastMathMode::FAST));
                if decorated.decoration == Some(Decoration::FPFastMathMode) && !fast {
                    return;
                }
                let Some(made) = facts.module.definition_of_word(target) else { return };
                if facts.entries_at(made.index).any(|entry| entry.mode(ExecutionMode::FPFastMathDefault).is_some()) {
                    let what = if fast { "Fast" } else { "NoContraction" };
                    let name = facts.name(target);
                    found.at(
                        decorated.instruction,
                        format!("{what} on {name}, in an entry point with FPFastMathDefault"),
                    );
                }
            },
        ),
    },
    Rule {
        name: "fast-math-default-operands",
        id: "SPV_KHR_float_controls2, FPFastMathDefault: Target Type must be a scalar, floating-point type; Fast-Math Mode a constant instruction that is no specialization constant",
        says: "FPFastMathDefault is for a float type, with flags that no specialization changes",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            for mode in entry.modes.iter().filter(|m| m.mode == Some(ExecutionMode::FPFastMathDefault)) {
                let [ty, flags] = mode.operands[..] else { continue };
                let Some(instruction) = facts.module.instruction_at(mode.at) else { continue };
                let float = facts.module.type_declared(ty);
                let made = facts.module.definition_of_word(flags).and_then(|made| made.op);
                if !float.is_some_and(|ty| matches!(facts.module.ty(ty), Type::Float { .. })) {
                    found.at(instruction, format!("FPFastMathDefault for {}, which is no float type", facts.name(ty)));
                } else if made.is_some_and(|op| !matches!(op, Op::Constant | Op::ConstantNull)) {
                    let name = facts.name(flags);
                    found.at(instruction, format!("Fast-Math Mode {name} is none of OpConstant and OpConstantNull"));
                }
            }
        }),
    },
    Rule {
        name: "fast-math-default-flags",
        id: "SPIR-V specification, FP Fast Math Mode: AllowTransform needs AllowReassoc and AllowContract",
        says: "AllowTransform comes with AllowReassoc and AllowContract",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let modes = entry.modes.iter().filter(|m| m.mode == Some(ExecutionMode::FPFastMathDefault));
            for mode in modes {
                let flags = mode.operands.get(1).and_then(|word| facts.module.constant_int(*word)).unwrap_or(0) as u32;
                if super::decorations::lacks_for_transform(flags)
                    && let Some(instruction) = facts.module.instruction_at(mode.at)
                {
                    found.at(instruction, "AllowTransform without AllowReassoc and AllowContract");
                }
            }
        }),
    },
    Rule {
        name: "reconverging-repack",
        id: "VUID-StandaloneSpirv-MaximallyReconvergesKHR-09565",
        says: "an entry point that reconverges maximally uses no instruction that repacks invocations",
        severity: Severity::Error,
        on: On::Instructions(
            &[
                Op::TraceRayKHR,
                Op::ExecuteCallableKHR,
                Op::ReportIntersectionKHR,
                Op::HitObjectTraceRayNV,
                Op::ReorderThreadWithHintNV,
                Op::ReorderThreadWithHitObjectNV,
            ],
            |facts, instruction, found| {
                if facts.reconverges(instruction.index) {
                    found.at(
                        instruction,
                        "an instruction that repacks invocations, in an entry point with MaximallyReconvergesKHR",
                    );
                }
            },
        ),
    },
    Rule {
        name: "reconverging-predecessors",
        id: "SPV_KHR_maximal_reconvergence, 2.11 Structured Control Flow: the only Basic Blocks that may have multiple unique predecessors",
        says: "under maximal reconvergence ways meet only where a loop begins, at merge blocks, continue targets and the targets of OpSwitch",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Label], |facts, instruction, found| {
            let module = facts.module;
            let Some(block) = instruction.result().and_then(|word| module.block_of(word)) else { return };
            let from = facts.parents(block);
            if from.len() < 2 || !facts.reconverges(instruction.index) {
                return;
            }
            let is_case = from
                .iter()
                .any(|(_, from)| module.instruction(module.block(*from).terminator()).op == Some(Op::Switch));
            let blocks = module.function_at(instruction.index).map(|function| function.blocks.clone());
            let is_declared = blocks.into_iter().flatten().any(|other| match module.block(BlockIndex(other)).merge {
                Some(Merge::Loop { merge, continue_target }) => {
                    other == block.0 || merge == block || continue_target == block
                }
                Some(Merge::Selection { merge }) => merge == block,
                None => false,
            });
            if !is_case && !is_declared {
                let name = facts.name(module.block(block).label);
                found.at(
                    instruction,
                    format!(
                        "block {name} has {} predecessors, in an entry point with MaximallyReconvergesKHR",
                        from.len()
                    ),
                );
            }
        }),
    },
];

const FLOAT_CONTROLS: [ExecutionMode; 5] = [
    ExecutionMode::DenormPreserve,
    ExecutionMode::DenormFlushToZero,
    ExecutionMode::SignedZeroInfNanPreserve,
    ExecutionMode::RoundingModeRTE,
    ExecutionMode::RoundingModeRTZ,
];
