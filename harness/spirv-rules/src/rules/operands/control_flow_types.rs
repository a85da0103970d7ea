//! Types of functions, calls, returns, branch conditions and phis.

use super::Constraint::{Custom, Is};
use super::{A, Operands, R, Signature};
use crate::rules::analysis::typing::{IdType, TypeClass};
use crate::rules::{Check, Facts, Findings, Rule, Severity};
use assay_spirv::module::{Instruction, Type, TypeId};
use assay_spirv::tables::Op;

/// Return type and parameter types that a function's type declares. `None` if its type is not a
/// function type.
fn declared_signature<'m>(facts: &Facts<'m>, function: Instruction) -> Option<(TypeId, &'m [TypeId])> {
    let ty = facts.module.type_declared(function.operand(1)?)?;
    match facts.module.ty(ty) {
        Type::Function { returns, .. } => Some((*returns, facts.module.members(ty))),
        _ => None,
    }
}

/// The function that contains an instruction.
fn containing_function<'m>(facts: &Facts<'m>, instruction: Instruction) -> Option<Instruction<'m>> {
    let function = facts.module.function_at(instruction.index)?;
    facts.module.definition_of(function.id)
}

fn function_problem(operands: &Operands) -> Option<String> {
    let module = operands.facts.module;
    let Some((returns, parameters)) = declared_signature(operands.facts, operands.instruction) else {
        return Some("Function Type is not a function type".to_owned());
    };
    let result = operands.result_type()?;
    if result != returns {
        let (result, returns) = (operands.show_type(result), operands.show_type(returns));
        return Some(format!("Result Type is {result}, Function Type returns {returns}"));
    }
    let function = module.function_at(operands.instruction.index)?;
    let own = module.instructions_in(function.parameters.clone()).filter(|i| i.op == Some(Op::FunctionParameter));
    let own: Vec<Option<TypeId>> = own.map(|i| module.type_declared(i.result_type()?)).collect();
    if own.len() != parameters.len() {
        return Some(format!("{} parameters, Function Type has {}", own.len(), parameters.len()));
    }
    let odd = own.iter().zip(parameters).find(|(own, declared)| own.is_some_and(|own| own != **declared));
    odd.map(|(own, declared)| {
        let own = own.map_or_else(String::new, |own| operands.show_type(own));
        format!("a parameter is {own}, expected {} as in Function Type", operands.show_type(*declared))
    })
}

fn call_problem(operands: &Operands) -> Option<String> {
    let called = operands.facts.module.definition_of(operands.word(0)?)?;
    if called.op? != Op::Function {
        return Some(format!("Function is the result of {}, expected OpFunction", called.op?));
    }
    let (returns, parameters) = declared_signature(operands.facts, called)?;
    let result = operands.result_type()?;
    if result != returns {
        let (result, returns) = (operands.show_type(result), operands.show_type(returns));
        return Some(format!("Result Type is {result}, the function returns {returns}"));
    }
    let arguments = operands.words.get(1..).unwrap_or_default();
    if arguments.len() != parameters.len() {
        return Some(format!("{} arguments for {} parameters", arguments.len(), parameters.len()));
    }
    arguments.iter().zip(parameters).find_map(|(word, parameter)| match operands.value(*word) {
        IdType::NotAValue(op) => Some(format!("an argument is the result of {op}, expected a value")),
        IdType::Known(ty) if ty != *parameter => {
            Some(format!("an argument is {}, expected {}", operands.show_type(ty), operands.show_type(*parameter)))
        }
        IdType::Known(_) | IdType::Unknown => None,
    })
}

fn return_value_problem(operands: &Operands) -> Option<String> {
    let (returns, _) = declared_signature(operands.facts, containing_function(operands.facts, operands.instruction)?)?;
    let value = operands.type_at(0)?;
    let differs = || format!("Value is {}, expected {}", operands.show_type(value), operands.show_type(returns));
    (value != returns).then(differs)
}

fn return_problem(operands: &Operands) -> Option<String> {
    let (returns, _) = declared_signature(operands.facts, containing_function(operands.facts, operands.instruction)?)?;
    let void = matches!(operands.facts.module.ty(returns), Type::Void);
    (!void).then(|| format!("the function returns {}, expected OpReturnValue", operands.show_type(returns)))
}

fn phi_problem(operands: &Operands) -> Option<String> {
    let result = operands.result_type()?;
    if !operands.words.len().is_multiple_of(2) {
        return Some("a Variable without a Parent".to_owned());
    }
    operands.words.iter().step_by(2).find_map(|word| match operands.value(*word) {
        IdType::NotAValue(op) => Some(format!("a Variable is the result of {op}, expected a value")),
        IdType::Known(ty) if ty != result => {
            Some(format!("a Variable is {}, expected {}", operands.show_type(ty), operands.show_type(result)))
        }
        IdType::Known(_) | IdType::Unknown => None,
    })
}

static CALLS: &[Signature] = &[
    Signature { ops: &[Op::Function], constraints: &[Custom(function_problem)] },
    Signature { ops: &[Op::FunctionCall], constraints: &[Custom(call_problem)] },
    Signature { ops: &[Op::ReturnValue], constraints: &[Is(A, TypeClass::OBJECT), Custom(return_value_problem)] },
    Signature { ops: &[Op::Return], constraints: &[Custom(return_problem)] },
];

static BRANCHES: &[Signature] = &[
    Signature { ops: &[Op::BranchConditional], constraints: &[Is(A, TypeClass::BOOL)] },
    Signature { ops: &[Op::Switch], constraints: &[Is(A, TypeClass::INT)] },
    Signature { ops: &[Op::Phi], constraints: &[Is(R, TypeClass::OBJECT), Custom(phi_problem)] },
];

/// Checks the position and the parents of an `OpPhi`.
fn check_phi(facts: &Facts, instruction: Instruction, found: &mut Findings) {
    let module = facts.module;
    let Some(block) = module.block_at(instruction.index) else { return };
    let start = module.block(block).instructions.start + 1;
    let before = module.instructions_in(start..instruction.index.0).next_back();
    // Debug instructions may occur between phis, and an unknown instruction may be one.
    if let Some(op) = before.and_then(|before| before.op)
        && !matches!(op, Op::Phi | Op::Line | Op::NoLine | Op::Nop | Op::ExtInst)
    {
        return found.report(instruction, "OpPhi after other instructions of its block");
    }
    let here = facts.branches().to(block);
    let mut parents: Vec<u32> = instruction.operands().iter().skip(1).step_by(2).copied().collect();
    let is_parent = |word: u32| module.block_of(word).is_some_and(|b| here.binary_search(&(block, b)).is_ok());
    if let Some(word) = parents.iter().find(|word| !is_parent(**word)) {
        return found.report(instruction, format!("OpPhi: {} is not a parent of the block", facts.name(*word)));
    }
    parents.sort_unstable();
    parents.dedup();
    let operands = instruction.operands().len() / 2;
    if parents.len() != operands || operands != here.len() {
        found.report(instruction, format!("OpPhi: {operands} parents, but the block has {}", here.len()));
    }
}

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "function-types",
        id: "SPIR-V specification, OpFunction, OpFunctionParameter, OpFunctionCall, OpReturn, OpReturnValue: types",
        requirement: "functions, their parameters, calls and returns must match the function type",
        severity: Severity::Error,
        check: Check::Typed(CALLS),
    },
    Rule {
        name: "control-flow-types",
        id: "SPIR-V specification, OpPhi, OpBranchConditional, OpSwitch: types",
        requirement: "the condition of OpBranchConditional must be a boolean, Selector of OpSwitch an integer, and the variables of OpPhi of Result Type",
        severity: Severity::Error,
        check: Check::Typed(BRANCHES),
    },
    Rule {
        name: "phi-parents",
        id: "SPIR-V specification, OpPhi: one Parent for each parent of the block, before all other instructions",
        requirement: "OpPhi must have exactly one operand pair for each parent block and precede all other instructions of its block",
        severity: Severity::Error,
        check: Check::Instructions(&[Op::Phi], check_phi),
    },
];
