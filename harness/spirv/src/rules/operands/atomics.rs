//! Atomic instructions.

use super::Ask::{Is, Same, Unless};
use super::{A, Ask, Class, D, E, F, R, Signature};
use crate::module::{Type, TypeId};
use crate::rules::ops::ATOMIC_INTEGERS;
use crate::rules::{Facts, On, Rule, Severity};
use crate::tables::{Capability, Op};

/// Vectors of two or four halves are NVIDIA's.
const NO_VECTOR: Ask = Unless(Capability::AtomicFloat16VectorNV, &Is(R, Class::NUMBER));

static ATOMICS: &[Signature] = &[
    Signature { ops: &[Op::AtomicLoad], asks: &[Is(R, Class::NUMBER), Is(A, Class::POINTER), Same(A.pointee(), R)] },
    Signature { ops: &[Op::AtomicStore], asks: &[Is(D, Class::NUMBER), Is(A, Class::POINTER), Same(A.pointee(), D)] },
    Signature {
        ops: &[Op::AtomicExchange],
        asks: &[Is(R, Class::NUMBERS), NO_VECTOR, Is(A, Class::POINTER), Same(A.pointee(), R), Same(D, R)],
    },
    Signature {
        ops: &[Op::AtomicCompareExchange, Op::AtomicCompareExchangeWeak],
        asks: &[Is(R, Class::INT), Is(A, Class::POINTER), Same(A.pointee(), R), Same(E, R), Same(F, R)],
    },
    Signature {
        ops: &[Op::AtomicIIncrement, Op::AtomicIDecrement],
        asks: &[Is(R, Class::INT), Is(A, Class::POINTER), Same(A.pointee(), R)],
    },
    Signature {
        ops: ATOMIC_INTEGERS,
        asks: &[Is(R, Class::INT), Is(A, Class::POINTER), Same(A.pointee(), R), Same(D, R)],
    },
    Signature {
        ops: &[Op::AtomicFAddEXT, Op::AtomicFMinEXT, Op::AtomicFMaxEXT],
        asks: &[Is(R, Class::FLOATS), NO_VECTOR, Is(A, Class::POINTER), Same(A.pointee(), R), Same(D, R)],
    },
];

/// The capability of an atomic on numbers of a width; `None` where it needs none of its own.
fn of_width(facts: &Facts, op: Op, ty: TypeId) -> Option<Capability> {
    match (op, facts.module.ty(ty)) {
        (_, Type::Int { width: 64, .. }) => Some(Capability::Int64Atomics),
        (Op::AtomicFAddEXT, Type::Float { width, encoding: None }) => match width {
            16 => Some(Capability::AtomicFloat16AddEXT),
            32 => Some(Capability::AtomicFloat32AddEXT),
            64 => Some(Capability::AtomicFloat64AddEXT),
            _ => None,
        },
        (Op::AtomicFMinEXT | Op::AtomicFMaxEXT, Type::Float { width, encoding: None }) => match width {
            16 => Some(Capability::AtomicFloat16MinMaxEXT),
            32 => Some(Capability::AtomicFloat32MinMaxEXT),
            64 => Some(Capability::AtomicFloat64MinMaxEXT),
            _ => None,
        },
        _ => None,
    }
}

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "atomic-types",
        id: "SPIR-V specification, Atomic Instructions: Result Type, Pointer, Value and Comparator",
        says: "an atomic's pointer points to the type of its result and of its value, a number of the kind that it names",
        severity: Severity::Error,
        on: On::Typed(ATOMICS),
    },
    Rule {
        name: "atomic-width",
        id: "SPIR-V specification, Int64Atomics; SPV_EXT_shader_atomic_float_add, _min_max, 16_add: the capability must be declared",
        says: "atomics on 64-bit integers, and float atomics of each width, are declared",
        severity: Severity::Error,
        on: On::Instructions(crate::rules::ops::ATOMICS, |facts, instruction, found| {
            let Some(op) = instruction.op else { return };
            let Some((_, Some(ty))) = facts.pointer(instruction.operand(0)) else { return };
            if let Some(capability) = of_width(facts, op, ty).filter(|capability| !facts.has(*capability)) {
                let shown = super::typing::show(facts, ty);
                found.at(instruction, format!("{op} on {shown} without capability {capability}"));
            }
        }),
    },
];
