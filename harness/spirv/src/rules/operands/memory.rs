//! Memory: what pointers point to, and where access chains lead.

use super::Ask::{Holds, Is, Same};
use super::composites::Step;
use super::typing::{Class, Value};
use super::{A, B, Operands, R, Signature};
use crate::module::{Type, TypeId};
use crate::rules::{On, Rule, Severity};
use crate::tables::{AddressingModel, Capability, Op, StorageClass};

impl Operands<'_> {
    /// Storage class and pointee of a pointer's type; the pointee is `None` where it is not judged.
    fn pointer(&self, ty: TypeId) -> Option<(StorageClass, Option<TypeId>)> {
        self.facts.module.pointer(ty)
    }

    /// A constant index; `None` where only running the shader or specialization tells.
    fn constant(&self, word: u32) -> Option<u64> {
        let module = self.facts.module;
        let plain = matches!(module.definition_of_word(word)?.op, Some(Op::Constant | Op::ConstantNull));
        // A negative index is beyond every structure.
        module.constant_int(word).filter(|_| plain).map(|index| u64::try_from(index).unwrap_or(u64::MAX))
    }

    /// What is wrong with an access chain whose indexes start at operand `from`.
    fn chain(&self, from: usize) -> Option<String> {
        let (result, base) = (self.result_type()?, self.type_at(0)?);
        let ((to, expected), (class, pointee)) = (self.pointer(result)?, self.pointer(base)?);
        if to != class {
            return Some(format!("Result Type points into {to}, Base into {class}"));
        }
        let mut at = pointee?;
        for word in self.words.get(from..).unwrap_or_default() {
            match self.value(*word) {
                Value::Of(ty) if !self.view(ty).is(Class::INT) => {
                    return Some(format!("an index is {}, expected an integer", self.show_type(ty)));
                }
                Value::Of(_) => {}
                Value::No(op) => return Some(format!("an index is made by {op}, expected a value")),
                Value::Unknown => return None,
            }
            // Whether an index is inside an array, a matrix or a vector is told by running the shader.
            let structure = matches!(self.facts.module.ty(at), Type::Struct { .. });
            let index = if structure { self.constant(*word) } else { None };
            match self.step(at, index) {
                Ok(Step::To(part)) => at = part,
                Ok(Step::Unknown) => return None,
                Err(problem) => return Some(problem),
            }
        }
        let expected = expected?;
        let judged = !(self.view(at).is_foreign() && self.view(expected).is_foreign());
        (at != expected && judged).then(|| {
            format!("the indexes lead to {}, Result Type points to {}", self.show_type(at), self.show_type(expected))
        })
    }
}

fn chain(operands: &Operands) -> Option<String> {
    operands.chain(1)
}

fn pointer_chain(operands: &Operands) -> Option<String> {
    operands.chain(2)
}

/// What `OpArrayLength` asks of its structure: its last member, which is the one that is named, is an array without a length.
fn array_length(operands: &Operands) -> Option<String> {
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
        return Some(format!("member {member} of {}, expected its last one, an array without a length", members.len()));
    }
    None
}

/// What `OpVariable` asks of its initializer: a constant or a module-scope variable of the type that it points to.
fn initializer(operands: &Operands) -> Option<String> {
    let module = operands.facts.module;
    let word = operands.word(1)?;
    let made = module.definition_of_word(word)?;
    let op = made.op?;
    let variable = matches!(op, Op::Variable | Op::UntypedVariableKHR) && module.function_at(made.index).is_none();
    if !variable && !operands.facts.is_constant(word) {
        return Some(format!("Initializer is made by {op}, expected a constant or a module-scope variable"));
    }
    operands.breaks(&Same(B, R.pointee()))
}

/// Pointers that are compared or subtracted point into one class, to one type.
fn alike(operands: &Operands) -> Option<String> {
    let (a, b) = (operands.type_at(0)?, operands.type_at(1)?);
    let ((class, pointee), (other, to)) = (operands.pointer(a)?, operands.pointer(b)?);
    let untyped = pointee.is_none() || to.is_none();
    let same = if untyped { class == other } else { a == b };
    (!same).then(|| format!("{} and {} are compared", operands.show_type(a), operands.show_type(b)))
}

/// With logical addressing, and without variable pointers, a pointer is a variable's, a parameter or a part of one.
fn logical(operands: &Operands) -> Option<String> {
    let facts = operands.facts;
    let made = facts.module.definition_of_word(operands.word(0)?)?.op?;
    let others = [Op::Load, Op::Select, Op::Phi, Op::FunctionCall, Op::ConstantNull, Op::Undef, Op::CompositeExtract];
    let (class, _) = operands.pointer(operands.type_at(0)?)?;
    let judged = facts.addressing_model == Some(AddressingModel::Logical)
        && class != StorageClass::PhysicalStorageBuffer
        && !facts.has(Capability::VariablePointersStorageBuffer);
    (judged && others.contains(&made)).then(|| format!("a pointer that is made by {made}, without variable pointers"))
}

static MEMORY: &[Signature] = &[
    Signature {
        ops: &[Op::Load],
        asks: &[Is(R, Class::OBJECT), Is(A, Class::POINTER), Same(R, A.pointee()), Holds(logical)],
    },
    Signature {
        ops: &[Op::Store],
        asks: &[Is(A, Class::POINTER), Is(B, Class::OBJECT), Same(B, A.pointee()), Holds(logical)],
    },
    Signature {
        ops: &[Op::CopyMemory],
        asks: &[Is(A, Class::POINTER), Is(B, Class::POINTER), Same(B.pointee(), A.pointee())],
    },
    Signature { ops: &[Op::Variable], asks: &[Holds(initializer)] },
    Signature { ops: &[Op::ArrayLength], asks: &[Is(R, Class::UNSIGNED), Is(A, Class::POINTER), Holds(array_length)] },
    Signature {
        ops: &[Op::PtrEqual, Op::PtrNotEqual],
        asks: &[Is(R, Class::BOOL), Is(A, Class::POINTER), Is(B, Class::POINTER), Holds(alike)],
    },
    Signature {
        ops: &[Op::PtrDiff],
        asks: &[Is(R, Class::INT), Is(A, Class::POINTER), Is(B, Class::POINTER), Holds(alike)],
    },
];

static CHAINS: &[Signature] = &[
    Signature {
        ops: &[Op::AccessChain, Op::InBoundsAccessChain],
        asks: &[Is(R, Class::POINTER), Is(A, Class::POINTER), Holds(chain)],
    },
    Signature {
        ops: &[Op::PtrAccessChain, Op::InBoundsPtrAccessChain],
        asks: &[Is(R, Class::POINTER), Is(A, Class::POINTER), Is(B, Class::INT), Holds(pointer_chain)],
    },
];

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "memory-types",
        id: "SPIR-V specification, Memory Instructions: Result Type, Pointer and Object; 2.16.1 Universal Validation Rules: pointers of the Logical addressing model",
        says: "what is loaded, stored, copied or an initial value is of the type that the pointer points to; without variable pointers a pointer is a variable, a parameter or a part of one",
        severity: Severity::Error,
        on: On::Typed(MEMORY),
    },
    Rule {
        name: "access-chain-types",
        id: "SPIR-V specification, OpAccessChain, OpPtrAccessChain: Result Type, Base and Indexes",
        says: "the indexes of an access chain lead to the type that its result points to, in the storage class of its base",
        severity: Severity::Error,
        on: On::Typed(CHAINS),
    },
];
