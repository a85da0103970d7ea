//! Rules of the core specification whose breach may crash a driver.

use super::analysis::facts::{EntryPointFacts, Facts};
use super::opcode_groups::FIRST_EXTENSION_NUMBER;
use super::scope_operands::InvalidOperand;
use super::{Check, Rule, Severity};
use assay_spirv::grammar::Version;
use assay_spirv::hash::FastSet;
use assay_spirv::module::{Instruction, Section, Type, TypeId};
use assay_spirv::tables::{Capability, Op, StorageClass};

/// Storage class of a module-scope variable. `None` for other ids and for storage classes that the
/// tables do not know.
fn global_class(facts: &Facts, word: u32) -> Option<StorageClass> {
    let definition = facts.module.definition_of(word)?;
    let variable = matches!(definition.op, Some(Op::Variable | Op::UntypedVariableKHR));
    let class = definition.operand(0).filter(|_| variable).and_then(StorageClass::from_word)?;
    (class != StorageClass::Function).then_some(class)
}

/// Returns whether the interface lists variables of every storage class (from SPIR-V 1.4 on), not
/// only Input and Output.
fn lists_all_classes(facts: &Facts) -> bool {
    facts.module.version() >= Version { major: 1, minor: 4 }
}

fn is_listed_before_1_4(class: StorageClass) -> bool {
    matches!(class, StorageClass::Input | StorageClass::Output)
}

/// Variables that an entry point references and that its interface must list, but does not.
fn missing_interface_variables(facts: &Facts, entry: &EntryPointFacts) -> Vec<u32> {
    let listed: FastSet<u32> = entry.usage.interface.iter().copied().collect();
    let words = entry.usage.globals.iter().map(|id| facts.module.raw_id(*id));
    words
        .filter(|word| !listed.contains(word))
        .filter(|word| {
            global_class(facts, *word).is_some_and(|class| lists_all_classes(facts) || is_listed_before_1_4(class))
        })
        .collect()
}

/// Opcodes that `OpSpecConstantOp` permits in shaders. Extensions add further ones.
const SHADER_SPEC_CONSTANT_OPS: &[Op] = &[
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

const KERNEL_SPEC_CONSTANT_OPS: &[Op] = &[
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
        requirement: "a module must have exactly one OpMemoryModel",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            let mut models = facts.module.section(Section::MemoryModel).filter(|i| i.op == Some(Op::MemoryModel));
            match (models.next(), models.next()) {
                (None, _) => found.report_module(facts.module, "the module has no OpMemoryModel, expected one"),
                (Some(_), Some(second)) => found.report(second, "second OpMemoryModel, expected one"),
                (Some(_), None) => {}
            }
        }),
    },
    Rule {
        name: "interface-complete",
        id: "SPIR-V specification, OpEntryPoint: Interface is a superset of the variables that the call tree references (before 1.4: of Input and Output)",
        requirement: "the interface of an entry point must list every module-scope variable that its call tree references (before SPIR-V 1.4: every Input and Output variable)",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            let missing = missing_interface_variables(facts, entry);
            let Some((first, rest)) = missing.split_first() else { return };
            let class = global_class(facts, *first).map_or_else(String::new, |class| format!(" ({class})"));
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            found.report(
                entry.instruction,
                format!(
                    "{}{class}{more}: referenced, but not in the interface of {}",
                    facts.name(*first),
                    entry.usage.name
                ),
            );
        }),
    },
    Rule {
        name: "interface-classes",
        id: "SPIR-V specification, OpEntryPoint: Interface is global variables (before 1.4: Input and Output)",
        requirement: "the interface of an entry point must list module-scope variables only (before SPIR-V 1.4: Input and Output variables only)",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            for word in &entry.usage.interface {
                let definition = facts.module.definition_of(*word).and_then(|definition| definition.op);
                // Graph entry points list results that are not variables; an id without a known
                // definition is not checked.
                let what = match (definition, global_class(facts, *word)) {
                    (None, _) => continue,
                    (Some(_), Some(class)) if lists_all_classes(facts) || is_listed_before_1_4(class) => continue,
                    (Some(_), Some(class)) => {
                        format!("is in {class}, which an interface must not list before SPIR-V 1.4")
                    }
                    (Some(Op::Variable | Op::UntypedVariableKHR), None) => "is not a module-scope variable".to_owned(),
                    (Some(op), None) => format!("is the result of {}, expected a module-scope variable", op.name()),
                };
                found.report(entry.instruction, format!("interface: {} {what}", facts.name(*word)));
                return;
            }
        }),
    },
    Rule {
        name: "interface-repeated",
        id: "SPIR-V specification, OpEntryPoint: from 1.4 on an Interface id must not appear more than once",
        requirement: "from SPIR-V 1.4 on, the interface of an entry point must not list a variable twice",
        severity: Severity::Error,
        check: Check::EntryPoints(|facts, entry, found| {
            if !lists_all_classes(facts) {
                return;
            }
            let mut seen = FastSet::default();
            if let Some(word) = entry.usage.interface.iter().find(|word| !seen.insert(**word)) {
                found.report(entry.instruction, format!("the interface lists {} twice", facts.name(*word)));
            }
        }),
    },
    Rule {
        name: "entry-point-names",
        id: "SPIR-V specification, OpEntryPoint: no two entry points with the same name and execution model",
        requirement: "no two entry points may have the same name and execution model",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            let mut seen = FastSet::default();
            for entry in &facts.entries {
                if !seen.insert((entry.model, &entry.usage.name)) {
                    let name = &entry.usage.name;
                    found.report(
                        entry.instruction,
                        format!("second entry point {name:?} with the same execution model"),
                    );
                }
            }
        }),
    },
    Rule {
        name: "execution-mode-entry-point",
        id: "SPIR-V specification, OpExecutionMode: Entry Point is the Entry Point of an OpEntryPoint",
        requirement: "the target of an execution mode must be an entry point",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            let functions: FastSet<u32> = facts.entries.iter().map(|entry| entry.usage.function).collect();
            for instruction in facts.module.section(Section::ExecutionModes) {
                if let Some(word) = instruction.operand(0).filter(|word| !functions.contains(word)) {
                    found.report(
                        instruction,
                        format!("execution mode for {}, which is not an entry point", facts.name(word)),
                    );
                }
            }
        }),
    },
    Rule {
        name: "variable-pointer",
        id: "SPIR-V specification, OpVariable: Result Type is a pointer with the Storage Class of the variable",
        requirement: "Result Type of OpVariable must be a pointer type with the Storage Class of the variable",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Variable, Op::UntypedVariableKHR], |facts, instruction, found| {
            let Some(class) = instruction.operand(0).and_then(StorageClass::from_word) else { return };
            let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
            match ty.and_then(|ty| facts.module.pointer(ty)) {
                None => found.report(instruction, "Result Type of the variable is not a pointer type"),
                Some((of, _)) if of != class => {
                    found.report(instruction, format!("variable in {class}, but its Result Type points into {of}"));
                }
                Some(_) => {}
            }
        }),
    },
    Rule {
        name: "variable-place",
        id: "SPIR-V specification, 2.4 Logical Layout of a Module: all OpVariable instructions in a function have Storage Class Function, are in its first block, and are its first instructions; outside of functions Function cannot be used",
        requirement: "a variable in a function must have Storage Class Function and be among the first instructions of the function's first block; a module-scope variable must not have Storage Class Function",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Variable, Op::UntypedVariableKHR], |facts, instruction, found| {
            let Some(class) = instruction.operand(0).and_then(StorageClass::from_word) else { return };
            let local = class == StorageClass::Function;
            let Some(function) = facts.module.function_at(instruction.index) else {
                if local {
                    found.report(instruction, "variable in Function outside of a function");
                }
                return;
            };
            if !local {
                return found.report(instruction, format!("variable in {class} inside a function, expected Function"));
            }
            let Some(block) = facts.module.block_at(instruction.index) else { return };
            if block.0 != function.blocks.start {
                return found.report(instruction, "variable outside the first block of its function");
            }
            let start = facts.module.block(block).instructions.start + 1;
            // Debug instructions may occur between variables, and an unknown instruction may be
            // one.
            let before = facts.module.instructions_in(start..instruction.index.0).next_back();
            if let Some(op) = before.and_then(|before| before.op)
                && !matches!(op, Op::Variable | Op::UntypedVariableKHR | Op::Line | Op::NoLine | Op::Nop | Op::ExtInst)
            {
                found.report(instruction, format!("variable after {op}, expected at the start of the block"));
            }
        }),
    },
    Rule {
        name: "read-only-store",
        id: "SPIR-V specification, Storage Class: Input, UniformConstant and PushConstant are read-only",
        requirement: "Input, UniformConstant and PushConstant variables must not be written",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Store, Op::CopyMemory, Op::CopyMemorySized], |facts, instruction, found| {
            use StorageClass::{Input, PushConstant, UniformConstant};
            let class = facts.pointer(instruction.operand(0)).map(|(class, _)| class);
            if let Some(class @ (Input | UniformConstant | PushConstant)) = class {
                found.report(instruction, format!("write to {class}, which is read-only"));
            }
        }),
    },
    Rule {
        name: "specialized-opcode",
        id: "SPIR-V specification, OpSpecConstantOp: Opcode must equal one of the following opcodes",
        requirement: "the opcode of OpSpecConstantOp must be one that its description lists; most floating-point and pointer operations require Kernel",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::SpecConstantOp], |facts, instruction, found| {
            let op = instruction.operand(0).and_then(|opcode| Op::from_opcode(u16::try_from(opcode).ok()?));
            let Some(op) = op.filter(|op| u32::from(*op as u16) < FIRST_EXTENSION_NUMBER) else { return };
            let kernel = facts.has(Capability::Kernel);
            let quantize = op == Op::QuantizeToF16 && facts.has(Capability::Shader);
            if !(SHADER_SPEC_CONSTANT_OPS.contains(&op) || quantize || kernel && KERNEL_SPEC_CONSTANT_OPS.contains(&op))
            {
                let other = if KERNEL_SPEC_CONSTANT_OPS.contains(&op) { " without capability Kernel" } else { "" };
                found.report(instruction, format!("OpSpecConstantOp does not permit {op}{other}"));
            }
        }),
    },
    Rule {
        name: "scope-value",
        id: "SPIR-V specification, Scope <id> and Memory Semantics <id>: 32-bit integers, with Shader (2.16.2) of an OpConstant",
        requirement: "scopes and memory semantics must be 32-bit integers; with Shader they must be OpConstant; a scope must have a defined value",
        severity: Severity::Error,
        check: Check::Scoped(&[], |facts, instruction, stated, found| match stated.invalid {
            None => {}
            Some(InvalidOperand::Type) => {
                found.report(instruction, "scope or memory semantics is not a 32-bit integer")
            }
            Some(InvalidOperand::NotConstant) if facts.has(Capability::Shader) => {
                found.report(instruction, "scope or memory semantics is not a constant");
            }
            Some(InvalidOperand::Specialized) if facts.has(Capability::Shader) => {
                found
                    .report(instruction, "scope or memory semantics is a specialization constant, expected OpConstant");
            }
            Some(InvalidOperand::NotConstant | InvalidOperand::Specialized) => {}
            Some(InvalidOperand::UnknownScope(value)) => found.report(instruction, format!("unknown scope {value}")),
        }),
    },
    Rule {
        name: "signedness",
        id: "SPIR-V specification, OpTypeInt: Signedness is 0 or 1",
        requirement: "Signedness of OpTypeInt must be 0 or 1",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::TypeInt], |_, instruction, found| {
            if let Some(other @ 2..) = instruction.operand(1) {
                found.report(instruction, format!("Signedness {other}, expected 0 or 1"));
            }
        }),
    },
    Rule {
        name: "unsigned-result",
        id: "SPIR-V specification, OpUDiv, OpUMod, OpUConvert, OpConvertFToU: Result Type's Signedness is 0",
        requirement: "the results of OpUDiv, OpUMod, OpUConvert and OpConvertFToU must have an integer type with Signedness 0",
        severity: Severity::Error,
        check: Check::Instructions(
            &[Op::UDiv, Op::UMod, Op::UConvert, Op::ConvertFToU, Op::SpecConstantOp],
            |facts, instruction, found| {
                let Some(op) = effective_opcode(instruction) else { return };
                let unsigned = matches!(op, Op::UDiv | Op::UMod | Op::UConvert | Op::ConvertFToU);
                let ty = instruction.result_type().and_then(|word| facts.module.type_declared(word));
                if unsigned && ty.is_some_and(|ty| is_signed(facts, ty)) {
                    found.report(instruction, format!("{op} with a signed Result Type, expected Signedness 0"));
                }
            },
        ),
    },
];

/// Opcode of an instruction; for `OpSpecConstantOp`, the opcode that it names.
fn effective_opcode(instruction: Instruction) -> Option<Op> {
    match instruction.op? {
        Op::SpecConstantOp => Op::from_opcode(u16::try_from(instruction.operand(0)?).ok()?),
        op => Some(op),
    }
}

/// Returns whether a type is a signed integer or a vector of signed integers.
fn is_signed(facts: &Facts, ty: TypeId) -> bool {
    match *facts.module.ty(ty) {
        Type::Int { signed, .. } => signed,
        Type::Vector { component, .. } => is_signed(facts, component),
        _ => false,
    }
}
