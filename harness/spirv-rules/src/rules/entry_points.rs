//! Entry points, execution models and execution modes.

use super::analysis::facts::{EntryPointFacts, Facts};
use super::{Check, Rule, Severity};
use assay_spirv::hash::FastSet;
use assay_spirv::module::{BlockIndex, Instruction, Merge, Type};
use assay_spirv::reflect::{self, WorkgroupSize};
use assay_spirv::tables::{
    BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FPFastMathMode, Op, StorageClass,
};

/// Returns whether entry points of a model declare a workgroup size.
fn declares_workgroup_size(model: ExecutionModel) -> bool {
    use ExecutionModel::{GLCompute, MeshEXT, MeshNV, TaskEXT, TaskNV};
    matches!(model, GLCompute | MeshEXT | MeshNV | TaskEXT | TaskNV)
}

/// Built-ins of an entry point's interface variables of one storage class: on the variable, or on
/// the members of its block.
fn built_ins(facts: &Facts, entry: &EntryPointFacts, class: StorageClass) -> Vec<BuiltIn> {
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

fn first_duplicate(built_ins: &[BuiltIn]) -> Option<BuiltIn> {
    let mut seen = FastSet::default();
    built_ins.iter().copied().find(|b| !seen.insert(*b))
}

/// The instruction that declares an execution mode for an entry point.
fn mode_instruction<'a>(facts: &'a Facts, entry: &EntryPointFacts, mode: ExecutionMode) -> Option<Instruction<'a>> {
    facts.module.instruction_at(entry.mode(mode)?.at)
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "entry-point-signature",
        id: "VUID-StandaloneSpirv-None-04633",
        requirement: "the function of an entry point must have no parameters and return void",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let function = facts.module.definition_of(entry.usage.function);
            let Some(function) = function.filter(|definition| definition.op == Some(Op::Function)) else {
                found.report(entry.instruction, "the entry point is not a function");
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
                found.report(
                    entry.instruction,
                    "the function of the entry point must have no parameters and return void",
                );
            }
        }),
    },
    Rule {
        name: "no-recursion",
        id: "VUID-StandaloneSpirv-None-04634",
        requirement: "the call graph must not contain a cycle",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            let module = facts.module;
            let functions = module.functions();
            let called = |f: usize| {
                let calls = module.instructions_in(functions[f].instructions.clone());
                let calls = calls.filter(|i| i.op == Some(Op::FunctionCall)).filter_map(|i| i.operand(0));
                calls.filter_map(|word| module.function_index(word)).collect::<Vec<_>>()
            };
            // Depth-first search. 0: not visited, 1: on the stack, 2: finished. Each function is
            // entered once.
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
                            let definition = module.definition_of(functions[next].id);
                            if let Some(definition) = definition {
                                let name = facts.name(functions[next].id);
                                found.report(definition, format!("{name} calls itself, directly or through others"));
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
        id: "vulkan-environment-for-spirv, Capabilities: the capability of the execution model must be listed",
        requirement: "the execution model must be one that Vulkan supports",
        severity: Severity::Error,
        check: Check::EntryPoints(|_, entry, found| {
            if let Some(ExecutionModel::Kernel) = entry.model {
                found.report(entry.instruction, "execution model Kernel, expected GLCompute");
            }
        }),
    },
    Rule {
        name: "lower-left-origin",
        id: "VUID-StandaloneSpirv-OriginLowerLeft-04653",
        requirement: "a Fragment entry point must declare OriginUpperLeft; OriginLowerLeft must not be used",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            if let Some(instruction) = mode_instruction(facts, entry, ExecutionMode::OriginLowerLeft) {
                found.report(instruction, "OriginLowerLeft, expected OriginUpperLeft");
            } else if entry.model == Some(ExecutionModel::Fragment)
                && entry.mode(ExecutionMode::OriginUpperLeft).is_none()
            {
                found.report(entry.instruction, "Fragment entry point without OriginUpperLeft");
            }
        }),
    },
    Rule {
        name: "pixel-center-integer",
        id: "VUID-StandaloneSpirv-PixelCenterInteger-04654",
        requirement: "PixelCenterInteger must not be used",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            if let Some(instruction) = mode_instruction(facts, entry, ExecutionMode::PixelCenterInteger) {
                found.report(
                    instruction,
                    "PixelCenterInteger is not permitted: pixel centres are at half-integer coordinates",
                );
            }
        }),
    },
    Rule {
        name: "repeated-input-built-in",
        id: "VUID-StandaloneSpirv-OpEntryPoint-09658",
        requirement: "no two Input variables or members in an entry point's interface may have the same built-in",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            if let Some(built_in) = first_duplicate(&built_ins(facts, entry, StorageClass::Input)) {
                found.report(entry.instruction, format!("two inputs in the interface are decorated {built_in}"));
            }
        }),
    },
    Rule {
        name: "repeated-output-built-in",
        id: "VUID-StandaloneSpirv-OpEntryPoint-09659",
        requirement: "no two Output variables or members in an entry point's interface may have the same built-in",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            if let Some(built_in) = first_duplicate(&built_ins(facts, entry, StorageClass::Output)) {
                found.report(entry.instruction, format!("two outputs in the interface are decorated {built_in}"));
            }
        }),
    },
    Rule {
        name: "one-push-constant-in-interface",
        id: "VUID-StandaloneSpirv-OpVariable-06673",
        requirement: "the interface of an entry point must not list more than one PushConstant variable",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let pushed = |word: &&u32| {
                reflect::variable(facts.module, **word).is_some_and(|(class, _)| class == StorageClass::PushConstant)
            };
            let listed = entry.usage.interface.iter().filter(pushed).collect::<FastSet<_>>().len();
            if listed > 1 && !facts.has(Capability::PushConstantBanksNV) {
                found.report(
                    entry.instruction,
                    format!("{listed} PushConstant variables in the interface, expected at most 1"),
                );
            }
        }),
    },
    Rule {
        name: "one-push-constant-in-use",
        id: "VUID-StandaloneSpirv-OpEntryPoint-06674",
        requirement: "an entry point must not statically use more than one PushConstant variable",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let pushed = |id: &&assay_spirv::module::DenseId| {
                let word = facts.module.raw_id(**id);
                reflect::variable(facts.module, word).is_some_and(|(class, _)| class == StorageClass::PushConstant)
            };
            let used = entry.usage.globals.iter().filter(pushed).count();
            if used > 1 && !facts.has(Capability::PushConstantBanksNV) {
                found.report(entry.instruction, format!("{used} PushConstant variables are used, expected at most 1"));
            }
        }),
    },
    Rule {
        name: "workgroup-size",
        id: "VUID-StandaloneSpirv-None-10685",
        requirement: "a task, mesh or compute entry point must declare LocalSize, LocalSizeId, TileShadingRateQCOM or a WorkgroupSize constant",
        severity: Severity::Error,
        check: Check::EntryPoints(|_, entry, found| {
            let rate = entry.mode(ExecutionMode::TileShadingRateQCOM).is_some();
            if entry.model.is_some_and(declares_workgroup_size) && !rate && entry.workgroup_size.is_none() {
                let message = "no LocalSize, LocalSizeId, TileShadingRateQCOM or constant decorated WorkgroupSize";
                found.report(entry.instruction, message);
            }
        }),
    },
    Rule {
        name: "local-size-id-constant",
        id: "SPIR-V specification, LocalSizeId: each size is a constant instruction",
        requirement: "the operands of LocalSizeId must be constant instructions",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::ExecutionMode, Op::ExecutionModeId], |facts, instruction, found| {
            let [_, mode, sizes @ ..] = instruction.operands() else { return };
            if *mode != ExecutionMode::LocalSizeId.word() {
                return;
            }
            if let Some(word) = sizes.iter().find(|word| !facts.is_constant(**word)) {
                found.report(instruction, format!("operand {} of LocalSizeId is not a constant", facts.name(*word)));
            }
        }),
    },
    Rule {
        name: "workgroup-size-positive",
        id: "SPIR-V specification, LocalSize: sizes are at least 1",
        requirement: "the workgroup size must be at least 1 in each dimension",
        severity: Severity::Error,
        check: Check::EntryPoints(|_, entry, found| {
            if entry.workgroup_size.is_some_and(|s| s.size.contains(&0)) {
                found.report(entry.instruction, "workgroup size 0, expected at least 1 in each dimension");
            }
        }),
    },
    Rule {
        name: "derivative-quads",
        id: "VUID-StandaloneSpirv-DerivativeGroupQuadsKHR-10151 (DerivativeGroupQuadsNV-04684)",
        requirement: "with DerivativeGroupQuadsKHR, the x and y dimensions of the workgroup must be multiples of 2",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let odd = entry.workgroup_size.is_some_and(|s| s.size[0] % 2 != 0 || s.size[1] % 2 != 0);
            if let Some(instruction) = mode_instruction(facts, entry, ExecutionMode::DerivativeGroupQuadsKHR)
                && odd
            {
                found.report(instruction, "DerivativeGroupQuadsKHR with an odd x or y dimension of the workgroup");
            }
        }),
    },
    Rule {
        name: "derivative-lines",
        id: "VUID-StandaloneSpirv-DerivativeGroupLinearKHR-10152 (DerivativeGroupLinearNV-04778)",
        requirement: "with DerivativeGroupLinearKHR, the number of invocations in the workgroup must be a multiple of 4",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let product = |s: WorkgroupSize| s.size.iter().fold(1u64, |p, n| p.saturating_mul(u64::from(*n)));
            let uneven = entry.workgroup_size.is_some_and(|s| product(s) % 4 != 0);
            if let Some(instruction) = mode_instruction(facts, entry, ExecutionMode::DerivativeGroupLinearKHR)
                && uneven
            {
                found.report(instruction, "DerivativeGroupLinearKHR with a workgroup size that is not a multiple of 4");
            }
        }),
    },
    Rule {
        name: "split-barrier-stage",
        id: "VUID-StandaloneSpirv-SplitBarrierEXT-13552",
        requirement: "SplitBarrierEXT must be used in GLCompute entry points only",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            if facts.has(Capability::SplitBarrierEXT) && entry.model.is_some_and(|m| m != ExecutionModel::GLCompute) {
                found.report(
                    entry.instruction,
                    "capability SplitBarrierEXT with an execution model other than GLCompute",
                );
            }
        }),
    },
    Rule {
        name: "mesh-kinds",
        id: "VUID-StandaloneSpirv-MeshEXT-07102",
        requirement: "a module must not have entry points of both the EXT and the NV task and mesh execution models",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            use ExecutionModel::{MeshEXT, MeshNV, TaskEXT, TaskNV};
            let of = |models: [ExecutionModel; 2]| {
                facts.entries.iter().find(|e| e.model.is_some_and(|m| models.contains(&m)))
            };
            if let (Some(_), Some(nv)) = (of([TaskEXT, MeshEXT]), of([TaskNV, MeshNV])) {
                found.report(
                    nv.instruction,
                    "entry point with an NV task or mesh execution model in a module that also has an EXT one",
                );
            }
        }),
    },
    Rule {
        name: "mesh-vertices",
        id: "VUID-StandaloneSpirv-MeshEXT-07330",
        requirement: "OutputVertices of a MeshEXT entry point must be greater than 0",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let zero = entry.mode(ExecutionMode::OutputVertices).is_some_and(|m| m.operands.first() == Some(&0));
            if entry.model == Some(ExecutionModel::MeshEXT) && zero {
                found.report(
                    mode_instruction(facts, entry, ExecutionMode::OutputVertices).unwrap_or(entry.instruction),
                    "OutputVertices 0, expected at least 1",
                );
            }
        }),
    },
    Rule {
        name: "mesh-primitives",
        id: "VUID-StandaloneSpirv-MeshEXT-07331",
        requirement: "OutputPrimitivesEXT of a MeshEXT entry point must be greater than 0",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let zero = entry.mode(ExecutionMode::OutputPrimitivesEXT).is_some_and(|m| m.operands.first() == Some(&0));
            if entry.model == Some(ExecutionModel::MeshEXT) && zero {
                found.report(
                    mode_instruction(facts, entry, ExecutionMode::OutputPrimitivesEXT).unwrap_or(entry.instruction),
                    "OutputPrimitivesEXT 0, expected at least 1",
                );
            }
        }),
    },
    Rule {
        name: "float-controls-width",
        id: "SPIR-V specification, DenormPreserve and the other float-controls modes: Target Width is a width of a floating-point type",
        requirement: "Target Width of a float-controls execution mode must be 16, 32 or 64",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            for mode in FLOAT_CONTROLS {
                let modes = entry.modes.iter().filter(|m| m.mode == Some(mode));
                for wrong in modes.filter(|m| !matches!(m.operands[..], [16 | 32 | 64])) {
                    if let Some(instruction) = facts.module.instruction_at(wrong.at) {
                        found.report(instruction, format!("{mode} for a width other than 16, 32 or 64"));
                    }
                }
            }
        }),
    },
    Rule {
        name: "float-controls-conflict",
        id: "SPIR-V specification, Execution Mode: DenormPreserve and DenormFlushToZero, RoundingModeRTE and RoundingModeRTZ exclude each other",
        requirement: "for each width, an entry point must not declare both DenormPreserve and DenormFlushToZero, nor both RoundingModeRTE and RoundingModeRTZ",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let pairs = [
                [ExecutionMode::DenormPreserve, ExecutionMode::DenormFlushToZero],
                [ExecutionMode::RoundingModeRTE, ExecutionMode::RoundingModeRTZ],
            ];
            for [one, other] in pairs {
                let widths =
                    |mode| entry.modes.iter().filter(move |m| m.mode == Some(mode)).filter_map(|m| m.operands.first());
                if let Some(width) = widths(one).find(|w| widths(other).any(|o| o == *w)) {
                    let instruction = mode_instruction(facts, entry, other).unwrap_or(entry.instruction);
                    found.report(instruction, format!("{one} and {other} for the same width {width}"));
                }
            }
        }),
    },
    Rule {
        name: "fast-math-default-excludes",
        id: "SPIR-V specification, FPFastMathDefault: must not be used with SignedZeroInfNanPreserve, ContractionOff or NoContraction",
        requirement: "an entry point with FPFastMathDefault must not declare SignedZeroInfNanPreserve or ContractionOff",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            if entry.mode(ExecutionMode::FPFastMathDefault).is_none() {
                return;
            }
            for mode in [ExecutionMode::SignedZeroInfNanPreserve, ExecutionMode::ContractionOff] {
                if let Some(instruction) = mode_instruction(facts, entry, mode) {
                    found.report(instruction, format!("{mode} in an entry point with FPFastMathDefault"));
                }
            }
        }),
    },
    Rule {
        name: "fast-math-default-decorations",
        id: "SPV_KHR_float_controls2: an entry point with FPFastMathDefault must not contain instructions decorated with NoContraction, nor a bitmask containing Fast",
        requirement: "instructions reached by an entry point with FPFastMathDefault must not be decorated with NoContraction or Fast",
        severity: Severity::Error,
        check: Check::Decorations(
            &[Decoration::NoContraction, Decoration::FPFastMathMode],
            |facts, target, decorated, found| {
                let fast =
                    decorated.operands.first().is_some_and(|mask| FPFastMathMode(*mask).contains(FPFastMathMode::FAST));
                if decorated.decoration == Some(Decoration::FPFastMathMode) && !fast {
                    return;
                }
                let Some(made) = facts.module.definition_of(target) else { return };
                if facts.entries_at(made.index).any(|entry| entry.mode(ExecutionMode::FPFastMathDefault).is_some()) {
                    let what = if fast { "Fast" } else { "NoContraction" };
                    let name = facts.name(target);
                    found.report(
                        decorated.instruction,
                        format!("{what} on {name}, in an entry point with FPFastMathDefault"),
                    );
                }
            },
        ),
    },
    Rule {
        name: "fast-math-default-operands",
        id: "SPV_KHR_float_controls2, FPFastMathDefault: Target Type must be a scalar, floating-point type; Fast-Math Mode a constant instruction that is not a specialization constant",
        requirement: "Target Type of FPFastMathDefault must be a scalar floating-point type, and Fast-Math Mode an OpConstant or OpConstantNull",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            for mode in entry.modes.iter().filter(|m| m.mode == Some(ExecutionMode::FPFastMathDefault)) {
                let [ty, flags] = mode.operands[..] else { continue };
                let Some(instruction) = facts.module.instruction_at(mode.at) else { continue };
                let float = facts.module.type_declared(ty);
                let made = facts.module.definition_of(flags).and_then(|made| made.op);
                if !float.is_some_and(|ty| matches!(facts.module.ty(ty), Type::Float { .. })) {
                    found.report(
                        instruction,
                        format!("FPFastMathDefault for {}, which is not a float type", facts.name(ty)),
                    );
                } else if made.is_some_and(|op| !matches!(op, Op::Constant | Op::ConstantNull)) {
                    let name = facts.name(flags);
                    found
                        .report(instruction, format!("Fast-Math Mode {name} is neither OpConstant nor OpConstantNull"));
                }
            }
        }),
    },
    Rule {
        name: "fast-math-default-flags",
        id: "SPIR-V specification, FP Fast Math Mode: AllowTransform requires AllowReassoc and AllowContract",
        requirement: "AllowTransform in FPFastMathDefault requires AllowReassoc and AllowContract",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let modes = entry.modes.iter().filter(|m| m.mode == Some(ExecutionMode::FPFastMathDefault));
            for mode in modes {
                let flags = mode.operands.get(1).and_then(|word| facts.module.constant_int(*word)).unwrap_or(0) as u32;
                if super::decorations::has_incomplete_transform(flags)
                    && let Some(instruction) = facts.module.instruction_at(mode.at)
                {
                    found.report(instruction, "AllowTransform without AllowReassoc and AllowContract");
                }
            }
        }),
    },
    Rule {
        name: "reconverging-repack",
        id: "VUID-StandaloneSpirv-MaximallyReconvergesKHR-09565",
        requirement: "an entry point with MaximallyReconvergesKHR must not use instructions that repack invocations",
        severity: Severity::Error,
        check: Check::Instructions(
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
                    found.report(
                        instruction,
                        "instruction that repacks invocations in an entry point with MaximallyReconvergesKHR",
                    );
                }
            },
        ),
    },
    Rule {
        name: "reconverging-predecessors",
        id: "SPV_KHR_maximal_reconvergence, 2.11 Structured Control Flow: the only Basic Blocks that may have multiple unique predecessors",
        requirement: "in an entry point with MaximallyReconvergesKHR, only loop headers, merge blocks, Continue Targets and targets of OpSwitch may have several predecessors",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Label], |facts, instruction, found| {
            let module = facts.module;
            let Some(block) = instruction.result().and_then(|word| module.block_of(word)) else { return };
            let from = facts.branches().to(block);
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
                found.report(
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
