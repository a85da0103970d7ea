//! Type constraints of results and operands: the sentences of the instruction descriptions as
//! tables, one item each, with functions for sentences that tables cannot express.
//!
//! Two kinds of types satisfy every constraint: types of extensions that represent numbers or
//! vectors (such as cooperative matrices and tensors), and the types of results of unknown
//! instructions. A rule rejects only what the text certainly rejects.

mod atomic_types;
mod composite_types;
mod control_flow_types;
mod dominance;
mod extended_types;
mod group_types;
mod image_types;
mod memory_types;
mod numeric_types;
mod type_declarations;

use std::cell::Cell;

use super::Facts;
use super::analysis::typing::{IdType, TypeClass, TypeSummary, Typing, show};
use assay_spirv::grammar::{ExtendedInstruction, Operand};
use assay_spirv::module::{Instruction, Type, TypeId};
use assay_spirv::tables::{Capability, Op};
pub(super) use atomic_types::RULES as ATOMICS;
pub(super) use composite_types::RULES as COMPOSITES;
pub(super) use control_flow_types::RULES as CALLS;
pub(super) use dominance::RULES as DOMINANCE;
pub(super) use extended_types::RULES as EXTENDED;
pub(super) use group_types::RULES as GROUPS;
pub(super) use image_types::{GATHERED, RULES as IMAGES};
pub(super) use memory_types::RULES as MEMORY;
pub(super) use numeric_types::RULES as NUMBERS;
pub(super) use type_declarations::RULES as DECLARATIONS;

/// Type constraints that a group of instructions shares.
pub(super) struct Signature {
    pub(super) ops: &'static [Op],
    constraints: &'static [Constraint],
}

/// Path to a type of an instruction: that of its result or of an operand, or a part of it.
#[derive(Clone, Copy, Debug)]
struct TypePath {
    /// Index of the operand; [`RESULT`] denotes the Result Type.
    operand: u8,
    parts: [PathStep; 2],
}

const RESULT: u8 = u8::MAX;

/// Step from a type to one of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathStep {
    Identity,
    /// Pointee of a pointer type.
    Pointee,
    /// Member of a structure.
    Member(u8),
    /// Component of a vector, column of a matrix, image of a sampled image, or Sampled Type of an
    /// image. For a scalar, the scalar itself.
    Element,
}

impl TypePath {
    const fn operand(operand: u8) -> TypePath {
        TypePath { operand, parts: [PathStep::Identity; 2] }
    }

    const fn part(self, part: PathStep) -> TypePath {
        let TypePath { operand, parts: [first, _] } = self;
        let parts = if matches!(first, PathStep::Identity) { [part, PathStep::Identity] } else { [first, part] };
        TypePath { operand, parts }
    }

    const fn pointee(self) -> TypePath {
        self.part(PathStep::Pointee)
    }

    const fn member(self, member: u8) -> TypePath {
        self.part(PathStep::Member(member))
    }

    const fn element(self) -> TypePath {
        self.part(PathStep::Element)
    }
}

/// Paths of the Result Type and of the operands.
const R: TypePath = TypePath::operand(RESULT);
const A: TypePath = TypePath::operand(0);
const B: TypePath = TypePath::operand(1);
const C: TypePath = TypePath::operand(2);
const D: TypePath = TypePath::operand(3);
const E: TypePath = TypePath::operand(4);
const F: TypePath = TypePath::operand(5);

/// One sentence of an instruction's description.
enum Constraint {
    /// The type belongs to the class.
    Is(TypePath, TypeClass),
    /// Both types are the same.
    Same(TypePath, TypePath),
    /// The types differ.
    Different(TypePath, TypePath),
    /// Both types have the same number of components.
    SameCount(TypePath, TypePath),
    /// The type has this number of components.
    Components(TypePath, u32),
    /// The components of both types have the same width.
    SameWidth(TypePath, TypePath),
    /// The components of both types have different widths.
    DifferentWidth(TypePath, TypePath),
    /// The components have one of these widths.
    Bits(TypePath, &'static [u32]),
    /// The structure has this number of members.
    Members(TypePath, usize),
    /// A constraint that applies unless the capability is declared.
    Unless(Capability, &'static Constraint),
    /// A constraint that no other variant expresses. Returns the problem.
    Custom(fn(&Operands) -> Option<String>),
}

/// An instruction whose types are checked, or the operation inside `OpSpecConstantOp` or
/// `OpExtInst`.
struct Operands<'f> {
    facts: &'f Facts<'f>,
    typing: &'f Typing,
    instruction: Instruction<'f>,
    /// Type that the Result Type denotes.
    result: Option<TypeId>,
    /// Name of the instruction, for messages.
    name: &'static str,
    words: &'f [u32],
    rows: &'static [Operand],
    /// Cache of the last operand and its type: consecutive constraints mostly concern one operand.
    last: Cell<(u8, IdType)>,
}

/// Empty cache, since no operand has the number of the result.
const NO_CACHED_OPERAND: (u8, IdType) = (RESULT, IdType::Unknown);

/// Reason why a path leads to no type.
enum NoType {
    /// The type is not known, and not checked.
    Unknown,
    /// The operand is not a value, but the result of this opcode.
    NotAValue(Op),
}

impl<'f> Operands<'f> {
    fn of(facts: &'f Facts<'f>, instruction: Instruction<'f>) -> Option<Operands<'f>> {
        let info = instruction.op?.info();
        let made = usize::from(info.has_result_type()) + usize::from(info.has_result());
        let words = instruction.words.get(1 + made..).unwrap_or_default();
        Some(Operands {
            facts,
            typing: facts.typing(),
            instruction,
            result: if info.has_result_type() { facts.module.type_declared(*instruction.words.get(1)?) } else { None },
            name: info.name,
            words,
            rows: info.operands.get(made..).unwrap_or_default(),
            last: Cell::new(NO_CACHED_OPERAND),
        })
    }

    /// The operation inside an `OpSpecConstantOp`.
    fn specialized(&self, op: Op) -> Operands<'f> {
        let info = op.info();
        let rows = info.operands.get(2..).unwrap_or_default();
        let words = self.words.get(1..).unwrap_or_default();
        Operands { name: info.name, words, rows, last: Cell::new(NO_CACHED_OPERAND), ..*self }
    }

    /// The extended instruction inside an `OpExtInst`.
    fn extended(&self, row: &'static ExtendedInstruction) -> Operands<'f> {
        let words = self.words.get(2..).unwrap_or_default();
        Operands { name: row.name, words, rows: row.operands, last: Cell::new(NO_CACHED_OPERAND), ..*self }
    }

    fn word(&self, operand: u8) -> Option<u32> {
        self.words.get(usize::from(operand)).copied()
    }

    fn value(&self, word: u32) -> IdType {
        self.typing.value(self.facts.module, word)
    }

    fn value_at(&self, operand: u8) -> IdType {
        let (last, known) = self.last.get();
        if last == operand {
            return known;
        }
        let value = self.word(operand).map_or(IdType::Unknown, |word| self.value(word));
        self.last.set((operand, value));
        value
    }

    /// Type of an operand's value, if it is known.
    fn type_at(&self, operand: u8) -> Option<TypeId> {
        self.resolve(TypePath::operand(operand)).ok()
    }

    fn result_type(&self) -> Option<TypeId> {
        self.result
    }

    fn view(&self, ty: TypeId) -> TypeSummary {
        self.typing.view(ty)
    }

    fn resolve(&self, place: TypePath) -> Result<TypeId, NoType> {
        let ty = if place.operand == RESULT {
            // A Result Type that is not a type is checked by result-type.
            self.result_type().ok_or(NoType::Unknown)?
        } else {
            match self.value_at(place.operand) {
                IdType::Known(ty) => ty,
                IdType::NotAValue(op) => return Err(NoType::NotAValue(op)),
                IdType::Unknown => return Err(NoType::Unknown),
            }
        };
        place.parts.iter().try_fold(ty, |ty, part| self.part(ty, *part)).ok_or(NoType::Unknown)
    }

    /// Part of a type. `None` if the type has no such part.
    fn part(&self, ty: TypeId, part: PathStep) -> Option<TypeId> {
        let module = self.facts.module;
        match (part, module.ty(ty)) {
            (PathStep::Identity, _) => Some(ty),
            (PathStep::Pointee, Type::Pointer { pointee, .. }) => *pointee,
            (PathStep::Member(i), Type::Struct { .. }) => module.members(ty).get(usize::from(i)).copied(),
            (PathStep::Element, Type::Vector { component: inner, .. })
            | (PathStep::Element, Type::Matrix { column: inner, .. })
            | (PathStep::Element, Type::SampledImage { image: inner }) => Some(*inner),
            (PathStep::Element, Type::Image(image)) => Some(image.sampled_type),
            (PathStep::Element, Type::Bool | Type::Int { .. } | Type::Float { .. }) => Some(ty),
            _ => None,
        }
    }

    /// Describes a path for messages.
    fn show(&self, place: TypePath) -> String {
        let row = self.rows.get(usize::from(place.operand)).or(self.rows.last());
        let name = if place.operand == RESULT { "Result Type" } else { row.map_or("an operand", |row| row.name) };
        let part = |part: PathStep| match part {
            PathStep::Identity => String::new(),
            PathStep::Pointee => "the pointee of ".to_owned(),
            PathStep::Member(i) => format!("member {i} of "),
            PathStep::Element => "the component type of ".to_owned(),
        };
        let [first, second] = place.parts;
        format!("{}{}{name}", part(second), part(first))
    }

    /// Describes a type for messages.
    fn show_type(&self, ty: TypeId) -> String {
        show(self.facts.module, ty)
    }

    /// Describes the first violated constraint.
    fn problem(&self, constraints: &[Constraint]) -> Option<String> {
        constraints
            .iter()
            .find_map(|constraint| self.violation(constraint))
            .map(|problem| format!("{}: {problem}", self.name))
    }

    fn violation(&self, constraint: &Constraint) -> Option<String> {
        match constraint {
            Constraint::Is(place, class) => match self.required_type(*place)? {
                Err(no_value) => Some(no_value),
                Ok(ty) if self.view(ty).is(*class) => None,
                Ok(ty) => Some(format!("{} is {}, expected {}", self.show(*place), self.show_type(ty), class.text)),
            },
            Constraint::Same(place, with) => self.compare(*place, *with, |a, b| {
                let judged = !(self.view(a).is_unconstrained() && self.view(b).is_unconstrained());
                let problem = || format!("is {}, expected {} as in", self.show_type(a), self.show_type(b));
                (a != b && judged).then(problem)
            }),
            Constraint::Different(place, with) => self.compare(*place, *with, |a, b| {
                let judged = !self.view(a).is_unconstrained();
                (a == b && judged).then(|| format!("is {}, expected a type other than that of", self.show_type(a)))
            }),
            Constraint::SameCount(place, with) => self.compare_views(*place, *with, |a, b| {
                (a.count != b.count).then(|| format!("has {} components, expected {} as in", a.count, b.count))
            }),
            Constraint::SameWidth(place, with) => self.compare_views(*place, *with, |a, b| {
                (a.width != b.width).then(|| format!("has {} bits, expected {} as in", a.width, b.width))
            }),
            Constraint::DifferentWidth(place, with) => self.compare_views(*place, *with, |a, b| {
                (a.width == b.width).then(|| format!("has {} bits, expected a width other than that of", a.width))
            }),
            Constraint::Components(place, count) => {
                let view = self.view(self.required_type(*place)?.ok()?);
                let fails = !view.is_unconstrained() && view.count != *count;
                fails.then(|| format!("{} has {} components, expected {count}", self.show(*place), view.count))
            }
            Constraint::Bits(place, widths) => {
                let view = self.view(self.required_type(*place)?.ok()?);
                let fails = !view.is_unconstrained() && !widths.contains(&view.width);
                fails.then(|| format!("{} has {} bits, expected {widths:?}", self.show(*place), view.width))
            }
            Constraint::Members(place, count) => {
                let found = self.facts.module.members(self.required_type(*place)?.ok()?).len();
                (found != *count).then(|| format!("{} has {found} members, expected {count}", self.show(*place)))
            }
            Constraint::Unless(capability, constraint) => {
                if self.facts.has(*capability) {
                    None
                } else {
                    self.violation(constraint)
                }
            }
            Constraint::Custom(problem) => problem(self),
        }
    }

    /// Type at a path, or the problem if the operand is not a value. `None` if it is not checked.
    fn required_type(&self, place: TypePath) -> Option<Result<TypeId, String>> {
        match self.resolve(place) {
            Ok(ty) => Some(Ok(ty)),
            Err(NoType::Unknown) => None,
            Err(NoType::NotAValue(op)) => {
                let whole = TypePath::operand(place.operand);
                Some(Err(format!("{} is the result of {op}, expected a value", self.show(whole))))
            }
        }
    }

    fn compare(
        &self,
        place: TypePath,
        with: TypePath,
        problem: impl Fn(TypeId, TypeId) -> Option<String>,
    ) -> Option<String> {
        match (self.required_type(place)?, self.required_type(with)?) {
            (Err(no_value), _) | (_, Err(no_value)) => Some(no_value),
            (Ok(a), Ok(b)) => problem(a, b).map(|what| format!("{} {what} {}", self.show(place), self.show(with))),
        }
    }

    fn compare_views(
        &self,
        place: TypePath,
        with: TypePath,
        problem: impl Fn(TypeSummary, TypeSummary) -> Option<String>,
    ) -> Option<String> {
        self.compare(place, with, |a, b| {
            let (a, b) = (self.view(a), self.view(b));
            if a.is_unconstrained() || b.is_unconstrained() { None } else { problem(a, b) }
        })
    }
}

/// Describes the first constraint of a signature that an instruction violates.
pub(super) fn problem(facts: &Facts, instruction: Instruction, signature: &Signature) -> Option<String> {
    Operands::of(facts, instruction)?.problem(signature.constraints)
}

/// Describes the first constraint of a signature that the operation inside an `OpSpecConstantOp`
/// violates.
pub(super) fn specialized_problem(
    facts: &Facts,
    instruction: Instruction,
    op: Op,
    signature: &Signature,
) -> Option<String> {
    Operands::of(facts, instruction)?.specialized(op).problem(signature.constraints)
}
