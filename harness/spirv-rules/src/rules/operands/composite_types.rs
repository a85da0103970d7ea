//! Types of composite and constant instructions: constituents and indexes.

use super::Constraint::{Custom, Is, Same};
use super::{A, B, C, Operands, R, Signature};
use crate::rules::analysis::typing::{IdType, TypeClass};
use crate::rules::{Check, Rule, Severity};
use assay_spirv::hash::FastSet;
use assay_spirv::module::{Type, TypeId};
use assay_spirv::tables::{Capability, Op};

/// Result of applying one index to a type.
pub(super) enum IndexStep {
    /// A part of this type.
    To(TypeId),
    /// A part whose type is not checked.
    Unknown,
}

impl Operands<'_> {
    /// Applies an index to a type. `index` is `None` if only execution shows its value.
    pub(super) fn step(&self, ty: TypeId, index: Option<u64>) -> Result<IndexStep, String> {
        let module = self.facts.module;
        let outside = |count: u64| index.is_some_and(|index| index >= count);
        let refuse = |count: u64| {
            Err(format!("index {} is out of bounds for {} of {count}", index.unwrap_or(0), self.show_type(ty)))
        };
        match module.ty(ty) {
            Type::Vector { component: inner, count } | Type::Matrix { column: inner, count } => {
                if outside(u64::from(*count)) { refuse(u64::from(*count)) } else { Ok(IndexStep::To(*inner)) }
            }
            Type::Array { element, length } => match self.length(*length) {
                Some(count) if outside(count) => refuse(count),
                _ => Ok(IndexStep::To(*element)),
            },
            Type::RuntimeArray { element } => Ok(IndexStep::To(*element)),
            Type::Struct { .. } => {
                let members = module.members(ty);
                let Some(index) = index else {
                    return Err("index into a structure is not a constant".to_owned());
                };
                match usize::try_from(index).ok().and_then(|index| members.get(index)) {
                    Some(member) => Ok(IndexStep::To(*member)),
                    None => refuse(members.len() as u64),
                }
            }
            _ if self.view(ty).is_unconstrained() => Ok(IndexStep::Unknown),
            _ => Err(format!("index into {}, which is not a composite", self.show_type(ty))),
        }
    }

    /// Length of an array. `None` if specialization can change it.
    fn length(&self, word: u32) -> Option<u64> {
        let plain = self.facts.module.definition_of(word)?.op == Some(Op::Constant);
        let length = self.facts.module.constant_int(word).filter(|_| plain)?;
        u64::try_from(length).ok()
    }

    /// Type that the literal indexes from operand `from` on lead to. `None` if it is not checked.
    fn indexed(&self, ty: TypeId, from: usize) -> Option<Result<TypeId, String>> {
        let mut at = ty;
        for index in self.words.get(from..).unwrap_or_default() {
            match self.step(at, Some(u64::from(*index))) {
                Ok(IndexStep::To(part)) => at = part,
                Ok(IndexStep::Unknown) => return None,
                Err(problem) => return Some(Err(problem)),
            }
        }
        Some(Ok(at))
    }

    /// Types of the operands. `None` if one of them is not checked.
    fn constituents(&self) -> Option<Result<Vec<TypeId>, String>> {
        let mut types = Vec::with_capacity(self.words.len());
        for word in self.words {
            match self.value(*word) {
                IdType::Known(ty) if self.view(ty).is_unconstrained() => return None,
                IdType::Known(ty) => types.push(ty),
                IdType::NotAValue(op) => {
                    return Some(Err(format!("a Constituent is the result of {op}, expected a value")));
                }
                IdType::Unknown => return None,
            }
        }
        Some(Ok(types))
    }

    /// Describes a mismatch between a composite and its constituents. `joins`: a vector may be
    /// constructed from vectors.
    fn constituents_problem(&self, joins: bool) -> Option<String> {
        let result = self.result_type()?;
        let types = match self.constituents()? {
            Ok(types) => types,
            Err(problem) => return Some(problem),
        };
        let module = self.facts.module;
        let other = |found: TypeId, expected: TypeId| {
            format!("a Constituent is {}, expected {}", self.show_type(found), self.show_type(expected))
        };
        let count = |found: u64, expected: u64| {
            (found != expected).then(|| format!("{found} constituents for {} of {expected}", self.show_type(result)))
        };
        let all = |expected: TypeId| types.iter().find(|ty| **ty != expected).map(|ty| other(*ty, expected));
        match *module.ty(result) {
            Type::Vector { component, count: size } if joins => {
                let fits = |ty: TypeId| match *module.ty(ty) {
                    Type::Vector { component: inner, count } if inner == component => Some(u64::from(count)),
                    _ => (ty == component).then_some(1),
                };
                if let Some(odd) = types.iter().find(|ty| fits(**ty).is_none()) {
                    return Some(other(*odd, component));
                }
                if types.len() < 2 && !self.facts.has(Capability::LongVectorEXT) {
                    return Some("one Constituent for a vector, expected at least two".to_owned());
                }
                count(types.iter().filter_map(|ty| fits(*ty)).sum(), u64::from(size))
            }
            Type::Vector { component: part, count: size } | Type::Matrix { column: part, count: size } => {
                all(part).or_else(|| count(types.len() as u64, u64::from(size)))
            }
            Type::Array { element, length } => {
                let size = self.length(length);
                all(element).or_else(|| count(types.len() as u64, size?))
            }
            Type::Struct { .. } => {
                let members = module.members(result);
                let odd = types.iter().zip(members).find(|(ty, member)| ty != member);
                odd.map(|(ty, member)| other(*ty, *member)).or_else(|| count(types.len() as u64, members.len() as u64))
            }
            _ if self.view(result).is_unconstrained() => None,
            _ => Some(format!("Result Type is {}, expected a composite", self.show_type(result))),
        }
    }
}

fn construct_problem(operands: &Operands) -> Option<String> {
    operands.constituents_problem(true)
}

fn constant_problem(operands: &Operands) -> Option<String> {
    let made = |word: &u32| Some((*word, operands.facts.module.definition_of(*word)?.op?));
    let odd = operands
        .words
        .iter()
        .filter_map(made)
        .find(|(word, op)| !operands.facts.is_constant(*word) && !matches!(op, Op::Undef | Op::PoisonKHR));
    if let Some((word, op)) = odd {
        return Some(format!("{} is the result of {op}, expected a constant", operands.facts.name(word)));
    }
    operands.constituents_problem(false)
}

fn extract_problem(operands: &Operands) -> Option<String> {
    let (result, composite) = (operands.result_type()?, operands.type_at(0)?);
    indexed_type_problem(operands, composite, 1, result)
}

fn insert_problem(operands: &Operands) -> Option<String> {
    let (object, composite) = (operands.type_at(0)?, operands.type_at(1)?);
    indexed_type_problem(operands, composite, 2, object)
}

fn indexed_type_problem(operands: &Operands, composite: TypeId, from: usize, expected: TypeId) -> Option<String> {
    match operands.indexed(composite, from)? {
        Err(problem) => Some(problem),
        Ok(part) if part == expected => None,
        Ok(part) if operands.view(part).is_unconstrained() && operands.view(expected).is_unconstrained() => None,
        Ok(part) => {
            Some(format!("the indexes lead to {}, expected {}", operands.show_type(part), operands.show_type(expected)))
        }
    }
}

/// Component literal of `OpVectorShuffle` for an undefined component.
const UNDEFINED: u32 = u32::MAX;

fn shuffle_problem(operands: &Operands) -> Option<String> {
    let size = |ty: TypeId| operands.view(ty).count;
    let views = [operands.result_type()?, operands.type_at(0)?, operands.type_at(1)?];
    if views.iter().any(|ty| operands.view(*ty).is_unconstrained()) {
        return None;
    }
    let [result, first, second] = views.map(size);
    let components = operands.words.get(2..).unwrap_or_default();
    if components.len() != result as usize {
        return Some(format!("{} components for a vector of {result}", components.len()));
    }
    let beyond = |component: &&u32| **component != UNDEFINED && **component >= first.saturating_add(second);
    components
        .iter()
        .find(beyond)
        .map(|component| format!("component {component} is out of bounds for vectors of {first} and {second}"))
}

/// Returns whether two aggregates logically match: arrays of equal length, or structures with as
/// many members, whose parts match. `known` holds the pairs already compared, because a structure
/// may contain another many times.
fn match_logically(operands: &Operands, a: TypeId, b: TypeId, known: &mut FastSet<(u32, u32)>) -> bool {
    let module = operands.facts.module;
    if a == b || !known.insert((a.0, b.0)) {
        return true;
    }
    match (module.ty(a), module.ty(b)) {
        (Type::Array { element: a, length }, Type::Array { element: b, length: other }) => {
            let judged = operands.length(*length).zip(operands.length(*other));
            judged.is_none_or(|(a, b)| a == b) && match_logically(operands, *a, *b, known)
        }
        (Type::Struct { .. }, Type::Struct { .. }) => {
            let (a, b) = (module.members(a), module.members(b));
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| match_logically(operands, *a, *b, known))
        }
        _ => operands.view(a).is_unconstrained() && operands.view(b).is_unconstrained(),
    }
}

fn copy_problem(operands: &Operands) -> Option<String> {
    let (result, operand) = (operands.result_type()?, operands.type_at(0)?);
    if operands.view(result).is_unconstrained() {
        return None;
    }
    let (to, from) = (operands.show_type(result), operands.show_type(operand));
    if result == operand {
        return Some(format!("Result Type equals the operand's type {from}, expected another type"));
    }
    let matches = match_logically(operands, result, operand, &mut FastSet::default());
    (!matches).then(|| format!("{from} and {to} do not logically match"))
}

fn null_problem(operands: &Operands) -> Option<String> {
    let ty = operands.result_type()?;
    (!operands.view(ty).has_null).then(|| format!("{} has no null value", operands.show_type(ty)))
}

static COMPOSITES: &[Signature] = &[
    Signature {
        ops: &[Op::VectorExtractDynamic],
        constraints: &[Is(A, TypeClass::VECTOR), Same(R, A.element()), Is(B, TypeClass::INT)],
    },
    Signature {
        ops: &[Op::VectorInsertDynamic],
        constraints: &[Is(R, TypeClass::VECTOR), Same(A, R), Same(B, R.element()), Is(C, TypeClass::INT)],
    },
    Signature {
        ops: &[Op::VectorShuffle],
        constraints: &[
            Is(R, TypeClass::VECTOR),
            Is(A, TypeClass::VECTOR),
            Is(B, TypeClass::VECTOR),
            Same(A.element(), R.element()),
            Same(B.element(), R.element()),
            Custom(shuffle_problem),
        ],
    },
    Signature { ops: &[Op::CompositeConstruct], constraints: &[Custom(construct_problem)] },
    Signature { ops: &[Op::CompositeExtract], constraints: &[Is(A, TypeClass::OBJECT), Custom(extract_problem)] },
    Signature {
        ops: &[Op::CompositeInsert],
        constraints: &[Same(B, R), Is(A, TypeClass::OBJECT), Custom(insert_problem)],
    },
    Signature { ops: &[Op::CopyObject], constraints: &[Is(R, TypeClass::OBJECT), Same(A, R)] },
    Signature { ops: &[Op::CopyLogical], constraints: &[Is(A, TypeClass::OBJECT), Custom(copy_problem)] },
];

static CONSTANTS: &[Signature] = &[
    Signature {
        ops: &[Op::ConstantTrue, Op::ConstantFalse, Op::SpecConstantTrue, Op::SpecConstantFalse],
        constraints: &[Is(R, TypeClass::BOOL)],
    },
    Signature { ops: &[Op::ConstantComposite, Op::SpecConstantComposite], constraints: &[Custom(constant_problem)] },
    Signature { ops: &[Op::ConstantNull], constraints: &[Custom(null_problem)] },
    Signature { ops: &[Op::Undef], constraints: &[Is(R, TypeClass::OBJECT)] },
];

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "composite-types",
        id: "SPIR-V specification, Composite Instructions: Result Type, operands and indexes",
        requirement: "constituents must match the composite's parts, and indexes must lead to an existing part of the required type",
        severity: Severity::Error,
        check: Check::Typed(COMPOSITES),
    },
    Rule {
        name: "constant-types",
        id: "SPIR-V specification, Constant-Creation Instructions: Result Type and Constituents",
        requirement: "constants must have a type that permits them, and constituents of matching types that are constants",
        severity: Severity::Error,
        check: Check::Typed(CONSTANTS),
    },
    Rule {
        name: "result-type",
        id: "SPIR-V specification, Result Type: the <id> of a type instruction",
        requirement: "Result Type must be a type",
        severity: Severity::Error,
        check: Check::Module(|facts, found| {
            for index in &facts.typing().without_type {
                let instruction = facts.module.instruction(*index);
                let name = instruction.result_type().map_or_else(String::new, |word| facts.name(word));
                found.report(instruction, format!("Result Type {name} is not a type"));
            }
        }),
    },
];
