//! Functions, what they are given and return, and what decides where control flow goes.

use super::Ask::{Holds, Is};
use super::typing::{Class, Value};
use super::{A, Operands, R, Signature};
use crate::module::{Instruction, Type, TypeId};
use crate::rules::{Facts, Findings, On, Rule, Severity};
use crate::tables::Op;

/// What a function's type says that it returns and takes; `None` where it is no function's type.
fn declared<'m>(facts: &Facts<'m>, function: Instruction) -> Option<(TypeId, &'m [TypeId])> {
    let ty = facts.module.type_declared(function.operand(1)?)?;
    match facts.module.ty(ty) {
        Type::Function { returns, .. } => Some((*returns, facts.module.members(ty))),
        _ => None,
    }
}

/// The function that an instruction stands in.
fn around<'m>(facts: &Facts<'m>, instruction: Instruction) -> Option<Instruction<'m>> {
    let function = facts.module.function_at(instruction.index)?;
    facts.module.definition_of_word(function.id)
}

fn function(operands: &Operands) -> Option<String> {
    let module = operands.facts.module;
    let Some((returns, parameters)) = declared(operands.facts, operands.instruction) else {
        return Some("Function Type is no function's type".to_owned());
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
        format!("a parameter is {own}, in Function Type it is {}", operands.show_type(*declared))
    })
}

fn call(operands: &Operands) -> Option<String> {
    let called = operands.facts.module.definition_of_word(operands.word(0)?)?;
    if called.op? != Op::Function {
        return Some(format!("Function is made by {}", called.op?));
    }
    let (returns, parameters) = declared(operands.facts, called)?;
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
        Value::No(op) => Some(format!("an argument is made by {op}, expected a value")),
        Value::Of(ty) if ty != *parameter => {
            Some(format!("an argument is {}, expected {}", operands.show_type(ty), operands.show_type(*parameter)))
        }
        Value::Of(_) | Value::Unknown => None,
    })
}

fn returned(operands: &Operands) -> Option<String> {
    let (returns, _) = declared(operands.facts, around(operands.facts, operands.instruction)?)?;
    let value = operands.type_at(0)?;
    let differs = || format!("Value is {}, expected {}", operands.show_type(value), operands.show_type(returns));
    (value != returns).then(differs)
}

fn nothing_returned(operands: &Operands) -> Option<String> {
    let (returns, _) = declared(operands.facts, around(operands.facts, operands.instruction)?)?;
    let void = matches!(operands.facts.module.ty(returns), Type::Void);
    (!void).then(|| format!("from a function that returns {}", operands.show_type(returns)))
}

fn incoming(operands: &Operands) -> Option<String> {
    let result = operands.result_type()?;
    if !operands.words.len().is_multiple_of(2) {
        return Some("a Variable without its Parent".to_owned());
    }
    operands.words.iter().step_by(2).find_map(|word| match operands.value(*word) {
        Value::No(op) => Some(format!("a Variable is made by {op}, expected a value")),
        Value::Of(ty) if ty != result => {
            Some(format!("a Variable is {}, expected {}", operands.show_type(ty), operands.show_type(result)))
        }
        Value::Of(_) | Value::Unknown => None,
    })
}

static CALLS: &[Signature] = &[
    Signature { ops: &[Op::Function], asks: &[Holds(function)] },
    Signature { ops: &[Op::FunctionCall], asks: &[Holds(call)] },
    Signature { ops: &[Op::ReturnValue], asks: &[Is(A, Class::OBJECT), Holds(returned)] },
    Signature { ops: &[Op::Return], asks: &[Holds(nothing_returned)] },
];

static BRANCHES: &[Signature] = &[
    Signature { ops: &[Op::BranchConditional], asks: &[Is(A, Class::BOOL)] },
    Signature { ops: &[Op::Switch], asks: &[Is(A, Class::INT)] },
    Signature { ops: &[Op::Phi], asks: &[Is(R, Class::OBJECT), Holds(incoming)] },
];

/// Looks at the parents of a phi, and at where it stands.
fn phi(facts: &Facts, instruction: Instruction, found: &mut Findings) {
    let module = facts.module;
    let Some(block) = module.block_at(instruction.index) else { return };
    let start = module.block(block).instructions.start + 1;
    let before = module.instructions_in(start..instruction.index.0).next_back();
    // Debug information may stand between phis, and an unknown instruction may be such.
    if let Some(op) = before.and_then(|before| before.op)
        && !matches!(op, Op::Phi | Op::Line | Op::NoLine | Op::Nop | Op::ExtInst)
    {
        return found.at(instruction, "OpPhi after other instructions of its block");
    }
    let here = facts.parents(block);
    let mut parents: Vec<u32> = instruction.operands().iter().skip(1).step_by(2).copied().collect();
    let is_parent = |word: u32| module.block_of(word).is_some_and(|b| here.binary_search(&(block, b)).is_ok());
    if let Some(word) = parents.iter().find(|word| !is_parent(**word)) {
        return found.at(instruction, format!("OpPhi: {} is no parent of the block", facts.name(*word)));
    }
    parents.sort_unstable();
    parents.dedup();
    let operands = instruction.operands().len() / 2;
    if parents.len() != operands || operands != here.len() {
        found.at(instruction, format!("OpPhi: {operands} parents are named, the block has {}", here.len()));
    }
}

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "function-types",
        id: "SPIR-V specification, OpFunction, OpFunctionParameter, OpFunctionCall, OpReturn, OpReturnValue: types",
        says: "functions, their calls and their returns are as their function's type says",
        severity: Severity::Error,
        on: On::Typed(CALLS),
    },
    Rule {
        name: "control-flow-types",
        id: "SPIR-V specification, OpPhi, OpBranchConditional, OpSwitch: types",
        says: "conditions are booleans, selectors integers, and a phi's values of its type",
        severity: Severity::Error,
        on: On::Typed(BRANCHES),
    },
    Rule {
        name: "phi-parents",
        id: "SPIR-V specification, OpPhi: one Parent for each parent of the block, before all other instructions",
        says: "a phi names each parent of its block once, and stands at the block's start",
        severity: Severity::Error,
        on: On::Instructions(&[Op::Phi], phi),
    },
];
