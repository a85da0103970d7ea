//! Uniqueness of decorations, execution modes and labels, and existence of their targets.

use super::analysis::facts::Facts;
use super::opcode_groups::FIRST_EXTENSION_NUMBER;
use super::{Check, Rule, Severity};
use assay_spirv::hash::FastSet;
use assay_spirv::module::Type;
use assay_spirv::tables::{Decoration, ExecutionMode, Op};

/// Decorations that assign a single value to their target.
const SINGLE_VALUED: &[Decoration] = &[
    Decoration::SpecId,
    Decoration::ArrayStride,
    Decoration::MatrixStride,
    Decoration::BuiltIn,
    Decoration::Stream,
    Decoration::Location,
    Decoration::Component,
    Decoration::Index,
    Decoration::Binding,
    Decoration::DescriptorSet,
    Decoration::Offset,
    Decoration::XfbBuffer,
    Decoration::XfbStride,
    Decoration::FPRoundingMode,
    Decoration::FPFastMathMode,
    Decoration::InputAttachmentIndex,
    Decoration::Alignment,
];

/// Execution modes that may be declared once for each width or type, their first operand.
const REPEATABLE_MODES: &[ExecutionMode] = &[
    ExecutionMode::DenormPreserve,
    ExecutionMode::DenormFlushToZero,
    ExecutionMode::SignedZeroInfNanPreserve,
    ExecutionMode::RoundingModeRTE,
    ExecutionMode::RoundingModeRTZ,
    ExecutionMode::RoundingModeRTPINTEL,
    ExecutionMode::RoundingModeRTNINTEL,
    ExecutionMode::FloatingPointModeALTINTEL,
    ExecutionMode::FloatingPointModeIEEEINTEL,
    ExecutionMode::FPFastMathDefault,
];

/// Number of members of a structure. `None` if the word does not denote a structure.
fn member_count(facts: &Facts, word: u32) -> Option<usize> {
    let ty = facts.module.type_declared(word)?;
    matches!(facts.module.ty(ty), Type::Struct { .. }).then(|| facts.module.members(ty).len())
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "decoration-values",
        id: "SPIR-V specification, Decoration: a decoration states the Offset, ArrayStride, Binding or other value of its target",
        requirement: "a decoration must not give a target two different values",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            // Decorations are sorted by target and member.
            let mut of = None;
            let mut known: Vec<(Decoration, &[u32])> = Vec::new();
            for (target, decorated) in facts.module.all_decorations() {
                if of != Some((target, decorated.member)) {
                    of = Some((target, decorated.member));
                    known.clear();
                }
                let Some(decoration) = decorated.decoration.filter(|d| SINGLE_VALUED.contains(d)) else { continue };
                if known.iter().any(|(d, value)| *d == decoration && *value != decorated.operands) {
                    let name = facts.name(target);
                    let member = decorated.member.map_or_else(String::new, |member| format!("member {member} of "));
                    found.report(
                        decorated.instruction,
                        format!("{decoration} gives {member}{name} a second, different value"),
                    );
                }
                known.push((decoration, decorated.operands));
            }
        }),
    },
    Rule {
        name: "decorated-member",
        id: "SPIR-V specification, OpMemberDecorate, OpMemberName: Member is the number of the member; the type is from OpTypeStruct",
        requirement: "OpMemberDecorate and OpMemberName must name a structure type and one of its members",
        severity: Severity::Error,
        check: Check::Instructions(
            &[Op::MemberDecorate, Op::MemberDecorateString, Op::MemberName],
            |facts, instruction, found| {
                let [word, member, ..] = *instruction.operands() else { return };
                let made = facts.module.definition_of(word).and_then(|made| made.op);
                let name = facts.name(word);
                match (made, member_count(facts, word)) {
                    (Some(_), Some(count)) if member as usize >= count => {
                        found.report(instruction, format!("member {member} of {name}, which has only {count}"));
                    }
                    (Some(op), None) => {
                        found.report(
                            instruction,
                            format!(
                                "member {member} of {name}, which is the result of {op}, expected a structure type"
                            ),
                        );
                    }
                    _ => {}
                }
            },
        ),
    },
    Rule {
        name: "execution-mode-once",
        id: "SPIR-V specification, OpExecutionMode: it is invalid to apply the same execution mode more than once; 2.16.1: at most one of LocalSize and LocalSizeId",
        requirement: "an execution mode must be declared at most once for each entry point (for some modes: once for each width or type), and at most one of LocalSize and LocalSizeId",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let mut seen = FastSet::default();
            for mode in &entry.modes {
                let Some(which) = mode.mode else { continue };
                let first = mode.operands.first().copied().filter(|_| REPEATABLE_MODES.contains(&which));
                // LocalSize and LocalSizeId both declare the workgroup size.
                let key = if which == ExecutionMode::LocalSizeId { ExecutionMode::LocalSize } else { which };
                if !seen.insert((key, first))
                    && let Some(instruction) = facts.module.instruction_at(mode.at)
                {
                    found.report(instruction, format!("second {which} for {}", entry.usage.name));
                }
            }
        }),
    },
    Rule {
        name: "spec-id-target",
        id: "SPIR-V specification, Decoration, SpecId: apply only to a scalar specialization constant",
        requirement: "SpecId must decorate a scalar specialization constant",
        severity: Severity::Error,
        check: Check::Decorations(&[Decoration::SpecId], |facts, target, decorated, found| {
            let made = facts.module.definition_of(target).and_then(|made| made.op);
            let scalar = matches!(made, None | Some(Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse));
            if let Some(op) = made.filter(|op| !scalar && u32::from(*op as u16) < FIRST_EXTENSION_NUMBER) {
                found.report(
                    decorated.instruction,
                    format!(
                        "SpecId on {}, which is the result of {op}, expected a scalar specialization constant",
                        facts.name(target)
                    ),
                );
            }
        }),
    },
    Rule {
        name: "entry-point-called",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: no function is targeted by both an OpEntryPoint and an OpFunctionCall",
        requirement: "an entry point must not be the target of OpFunctionCall",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::FunctionCall], |facts, instruction, found| {
            let Some(called) = instruction.operand(0) else { return };
            if facts.entries.iter().any(|entry| entry.usage.function == called) {
                found.report(instruction, format!("call of {}, which is an entry point", facts.name(called)));
            }
        }),
    },
    Rule {
        name: "switch-literals",
        id: "SPIR-V specification, OpSwitch: it is invalid for any two literal to be equal to each other",
        requirement: "the literals of OpSwitch must be distinct",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Switch], |facts, instruction, found| {
            let words = facts.module.switch_literal_words(instruction);
            let targets = instruction.operands().get(2..).unwrap_or_default().chunks_exact(words + 1);
            let mut seen = FastSet::default();
            if let Some(twice) = targets.map(|target| &target[..words]).find(|literal| !seen.insert(*literal)) {
                found.report(instruction, format!("literal {} occurs twice", twice[0]));
            }
        }),
    },
    Rule {
        name: "branch-labels",
        id: "SPIR-V specification, OpBranchConditional: from 1.6 on, and under MaximallyReconvergesKHR, True Label and False Label must not be the same; no or two Branch Weights, at least one non-zero",
        requirement: "True Label and False Label of OpBranchConditional must differ (from SPIR-V 1.6 on, and with MaximallyReconvergesKHR); there must be no Branch Weights or two, of which at least one is not 0",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::BranchConditional], |facts, instruction, found| {
            let [_, yes, no, weights @ ..] = instruction.operands() else { return };
            let newer = facts.module.version() >= assay_spirv::grammar::Version::v1(6);
            if yes == no && (newer || facts.reconverges(instruction.index)) {
                found.report(instruction, "True Label and False Label are the same");
            } else if !matches!(weights, [] | [_, _]) || matches!(weights, [0, 0]) {
                found.report(instruction, "Branch Weights are neither absent nor two, or both are 0");
            }
        }),
    },
];
