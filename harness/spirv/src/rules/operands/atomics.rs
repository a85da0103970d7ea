//! Atomic instructions.

use super::Ask::{Is, Same, Unless};
use super::{A, Ask, Class, D, E, F, R, Signature};
use crate::rules::ops::ATOMIC_INTEGERS;
use crate::rules::{On, Rule};
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

pub(in super::super) static RULES: &[Rule] = &[Rule {
    name: "atomic-types",
    id: "SPIR-V specification, Atomic Instructions: Result Type, Pointer, Value and Comparator",
    says: "an atomic's pointer points to the type of its result and of its value, a number of the kind that it names",
    on: On::Typed(ATOMICS),
}];
