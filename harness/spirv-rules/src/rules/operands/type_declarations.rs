//! Type declarations: their parts and their uniqueness.

use crate::rules::analysis::typing::{IdType, TypeClass, show};
use crate::rules::{Check, Facts, Rule, Severity};
use assay_spirv::module::{Instruction, Type};
use assay_spirv::tables::{Capability, Op};

/// Describes a part of a type that is not of the required class.
fn part_problem(facts: &Facts, word: u32, class: TypeClass) -> Option<String> {
    let ty = facts.module.type_declared(word)?;
    // Vectors of pointers belong to an extension.
    let pointers = facts.has(Capability::MaskedGatherScatterINTEL) && facts.module.pointer(ty).is_some();
    (!facts.typing().view(ty).is(class) && !pointers)
        .then(|| format!("{}, expected {}", show(facts.module, ty), class.text))
}

/// Describes a part of a type that is not a type of values.
fn value_type_problem(facts: &Facts, word: u32) -> Option<String> {
    let ty = facts.module.type_declared(word)?;
    let held = !matches!(facts.module.ty(ty), Type::Void | Type::Function { .. });
    (!held).then(|| format!("{}, which is not a type of values", show(facts.module, ty)))
}

/// Describes an array length that is not a constant integer of at least one.
fn length_problem(facts: &Facts, word: u32) -> Option<String> {
    let module = facts.module;
    if let Some(made) = module.definition_of(word).and_then(|made| made.op)
        && !facts.is_constant(word)
    {
        return Some(format!("a length that is the result of {made}, expected a constant"));
    }
    let IdType::Known(ty) = facts.typing().value(module, word) else { return None };
    if !facts.typing().view(ty).is(TypeClass::INT) {
        return Some(format!("a length that is {}, expected an integer", show(facts.module, ty)));
    }
    let plain = module.definition_of(word)?.op == Some(Op::Constant);
    let length = module.constant_int(word).filter(|_| plain)?;
    // An unsigned 64-bit length above `i64::MAX` appears negative here and is valid.
    let signed = matches!(module.ty(ty), Type::Int { signed: true, .. });
    (length == 0 || (signed && length < 0)).then(|| format!("length {length}, expected at least 1"))
}

fn declaration_problem(facts: &Facts, instruction: Instruction) -> Option<String> {
    match (instruction.op?, instruction.operands()) {
        (Op::TypeVector, [component, ..]) => part_problem(facts, *component, TypeClass::SCALAR),
        (Op::TypeMatrix, [column, count, ..]) => {
            let columns = || (!(2..=4).contains(count)).then(|| format!("{count} columns, expected 2 to 4"));
            part_problem(facts, *column, TypeClass::FLOAT_VECTOR).or_else(columns)
        }
        (Op::TypeArray, [element, count, ..]) => {
            value_type_problem(facts, *element).or_else(|| length_problem(facts, *count))
        }
        (Op::TypeRuntimeArray, [element, ..]) => value_type_problem(facts, *element),
        (Op::TypeStruct, members) => members.iter().find_map(|member| value_type_problem(facts, *member)),
        (Op::TypeSampledImage, [image, ..]) => part_problem(facts, *image, TypeClass::IMAGE),
        (Op::TypeFunction, [returns, parameters @ ..]) => {
            let function = |word: &u32| {
                matches!(facts.module.type_declared(*word).map(|ty| facts.module.ty(ty)), Some(Type::Function { .. }))
            };
            if function(returns) {
                return Some("a function type as Return Type".to_owned());
            }
            parameters.iter().find_map(|parameter| value_type_problem(facts, *parameter))
        }
        _ => None,
    }
}

/// Types that must not be declared twice: all except aggregates and pointers.
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
        requirement: "the component, column, element, member and parameter types of a type must be of the required kind, and array lengths constant integers of at least 1",
        severity: Severity::Error,
        check: Check::Instructions(
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
                if let Some(problem) = declaration_problem(facts, instruction) {
                    let name = instruction.name();
                    found.report(instruction, format!("{name} of {problem}"));
                }
            },
        ),
    },
    Rule {
        name: "type-repeated",
        id: "SPIR-V specification, 2.8 Types and Variables: no two non-aggregate, non-pointer types have one opcode and the same operands",
        requirement: "non-aggregate, non-pointer types must be declared only once",
        severity: Severity::Error,
        check: Check::Instructions(PLAIN, |facts, instruction, found| {
            let ty = instruction.result().and_then(|word| facts.module.type_declared(word));
            // Two types that differ only in an enumerant unknown to the tables appear equal here.
            let Some(ty) = ty.filter(|_| facts.module.unknown_instructions() == 0) else { return };
            let first = facts.module.type_definition(ty);
            if first.index != instruction.index && first.operands() == instruction.operands() {
                found.report(instruction, format!("second declaration of {}", show(facts.module, ty)));
            }
        }),
    },
];
