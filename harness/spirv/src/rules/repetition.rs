//! What may be said once of a target, and members that there are.

use super::facts::Facts;
use super::ops::FIRST_OF_EXTENSIONS;
use super::{On, Rule, Severity};
use crate::hash::FastSet;
use crate::module::Type;
use crate::tables::{Decoration, ExecutionMode, Op};

/// Decorations that give their target one value.
const VALUED: &[Decoration] = &[
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

/// Execution modes that may be stated for each width or type, which their first operand names.
const FOR_EACH: &[ExecutionMode] = &[
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

/// How many members the structure of that word has; `None` for what is no structure.
fn members(facts: &Facts, word: u32) -> Option<usize> {
    let ty = facts.module.type_declared(word)?;
    matches!(facts.module.ty(ty), Type::Struct { .. }).then(|| facts.module.members(ty).len())
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "decoration-values",
        id: "SPIR-V specification, Decoration: what is decorated has the Offset, ArrayStride, Binding, .. that the decoration states",
        says: "no decoration gives a target two values",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            // Those of one target and member stand together.
            let mut of = None;
            let mut known: Vec<(Decoration, &[u32])> = Vec::new();
            for (target, decorated) in facts.module.all_decorations() {
                if of != Some((target, decorated.member)) {
                    of = Some((target, decorated.member));
                    known.clear();
                }
                let Some(decoration) = decorated.decoration.filter(|d| VALUED.contains(d)) else { continue };
                if known.iter().any(|(d, value)| *d == decoration && *value != decorated.operands) {
                    let name = facts.name(target);
                    let member = decorated.member.map_or_else(String::new, |member| format!("member {member} of "));
                    found
                        .at(decorated.instruction, format!("{decoration} of {member}{name} has another value already"));
                }
                known.push((decoration, decorated.operands));
            }
        }),
    },
    Rule {
        name: "decorated-member",
        id: "SPIR-V specification, OpMemberDecorate, OpMemberName: Member is the number of the member; the type is from OpTypeStruct",
        says: "decorations and names are of members that a structure has",
        severity: Severity::Error,
        on: On::Instructions(
            &[Op::MemberDecorate, Op::MemberDecorateString, Op::MemberName],
            |facts, instruction, found| {
                let [word, member, ..] = *instruction.operands() else { return };
                let made = facts.module.definition_of_word(word).and_then(|made| made.op);
                let name = facts.name(word);
                match (made, members(facts, word)) {
                    (Some(_), Some(count)) if member as usize >= count => {
                        found.at(instruction, format!("member {member} of {name}, which has {count}"));
                    }
                    (Some(op), None) => {
                        found.at(instruction, format!("member {member} of {name}, which is made by {op}"));
                    }
                    _ => {}
                }
            },
        ),
    },
    Rule {
        name: "execution-mode-once",
        id: "SPIR-V specification, OpExecutionMode: it is invalid to apply the same execution mode more than once; 2.16.1: at most one of LocalSize and LocalSizeId",
        says: "an entry point has an execution mode once (those for a width or type once for each), and one workgroup size",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let mut seen = FastSet::default();
            for mode in &entry.modes {
                let Some(which) = mode.mode else { continue };
                let first = mode.operands.first().copied().filter(|_| FOR_EACH.contains(&which));
                // The two ways to say a size are one.
                let key = if which == ExecutionMode::LocalSizeId { ExecutionMode::LocalSize } else { which };
                if !seen.insert((key, first))
                    && let Some(instruction) = facts.module.instruction_at(mode.at)
                {
                    found.at(instruction, format!("{which} for {}, which has it already", entry.usage.name));
                }
            }
        }),
    },
    Rule {
        name: "spec-id-target",
        id: "SPIR-V specification, Decoration, SpecId: apply only to a scalar specialization constant",
        says: "SpecId is of scalar specialization constants",
        severity: Severity::Error,
        on: On::Decorations(&[Decoration::SpecId], |facts, target, decorated, found| {
            let made = facts.module.definition_of_word(target).and_then(|made| made.op);
            let scalar = matches!(made, None | Some(Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse));
            if let Some(op) = made.filter(|op| !scalar && u32::from(*op as u16) < FIRST_OF_EXTENSIONS) {
                found.at(decorated.instruction, format!("SpecId of {}, which is made by {op}", facts.name(target)));
            }
        }),
    },
    Rule {
        name: "entry-point-called",
        id: "SPIR-V specification, 2.16.1 Universal Validation Rules: no function is targeted by both an OpEntryPoint and an OpFunctionCall",
        says: "no entry point is called",
        severity: Severity::Error,
        on: On::Instructions(&[Op::FunctionCall], |facts, instruction, found| {
            let Some(called) = instruction.operand(0) else { return };
            if facts.entries.iter().any(|entry| entry.usage.function == called) {
                found.at(instruction, format!("a call of {}, which is an entry point", facts.name(called)));
            }
        }),
    },
    Rule {
        name: "switch-literals",
        id: "SPIR-V specification, OpSwitch: it is invalid for any two literal to be equal to each other",
        says: "a switch has a literal once",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Switch], |facts, instruction, found| {
            let words = facts.module.switch_literal_words(instruction);
            let targets = instruction.operands().get(2..).unwrap_or_default().chunks_exact(words + 1);
            let mut seen = FastSet::default();
            if let Some(twice) = targets.map(|target| &target[..words]).find(|literal| !seen.insert(*literal)) {
                found.at(instruction, format!("literal {} twice", twice[0]));
            }
        }),
    },
    Rule {
        name: "branch-labels",
        id: "SPIR-V specification, OpBranchConditional: from 1.6 on, and under MaximallyReconvergesKHR, True Label and False Label must not be the same; no or two Branch Weights, at least one non-zero",
        says: "a conditional branch has two labels (from SPIR-V 1.6 on, and under maximal reconvergence), and no weights or two of which one counts",
        severity: Severity::Error,
        on: On::Instructions(&[Op::BranchConditional], |facts, instruction, found| {
            let [_, yes, no, weights @ ..] = instruction.operands() else { return };
            let newer = facts.module.version() >= crate::grammar::V1_6;
            if yes == no && (newer || facts.reconverges(instruction.index)) {
                found.at(instruction, "True Label and False Label are the same");
            } else if !matches!(weights, [] | [_, _]) || matches!(weights, [0, 0]) {
                found.at(instruction, "Branch Weights that are not two, or both 0");
            }
        }),
    },
];
