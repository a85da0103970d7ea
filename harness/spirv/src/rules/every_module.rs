//! Rules of the core specification that a module has to keep before it may reach a driver.

use super::facts::{Entry, Facts};
use super::ops::FIRST_OF_EXTENSIONS;
use super::stated::Odd;
use super::{On, Rule, Severity};
use crate::grammar::Version;
use crate::hash::FastSet;
use crate::module::{Instruction, Section, Type, TypeId};
use crate::tables::{Capability, Op, StorageClass};

/// Storage class of a module-scope variable; `None` for other ids, and for classes that the tables do not know.
fn global_class(facts: &Facts, word: u32) -> Option<StorageClass> {
    let definition = facts.module.definition_of_word(word)?;
    let variable = matches!(definition.op, Some(Op::Variable | Op::UntypedVariableKHR));
    let class = definition.operand(0).filter(|_| variable).and_then(StorageClass::from_word)?;
    (class != StorageClass::Function).then_some(class)
}

/// Whether an interface lists variables of every storage class, not only inputs and outputs.
fn lists_all(facts: &Facts) -> bool {
    facts.module.version() >= Version { major: 1, minor: 4 }
}

fn is_listed_early(class: StorageClass) -> bool {
    matches!(class, StorageClass::Input | StorageClass::Output)
}

/// The variables that an entry point's functions name and that its interface would have to list.
fn missing(facts: &Facts, entry: &Entry) -> Vec<u32> {
    let listed: FastSet<u32> = entry.usage.interface.iter().copied().collect();
    let words = entry.usage.globals.iter().map(|id| facts.module.word(*id));
    words
        .filter(|word| !listed.contains(word))
        .filter(|word| global_class(facts, *word).is_some_and(|class| lists_all(facts) || is_listed_early(class)))
        .collect()
}

/// What `OpSpecConstantOp` lists; extensions add to it.
const SPECIALIZED: &[Op] = &[
    Op::SConvert,
    Op::UConvert,
    Op::FConvert,
    Op::SNegate,
    Op::Not,
    Op::IAdd,
    Op::ISub,
    Op::IMul,
    Op::UDiv,
    Op::SDiv,
    Op::UMod,
    Op::SRem,
    Op::SMod,
    Op::ShiftRightLogical,
    Op::ShiftRightArithmetic,
    Op::ShiftLeftLogical,
    Op::BitwiseOr,
    Op::BitwiseXor,
    Op::BitwiseAnd,
    Op::VectorShuffle,
    Op::CompositeExtract,
    Op::CompositeInsert,
    Op::LogicalOr,
    Op::LogicalAnd,
    Op::LogicalNot,
    Op::LogicalEqual,
    Op::LogicalNotEqual,
    Op::Select,
    Op::IEqual,
    Op::INotEqual,
    Op::ULessThan,
    Op::SLessThan,
    Op::UGreaterThan,
    Op::SGreaterThan,
    Op::ULessThanEqual,
    Op::SLessThanEqual,
    Op::UGreaterThanEqual,
    Op::SGreaterThanEqual,
];

const SPECIALIZED_IN_KERNELS: &[Op] = &[
    Op::ConvertFToS,
    Op::ConvertSToF,
    Op::ConvertFToU,
    Op::ConvertUToF,
    Op::ConvertPtrToU,
    Op::ConvertUToPtr,
    Op::GenericCastToPtr,
    Op::PtrCastToGeneric,
    Op::Bitcast,
    Op::FNegate,
    Op::FAdd,
    Op::FSub,
    Op::FMul,
    Op::FDiv,
    Op::FRem,
    Op::FMod,
    Op::AccessChain,
    Op::InBoundsAccessChain,
    Op::PtrAccessChain,
    Op::InBoundsPtrAccessChain,
];

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "one-memory-model",
        id: "SPIR-V specification, 2.4 Logical Layout of a Module: the single required OpMemoryModel",
        says: "a module has one OpMemoryModel",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            let mut models = facts.module.section(Section::MemoryModel).filter(|i| i.op == Some(Op::MemoryModel));
            match (models.next(), models.next()) {
                (None, _) => found.of_module(facts.module, "the module has no OpMemoryModel, expected one"),
                (Some(_), Some(second)) => found.at(second, "a second OpMemoryModel, expected one"),
                (Some(_), None) => {}
            }
        }),
    },
    Rule {
        name: "interface-complete",
        id: "SPIR-V specification, OpEntryPoint: Interface is a superset of the variables that the call tree references (before 1.4: of Input and Output)",
        says: "an entry point's interface lists each module-scope variable that its functions use (before SPIR-V 1.4: each Input and Output)",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            let missing = missing(facts, entry);
            let Some((first, rest)) = missing.split_first() else { return };
            let class = global_class(facts, *first).map_or_else(String::new, |class| format!(" ({class})"));
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            found.at(
                entry.instruction,
                format!("{}{class}{more}: used, but not in the interface of {}", facts.name(*first), entry.usage.name),
            );
        }),
    },
    Rule {
        name: "interface-classes",
        id: "SPIR-V specification, OpEntryPoint: Interface is global variables (before 1.4: Input and Output)",
        says: "an interface lists module-scope variables and nothing else (before SPIR-V 1.4: Input and Output ones)",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            for word in &entry.usage.interface {
                let definition = facts.module.definition_of_word(*word).and_then(|definition| definition.op);
                // Graphs and their likes list what is no variable; the tables may not know them.
                let what = match (definition, global_class(facts, *word)) {
                    (None, _) => continue,
                    (Some(_), Some(class)) if lists_all(facts) || is_listed_early(class) => continue,
                    (Some(_), Some(class)) => format!("is in {class}, which interfaces list from SPIR-V 1.4 on"),
                    (Some(Op::Variable | Op::UntypedVariableKHR), None) => "is no module-scope variable".to_owned(),
                    (Some(op), None) => format!("is made by {}, expected a module-scope variable", op.name()),
                };
                found.at(entry.instruction, format!("{} in the interface {what}", facts.name(*word)));
                return;
            }
        }),
    },
    Rule {
        name: "interface-repeated",
        id: "SPIR-V specification, OpEntryPoint: from 1.4 on an Interface id must not appear more than once",
        says: "from SPIR-V 1.4 on an interface lists a variable once",
        severity: Severity::Error,
        on: On::EntryPoints(|facts, entry, found| {
            if !lists_all(facts) {
                return;
            }
            let mut seen = FastSet::default();
            if let Some(word) = entry.usage.interface.iter().find(|word| !seen.insert(**word)) {
                found.at(entry.instruction, format!("{} twice in the interface", facts.name(*word)));
            }
        }),
    },
    Rule {
        name: "entry-point-names",
        id: "SPIR-V specification, OpEntryPoint: a name once for each execution model",
        says: "no two entry points have one name and one execution model",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            let mut seen = FastSet::default();
            for entry in &facts.entries {
                if !seen.insert((entry.model, &entry.usage.name)) {
                    let name = &entry.usage.name;
                    found.at(entry.instruction, format!("a second entry point {name:?} of its execution model"));
                }
            }
        }),
    },
    Rule {
        name: "execution-mode-entry-point",
        id: "SPIR-V specification, OpExecutionMode: Entry Point is the Entry Point of an OpEntryPoint",
        says: "execution modes are those of entry points",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            let functions: FastSet<u32> = facts.entries.iter().map(|entry| entry.usage.function).collect();
            for instruction in facts.module.section(Section::ExecutionModes) {
                if let Some(word) = instruction.operand(0).filter(|word| !functions.contains(word)) {
                    found.at(instruction, format!("{} is no entry point, but has an execution mode", facts.name(word)));
                }
            }
        }),
    },
    Rule {
        name: "variable-pointer",
        id: "SPIR-V specification, OpVariable: Result Type is a pointer, its Storage Class that of the variable",
        says: "a variable is made by the pointer type of its storage class",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Variable, Op::UntypedVariableKHR], |facts, instruction, found| {
            let Some(class) = instruction.operand(0).and_then(StorageClass::from_word) else { return };
            let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
            match ty.and_then(|ty| facts.module.pointer(ty)) {
                None => found.at(instruction, "a variable whose Result Type is no pointer"),
                Some((of, _)) if of != class => {
                    found.at(instruction, format!("a variable in {class} whose type is a pointer into {of}"));
                }
                Some(_) => {}
            }
        }),
    },
    Rule {
        name: "variable-place",
        id: "SPIR-V specification, 2.4 Logical Layout of a Module: all OpVariable instructions in a function have Storage Class Function, are in its first block, and are its first instructions; outside of functions Function cannot be used",
        says: "variables in Function stand at the start of a function, and no others do",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Variable, Op::UntypedVariableKHR], |facts, instruction, found| {
            let Some(class) = instruction.operand(0).and_then(StorageClass::from_word) else { return };
            let local = class == StorageClass::Function;
            let Some(function) = facts.module.function_at(instruction.index) else {
                if local {
                    found.at(instruction, "a variable in Function outside of functions");
                }
                return;
            };
            if !local {
                return found.at(instruction, format!("a variable in {class} inside a function, expected Function"));
            }
            let Some(block) = facts.module.block_at(instruction.index) else { return };
            if block.0 != function.blocks.start {
                return found.at(instruction, "a variable that is not in the first block of its function");
            }
            let start = facts.module.block(block).instructions.start + 1;
            // Debug information may stand between variables, and an unknown instruction may be such.
            let before = facts.module.instructions_in(start..instruction.index.0).next_back();
            if let Some(op) = before.and_then(|before| before.op)
                && !matches!(op, Op::Variable | Op::UntypedVariableKHR | Op::Line | Op::NoLine | Op::Nop | Op::ExtInst)
            {
                found.at(instruction, format!("a variable behind {op}"));
            }
        }),
    },
    Rule {
        name: "read-only-store",
        id: "SPIR-V specification, Storage Class: Input, UniformConstant and PushConstant are read-only",
        says: "nothing is stored to Input, UniformConstant and PushConstant",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Store, Op::CopyMemory, Op::CopyMemorySized], |facts, instruction, found| {
            use StorageClass::{Input, PushConstant, UniformConstant};
            let class = facts.pointer(instruction.operand(0)).map(|(class, _)| class);
            if let Some(class @ (Input | UniformConstant | PushConstant)) = class {
                found.at(instruction, format!("a store to {class}, which is read-only"));
            }
        }),
    },
    Rule {
        name: "specialized-opcode",
        id: "SPIR-V specification, OpSpecConstantOp: Opcode must equal one of the following opcodes",
        says: "what OpSpecConstantOp computes is an operation that it lists; those on floats and pointers take kernels",
        severity: Severity::Error,
        on: On::Instructions(&[Op::SpecConstantOp], |facts, instruction, found| {
            let op = instruction.operand(0).and_then(|opcode| Op::from_opcode(u16::try_from(opcode).ok()?));
            let Some(op) = op.filter(|op| u32::from(*op as u16) < FIRST_OF_EXTENSIONS) else { return };
            let kernel = facts.has(Capability::Kernel);
            let quantize = op == Op::QuantizeToF16 && facts.has(Capability::Shader);
            if !(SPECIALIZED.contains(&op) || quantize || kernel && SPECIALIZED_IN_KERNELS.contains(&op)) {
                let other = if SPECIALIZED_IN_KERNELS.contains(&op) { "without capability Kernel" } else { "at all" };
                found.at(instruction, format!("OpSpecConstantOp does not compute {op} {other}"));
            }
        }),
    },
    Rule {
        name: "scope-value",
        id: "SPIR-V specification, Scope <id> and Memory Semantics <id>: 32-bit integers, with Shader (2.16.2) of an OpConstant",
        says: "scopes and memory semantics are constant 32-bit integers that no specialization changes, scopes such as there are",
        severity: Severity::Error,
        on: On::Stated(&[], |facts, instruction, stated, found| match stated.odd {
            None => {}
            Some(Odd::Type) => found.at(instruction, "a scope or memory semantics that is no 32-bit integer"),
            Some(Odd::Variable) if facts.has(Capability::Shader) => {
                found.at(instruction, "a scope or memory semantics that is no constant");
            }
            Some(Odd::Specialized) if facts.has(Capability::Shader) => {
                found.at(
                    instruction,
                    "a scope or memory semantics that is a specialization constant, expected an OpConstant",
                );
            }
            Some(Odd::Variable | Odd::Specialized) => {}
            Some(Odd::Value(value)) => found.at(instruction, format!("scope {value}, which is none")),
        }),
    },
    Rule {
        name: "signedness",
        id: "SPIR-V specification, OpTypeInt: Signedness is 0 or 1",
        says: "an integer type is unsigned (0) or signed (1)",
        severity: Severity::Error,
        on: On::Instructions(&[Op::TypeInt], |_, instruction, found| {
            if let Some(other @ 2..) = instruction.operand(1) {
                found.at(instruction, format!("Signedness {other}, expected 0 or 1"));
            }
        }),
    },
    Rule {
        name: "unsigned-result",
        id: "SPIR-V specification, OpUDiv, OpUMod, OpUConvert, OpConvertFToU: Result Type's Signedness is 0",
        says: "unsigned division, remainder and conversions make unsigned integers",
        severity: Severity::Error,
        on: On::Instructions(
            &[Op::UDiv, Op::UMod, Op::UConvert, Op::ConvertFToU, Op::SpecConstantOp],
            |facts, instruction, found| {
                let Some(op) = operation(instruction) else { return };
                let unsigned = matches!(op, Op::UDiv | Op::UMod | Op::UConvert | Op::ConvertFToU);
                let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
                if unsigned && ty.is_some_and(|ty| is_signed(facts, ty)) {
                    found
                        .at(instruction, format!("{op} that makes signed integers, expected a type with Signedness 0"));
                }
            },
        ),
    },
];

/// The operation of an instruction: of an `OpSpecConstantOp` the one inside.
fn operation(instruction: Instruction) -> Option<Op> {
    match instruction.op? {
        Op::SpecConstantOp => Op::from_opcode(u16::try_from(instruction.operand(0)?).ok()?),
        op => Some(op),
    }
}

/// Whether a type is a signed integer, or a vector of them.
fn is_signed(facts: &Facts, ty: TypeId) -> bool {
    match *facts.module.ty(ty) {
        Type::Int { signed, .. } => signed,
        Type::Vector { component, .. } => is_signed(facts, component),
        _ => false,
    }
}
