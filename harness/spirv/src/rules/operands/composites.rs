//! Composites: how they are made, and what indexes lead to; constants among them.

use super::Ask::{Holds, Is, Same};
use super::typing::{Class, Value};
use super::{A, B, C, Operands, R, Signature};
use crate::hash::FastSet;
use crate::module::{Type, TypeId};
use crate::rules::{On, Rule, Severity};
use crate::tables::{Capability, Op};

/// What an index leads to.
pub(super) enum Step {
    /// A part of this type.
    To(TypeId),
    /// A part that is not judged.
    Unknown,
}

impl Operands<'_> {
    /// The part of a type that an index leads to; `index` is `None` where only running the shader tells.
    pub(super) fn step(&self, ty: TypeId, index: Option<u64>) -> Result<Step, String> {
        let module = self.facts.module;
        let outside = |count: u64| index.is_some_and(|index| index >= count);
        let refuse = |count: u64| Err(format!("index {} into {} of {count}", index.unwrap_or(0), self.show_type(ty)));
        match module.ty(ty) {
            Type::Vector { component: inner, count } | Type::Matrix { column: inner, count } => {
                if outside(u64::from(*count)) { refuse(u64::from(*count)) } else { Ok(Step::To(*inner)) }
            }
            Type::Array { element, length } => match self.length(*length) {
                Some(count) if outside(count) => refuse(count),
                _ => Ok(Step::To(*element)),
            },
            Type::RuntimeArray { element } => Ok(Step::To(*element)),
            Type::Struct { .. } => {
                let members = module.members(ty);
                let Some(index) = index else {
                    return Err("an index into a structure that is no constant".to_owned());
                };
                match usize::try_from(index).ok().and_then(|index| members.get(index)) {
                    Some(member) => Ok(Step::To(*member)),
                    None => refuse(members.len() as u64),
                }
            }
            _ if self.view(ty).is_foreign() => Ok(Step::Unknown),
            _ => Err(format!("an index into {}, which has no parts", self.show_type(ty))),
        }
    }

    /// The length of an array, where no specialization changes it.
    fn length(&self, word: u32) -> Option<u64> {
        let plain = self.facts.module.definition_of_word(word)?.op == Some(Op::Constant);
        let length = self.facts.module.constant_int(word).filter(|_| plain)?;
        u64::try_from(length).ok()
    }

    /// The type that literal indexes from operand `from` on lead to; `None` where it is not judged.
    fn indexed(&self, ty: TypeId, from: usize) -> Option<Result<TypeId, String>> {
        let mut at = ty;
        for index in self.words.get(from..).unwrap_or_default() {
            match self.step(at, Some(u64::from(*index))) {
                Ok(Step::To(part)) => at = part,
                Ok(Step::Unknown) => return None,
                Err(problem) => return Some(Err(problem)),
            }
        }
        Some(Ok(at))
    }

    /// The types of the operands; `None` where one of them is not judged.
    fn constituents(&self) -> Option<Result<Vec<TypeId>, String>> {
        let mut types = Vec::with_capacity(self.words.len());
        for word in self.words {
            match self.value(*word) {
                Value::Of(ty) if self.view(ty).is_foreign() => return None,
                Value::Of(ty) => types.push(ty),
                Value::No(op) => return Some(Err(format!("a Constituent is made by {op}, expected a value"))),
                Value::Unknown => return None,
            }
        }
        Some(Ok(types))
    }

    /// What is wrong with the parts that a composite is made of; `joins` says whether vectors are made of vectors.
    fn made_of_parts(&self, joins: bool) -> Option<String> {
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
            (found != expected).then(|| format!("{found} parts for {} of {expected}", self.show_type(result)))
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
                    return Some("a vector of one Constituent, expected two at least".to_owned());
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
            _ if self.view(result).is_foreign() => None,
            _ => Some(format!("Result Type is {}, expected a composite", self.show_type(result))),
        }
    }
}

fn constructed(operands: &Operands) -> Option<String> {
    operands.made_of_parts(true)
}

fn constant_parts(operands: &Operands) -> Option<String> {
    let made = |word: &u32| Some((*word, operands.facts.module.definition_of_word(*word)?.op?));
    let odd = operands
        .words
        .iter()
        .filter_map(made)
        .find(|(word, op)| !operands.facts.is_constant(*word) && !matches!(op, Op::Undef | Op::PoisonKHR));
    if let Some((word, op)) = odd {
        return Some(format!("{} is made by {op}, expected constants", operands.facts.name(word)));
    }
    operands.made_of_parts(false)
}

fn extracted(operands: &Operands) -> Option<String> {
    let (result, composite) = (operands.result_type()?, operands.type_at(0)?);
    leads_to(operands, composite, 1, result)
}

fn inserted(operands: &Operands) -> Option<String> {
    let (object, composite) = (operands.type_at(0)?, operands.type_at(1)?);
    leads_to(operands, composite, 2, object)
}

fn leads_to(operands: &Operands, composite: TypeId, from: usize, expected: TypeId) -> Option<String> {
    match operands.indexed(composite, from)? {
        Err(problem) => Some(problem),
        Ok(part) if part == expected => None,
        Ok(part) if operands.view(part).is_foreign() && operands.view(expected).is_foreign() => None,
        Ok(part) => {
            Some(format!("the indexes lead to {}, not to {}", operands.show_type(part), operands.show_type(expected)))
        }
    }
}

/// Components of a shuffle that are left undefined.
const UNDEFINED: u32 = u32::MAX;

fn shuffled(operands: &Operands) -> Option<String> {
    let size = |ty: TypeId| operands.view(ty).count;
    let views = [operands.result_type()?, operands.type_at(0)?, operands.type_at(1)?];
    if views.iter().any(|ty| operands.view(*ty).is_foreign()) {
        return None;
    }
    let [result, first, second] = views.map(size);
    let components = operands.words.get(2..).unwrap_or_default();
    if components.len() != result as usize {
        return Some(format!("{} components for a vector of {result}", components.len()));
    }
    let beyond = |component: &&u32| **component != UNDEFINED && **component >= first.saturating_add(second);
    components.iter().find(beyond).map(|component| format!("component {component} of {first} and {second}"))
}

/// Whether one aggregate is a copy of another as far as members go: arrays of one length, structures of as many members. `known`
/// has the pairs that have been looked at: a structure may hold another many times.
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
        _ => operands.view(a).is_foreign() && operands.view(b).is_foreign(),
    }
}

fn copied(operands: &Operands) -> Option<String> {
    let (result, operand) = (operands.result_type()?, operands.type_at(0)?);
    if operands.view(result).is_foreign() {
        return None;
    }
    let (to, from) = (operands.show_type(result), operands.show_type(operand));
    if result == operand {
        return Some(format!("Result Type is the operand's, {from}, expected another type"));
    }
    let matches = match_logically(operands, result, operand, &mut FastSet::default());
    (!matches).then(|| format!("{from} and {to} do not match"))
}

fn null(operands: &Operands) -> Option<String> {
    let ty = operands.result_type()?;
    (!operands.view(ty).has_null).then(|| format!("{}, which has no null value", operands.show_type(ty)))
}

static COMPOSITES: &[Signature] = &[
    Signature {
        ops: &[Op::VectorExtractDynamic],
        asks: &[Is(A, Class::VECTOR), Same(R, A.inner()), Is(B, Class::INT)],
    },
    Signature {
        ops: &[Op::VectorInsertDynamic],
        asks: &[Is(R, Class::VECTOR), Same(A, R), Same(B, R.inner()), Is(C, Class::INT)],
    },
    Signature {
        ops: &[Op::VectorShuffle],
        asks: &[
            Is(R, Class::VECTOR),
            Is(A, Class::VECTOR),
            Is(B, Class::VECTOR),
            Same(A.inner(), R.inner()),
            Same(B.inner(), R.inner()),
            Holds(shuffled),
        ],
    },
    Signature { ops: &[Op::CompositeConstruct], asks: &[Holds(constructed)] },
    Signature { ops: &[Op::CompositeExtract], asks: &[Is(A, Class::OBJECT), Holds(extracted)] },
    Signature { ops: &[Op::CompositeInsert], asks: &[Same(B, R), Is(A, Class::OBJECT), Holds(inserted)] },
    Signature { ops: &[Op::CopyObject], asks: &[Is(R, Class::OBJECT), Same(A, R)] },
    Signature { ops: &[Op::CopyLogical], asks: &[Is(A, Class::OBJECT), Holds(copied)] },
];

static CONSTANTS: &[Signature] = &[
    Signature {
        ops: &[Op::ConstantTrue, Op::ConstantFalse, Op::SpecConstantTrue, Op::SpecConstantFalse],
        asks: &[Is(R, Class::BOOL)],
    },
    Signature { ops: &[Op::ConstantComposite, Op::SpecConstantComposite], asks: &[Holds(constant_parts)] },
    Signature { ops: &[Op::ConstantNull], asks: &[Holds(null)] },
    Signature { ops: &[Op::Undef], asks: &[Is(R, Class::OBJECT)] },
];

pub(in super::super) static RULES: &[Rule] = &[
    Rule {
        name: "composite-types",
        id: "SPIR-V specification, Composite Instructions: Result Type, operands and indexes",
        says: "composites are made of parts that fit, and indexes lead to parts that are there and of the type that is named",
        severity: Severity::Error,
        on: On::Typed(COMPOSITES),
    },
    Rule {
        name: "constant-types",
        id: "SPIR-V specification, Constant-Creation Instructions: Result Type and Constituents",
        says: "constants are of types that have them, made of constants that fit",
        severity: Severity::Error,
        on: On::Typed(CONSTANTS),
    },
    Rule {
        name: "result-type",
        id: "SPIR-V specification, Result Type: the <id> of a type instruction",
        says: "a Result Type is a type",
        severity: Severity::Error,
        on: On::Module(|facts, found| {
            for index in &facts.typing().without_type {
                let instruction = facts.module.instruction(*index);
                let name = instruction.result_type().map_or_else(String::new, |word| facts.name(word));
                found.at(instruction, format!("Result Type {name} is no type"));
            }
        }),
    },
];
