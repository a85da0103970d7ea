//! Types: what they are made of, and how often they are declared.

use super::typing::{Class, Value, show};
use crate::module::{Instruction, Type};
use crate::rules::{Facts, On, Rule, Severity};
use crate::tables::{Capability, Op};

/// What is wrong with a part of a type, if it has to be of a kind.
fn part(facts: &Facts, word: u32, class: Class) -> Option<String> {
    let ty = facts.module.type_declared(word)?;
    // Vectors of pointers are an extension's.
    let pointers = facts.has(Capability::MaskedGatherScatterINTEL) && facts.module.pointer(ty).is_some();
    (!facts.typing().view(ty).is(class) && !pointers).then(|| format!("{}, expected {}", show(facts, ty), class.text))
}

/// What is wrong with a part that has to be something that memory holds, or a value is.
fn held(facts: &Facts, word: u32) -> Option<String> {
    let ty = facts.module.type_declared(word)?;
    let held = !matches!(facts.module.ty(ty), Type::Void | Type::Function { .. });
    (!held).then(|| format!("{}, which nothing can hold", show(facts, ty)))
}

/// What is wrong with the length of an array: a constant integer, of at least one.
fn length(facts: &Facts, word: u32) -> Option<String> {
    let module = facts.module;
    if let Some(made) = module.definition_of_word(word).and_then(|made| made.op)
        && !facts.is_constant(word)
    {
        return Some(format!("a length that is made by {made}, expected a constant"));
    }
    let Value::Of(ty) = facts.typing().value(module, word) else { return None };
    if !facts.typing().view(ty).is(Class::INT) {
        return Some(format!("a length that is {}, expected an integer", show(facts, ty)));
    }
    let plain = module.definition_of_word(word)?.op == Some(Op::Constant);
    let length = module.constant_int(word).filter(|_| plain)?;
    // The bits of an unsigned 64-bit length are taken as they are.
    let signed = matches!(module.ty(ty), Type::Int { signed: true, .. });
    (length == 0 || (signed && length < 0)).then(|| format!("a length of {length}, expected 1 at least"))
}

fn problem(facts: &Facts, instruction: Instruction) -> Option<String> {
    match (instruction.op?, instruction.operands()) {
        (Op::TypeVector, [component, ..]) => part(facts, *component, Class::SCALAR),
        (Op::TypeMatrix, [column, count, ..]) => {
            let columns = || (!(2..=4).contains(count)).then(|| format!("{count} columns, expected 2 to 4"));
            part(facts, *column, Class::FLOAT_VECTOR).or_else(columns)
        }
        (Op::TypeArray, [element, count, ..]) => held(facts, *element).or_else(|| length(facts, *count)),
        (Op::TypeRuntimeArray, [element, ..]) => held(facts, *element),
        (Op::TypeStruct, members) => members.iter().find_map(|member| held(facts, *member)),
        (Op::TypeSampledImage, [image, ..]) => part(facts, *image, Class::IMAGE),
        (Op::TypeFunction, [returns, parameters @ ..]) => {
            let function = |word: &u32| {
                matches!(facts.module.type_declared(*word).map(|ty| facts.module.ty(ty)), Some(Type::Function { .. }))
            };
            if function(returns) {
                return Some("a function that returns a function's type".to_owned());
            }
            parameters.iter().find_map(|parameter| held(facts, *parameter))
        }
        _ => None,
    }
}

/// Types that are what they are made of: a second declaration says nothing new.
const PLAIN: &[Op] = &[
    Op::TypeVoid,
    Op::TypeBool,
    Op::TypeInt,
    Op::TypeFloat,
    Op::TypeVector,
    Op::TypeMatrix,
    Op::TypeImage,
    Op::TypeSampler,
    Op::TypeSampledImage,
    Op::TypeFunction,
];

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "type-parts",
        id: "SPIR-V specification, Type-Declaration Instructions: Component, Column, Element, Member and Parameter Types, Length",
        says: "types are made of types that they can hold, and arrays have constant lengths of at least one",
        severity: Severity::Error,
        on: On::Instructions(
            &[
                Op::TypeVector,
                Op::TypeMatrix,
                Op::TypeArray,
                Op::TypeRuntimeArray,
                Op::TypeStruct,
                Op::TypeSampledImage,
                Op::TypeFunction,
            ],
            |facts, instruction, found| {
                if let Some(problem) = problem(facts, instruction) {
                    let name = instruction.name();
                    found.at(instruction, format!("{name} of {problem}"));
                }
            },
        ),
    },
    Rule {
        name: "type-repeated",
        id: "SPIR-V specification, 2.8 Types and Variables: no two non-aggregate, non-pointer types have one opcode and the same operands",
        says: "types other than aggregates and pointers are declared once",
        severity: Severity::Error,
        on: On::Instructions(PLAIN, |facts, instruction, found| {
            let ty = instruction.result().and_then(|word| facts.module.type_declared(word));
            // An enumerant that is newer than the tables tells types apart that look the same here.
            let Some(ty) = ty.filter(|_| facts.module.unknown_instructions() == 0) else { return };
            let first = facts.module.type_definition(ty);
            if first.index != instruction.index && first.operands() == instruction.operands() {
                found.at(instruction, format!("a second declaration of {}", show(facts, ty)));
            }
        }),
    },
];
