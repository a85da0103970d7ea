//! Types of atomic instructions.

use super::Constraint::{Is, Same, Unless};
use super::{A, Constraint, D, E, F, R, Signature, TypeClass};
use crate::rules::opcode_groups::ATOMIC_INTEGERS;
use crate::rules::{Check, Facts, Rule, Severity};
use assay_spirv::module::{Type, TypeId};
use assay_spirv::tables::{Capability, Op};

/// Vectors of two or four 16-bit floats require `AtomicFloat16VectorNV`.
const NO_VECTOR: Constraint = Unless(Capability::AtomicFloat16VectorNV, &Is(R, TypeClass::NUMBER));

static ATOMICS: &[Signature] = &[
    Signature {
        ops: &[Op::AtomicLoad],
        constraints: &[Is(R, TypeClass::NUMBER), Is(A, TypeClass::POINTER), Same(A.pointee(), R)],
    },
    Signature {
        ops: &[Op::AtomicStore],
        constraints: &[Is(D, TypeClass::NUMBER), Is(A, TypeClass::POINTER), Same(A.pointee(), D)],
    },
    Signature {
        ops: &[Op::AtomicExchange],
        constraints: &[
            Is(R, TypeClass::NUMBERS),
            NO_VECTOR,
            Is(A, TypeClass::POINTER),
            Same(A.pointee(), R),
            Same(D, R),
        ],
    },
    Signature {
        ops: &[Op::AtomicCompareExchange, Op::AtomicCompareExchangeWeak],
        constraints: &[Is(R, TypeClass::INT), Is(A, TypeClass::POINTER), Same(A.pointee(), R), Same(E, R), Same(F, R)],
    },
    Signature {
        ops: &[Op::AtomicIIncrement, Op::AtomicIDecrement],
        constraints: &[Is(R, TypeClass::INT), Is(A, TypeClass::POINTER), Same(A.pointee(), R)],
    },
    Signature {
        ops: ATOMIC_INTEGERS,
        constraints: &[Is(R, TypeClass::INT), Is(A, TypeClass::POINTER), Same(A.pointee(), R), Same(D, R)],
    },
    Signature {
        ops: &[Op::AtomicFAddEXT, Op::AtomicFMinEXT, Op::AtomicFMaxEXT],
        constraints: &[
            Is(R, TypeClass::FLOATS),
            NO_VECTOR,
            Is(A, TypeClass::POINTER),
            Same(A.pointee(), R),
            Same(D, R),
        ],
    },
];

/// Capability that an atomic requires for the type that it operates on. `None` if it requires none
/// for it.
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
        requirement: "Pointer of an atomic instruction must point to the type of its result and value, which must be a number of the required kind",
        severity: Severity::Error,
        check: Check::Typed(ATOMICS),
    },
    Rule {
        name: "atomic-width",
        id: "SPIR-V specification, Int64Atomics; SPV_EXT_shader_atomic_float_add, _min_max, 16_add: the capability must be declared",
        requirement: "64-bit integer atomics, and float atomics of each width, require their capability",
        severity: Severity::Error,
        check: Check::Instructions(crate::rules::opcode_groups::ATOMICS, |facts, instruction, found| {
            let Some(op) = instruction.op else { return };
            let Some((_, Some(ty))) = facts.pointer(instruction.operand(0)) else { return };
            if let Some(capability) = of_width(facts, op, ty).filter(|capability| !facts.has(*capability)) {
                let shown = crate::rules::analysis::typing::show(facts.module, ty);
                found.report(instruction, format!("{op} on {shown} without capability {capability}"));
            }
        }),
    },
];
