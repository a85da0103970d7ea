//! Types of memory instructions: pointees, initializers and access chains.

use super::Constraint::{Custom, Is, Same};
use super::composite_types::IndexStep;
use super::{A, B, Operands, R, Signature};
use crate::rules::analysis::typing::{IdType, TypeClass};
use crate::rules::{Check, Rule, Severity};
use assay_spirv::module::{Type, TypeId};
use assay_spirv::tables::{AddressingModel, Capability, Op, StorageClass};

impl Operands<'_> {
    /// Storage class and pointee of a pointer type. The pointee of an untyped pointer is `None`.
    fn pointer(&self, ty: TypeId) -> Option<(StorageClass, Option<TypeId>)> {
        self.facts.module.pointer(ty)
    }

    /// Value of a constant index. `None` if execution or specialization decides it.
    fn constant(&self, word: u32) -> Option<u64> {
        let module = self.facts.module;
        let plain = matches!(module.definition_of(word)?.op, Some(Op::Constant | Op::ConstantNull));
        // A negative index is out of bounds for every structure.
        module.constant_int(word).filter(|_| plain).map(|index| u64::try_from(index).unwrap_or(u64::MAX))
    }

    /// Describes the type mismatch of an access chain whose indexes start at operand `from`.
    fn chain_problem(&self, from: usize) -> Option<String> {
        let (result, base) = (self.result_type()?, self.type_at(0)?);
        let ((to, expected), (class, pointee)) = (self.pointer(result)?, self.pointer(base)?);
        if to != class {
            return Some(format!("Result Type points into {to}, but Base into {class}"));
        }
        let mut at = pointee?;
        for word in self.words.get(from..).unwrap_or_default() {
            match self.value(*word) {
                IdType::Known(ty) if !self.view(ty).is(TypeClass::INT) => {
                    return Some(format!("an index is {}, expected an integer", self.show_type(ty)));
                }
                IdType::Known(_) => {}
                IdType::NotAValue(op) => return Some(format!("an index is the result of {op}, expected a value")),
                IdType::Unknown => return None,
            }
            // Indexes into arrays, matrices and vectors are bounds-checked by execution.
            let structure = matches!(self.facts.module.ty(at), Type::Struct { .. });
            let index = if structure { self.constant(*word) } else { None };
            match self.step(at, index) {
                Ok(IndexStep::To(part)) => at = part,
                Ok(IndexStep::Unknown) => return None,
                Err(problem) => return Some(problem),
            }
        }
        let expected = expected?;
        let judged = !(self.view(at).is_unconstrained() && self.view(expected).is_unconstrained());
        (at != expected && judged).then(|| {
            format!(
                "the indexes lead to {}, but Result Type points to {}",
                self.show_type(at),
                self.show_type(expected)
            )
        })
    }
}

fn chain_problem(operands: &Operands) -> Option<String> {
    operands.chain_problem(1)
}

fn pointer_chain_problem(operands: &Operands) -> Option<String> {
    operands.chain_problem(2)
}

/// Checks that `OpArrayLength` names the last member of a structure, and that this member is a
/// runtime array.
fn array_length_problem(operands: &Operands) -> Option<String> {
    let module = operands.facts.module;
    let (_, structure) = operands.pointer(operands.type_at(0)?)?;
    let structure = structure?;
    let members = module.members(structure);
    if !matches!(module.ty(structure), Type::Struct { .. }) {
        return Some(format!("Structure points to {}, expected a structure", operands.show_type(structure)));
    }
    let member = operands.word(1)? as usize;
    let runtime = members.last().is_some_and(|last| matches!(module.ty(*last), Type::RuntimeArray { .. }));
    if !runtime || member + 1 != members.len() {
        return Some(format!("member {member} of {}, expected the last member, a runtime array", members.len()));
    }
    None
}

/// Checks that an initializer is a constant or a module-scope variable, of the pointee's type.
fn initializer_problem(operands: &Operands) -> Option<String> {
    let module = operands.facts.module;
    let word = operands.word(1)?;
    let made = module.definition_of(word)?;
    let op = made.op?;
    let variable = matches!(op, Op::Variable | Op::UntypedVariableKHR) && module.function_at(made.index).is_none();
    if !variable && !operands.facts.is_constant(word) {
        return Some(format!("Initializer is the result of {op}, expected a constant or a module-scope variable"));
    }
    operands.violation(&Same(B, R.pointee()))
}

/// Checks that compared or subtracted pointers have one storage class and one pointee type.
fn pointer_pair_problem(operands: &Operands) -> Option<String> {
    let (a, b) = (operands.type_at(0)?, operands.type_at(1)?);
    let ((class, pointee), (other, to)) = (operands.pointer(a)?, operands.pointer(b)?);
    let untyped = pointee.is_none() || to.is_none();
    let same = if untyped { class == other } else { a == b };
    (!same).then(|| {
        format!(
            "operands are {} and {}, expected pointers of the same type",
            operands.show_type(a),
            operands.show_type(b)
        )
    })
}

/// Checks the origin of a pointer under logical addressing without variable pointers: a variable, a
/// parameter, or an access chain or copy of one.
fn logical_pointer_problem(operands: &Operands) -> Option<String> {
    let facts = operands.facts;
    let made = facts.module.definition_of(operands.word(0)?)?.op?;
    let others = [Op::Load, Op::Select, Op::Phi, Op::FunctionCall, Op::ConstantNull, Op::Undef, Op::CompositeExtract];
    let (class, _) = operands.pointer(operands.type_at(0)?)?;
    let judged = facts.addressing_model == Some(AddressingModel::Logical)
        && class != StorageClass::PhysicalStorageBuffer
        && !facts.has(Capability::VariablePointersStorageBuffer);
    (judged && others.contains(&made))
        .then(|| format!("Pointer is the result of {made}, which requires variable pointers"))
}

static MEMORY: &[Signature] = &[
    Signature {
        ops: &[Op::Load],
        constraints: &[
            Is(R, TypeClass::OBJECT),
            Is(A, TypeClass::POINTER),
            Same(R, A.pointee()),
            Custom(logical_pointer_problem),
        ],
    },
    Signature {
        ops: &[Op::Store],
        constraints: &[
            Is(A, TypeClass::POINTER),
            Is(B, TypeClass::OBJECT),
            Same(B, A.pointee()),
            Custom(logical_pointer_problem),
        ],
    },
    Signature {
        ops: &[Op::CopyMemory],
        constraints: &[Is(A, TypeClass::POINTER), Is(B, TypeClass::POINTER), Same(B.pointee(), A.pointee())],
    },
    Signature { ops: &[Op::Variable], constraints: &[Custom(initializer_problem)] },
    Signature {
        ops: &[Op::ArrayLength],
        constraints: &[Is(R, TypeClass::UNSIGNED), Is(A, TypeClass::POINTER), Custom(array_length_problem)],
    },
    Signature {
        ops: &[Op::PtrEqual, Op::PtrNotEqual],
        constraints: &[
            Is(R, TypeClass::BOOL),
            Is(A, TypeClass::POINTER),
            Is(B, TypeClass::POINTER),
            Custom(pointer_pair_problem),
        ],
    },
    Signature {
        ops: &[Op::PtrDiff],
        constraints: &[
            Is(R, TypeClass::INT),
            Is(A, TypeClass::POINTER),
            Is(B, TypeClass::POINTER),
            Custom(pointer_pair_problem),
        ],
    },
];

static CHAINS: &[Signature] = &[
    Signature {
        ops: &[Op::AccessChain, Op::InBoundsAccessChain],
        constraints: &[Is(R, TypeClass::POINTER), Is(A, TypeClass::POINTER), Custom(chain_problem)],
    },
    Signature {
        ops: &[Op::PtrAccessChain, Op::InBoundsPtrAccessChain],
        constraints: &[
            Is(R, TypeClass::POINTER),
            Is(A, TypeClass::POINTER),
            Is(B, TypeClass::INT),
            Custom(pointer_chain_problem),
        ],
    },
];

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "memory-types",
        id: "SPIR-V specification, Memory Instructions: Result Type, Pointer and Object; 2.16.1 Universal Validation Rules: pointers of the Logical addressing model",
        requirement: "loaded, stored, copied and initial values must have the pointee's type; without variable pointers, pointers must be variables, parameters, or access chains or copies of them",
        severity: Severity::Error,
        check: Check::Typed(MEMORY),
    },
    Rule {
        name: "access-chain-types",
        id: "SPIR-V specification, OpAccessChain, OpPtrAccessChain: Result Type, Base and Indexes",
        requirement: "Result Type of an access chain must point to the type that the indexes lead to, in the storage class of Base",
        severity: Severity::Error,
        check: Check::Typed(CHAINS),
    },
];
