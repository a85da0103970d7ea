//! What instructions ask of the types of their results and operands: the sentences of their descriptions as tables, one item
//! each, and what tables cannot say as functions.
//!
//! A type of an extension that stands in for numbers or vectors (cooperative matrices and vectors, tensors, ..) passes wherever it
//! stands, and so does what an unknown instruction makes: a rule refuses only what the text surely does.

mod atomics;
mod calls;
mod composites;
mod declarations;
mod dominance;
mod extended;
mod groups;
mod images;
mod memory;
mod numbers;
mod typing;

use std::cell::Cell;

use super::Facts;
use crate::grammar::{ExtendedInstruction, Operand};
use crate::module::{Instruction, Type, TypeId};
use crate::tables::{Capability, Op};
pub(super) use atomics::RULES as ATOMICS;
pub(super) use calls::RULES as CALLS;
pub(super) use composites::RULES as COMPOSITES;
pub(super) use declarations::RULES as DECLARATIONS;
pub(super) use dominance::RULES as DOMINANCE;
pub(super) use extended::RULES as EXTENDED;
pub(super) use groups::RULES as GROUPS;
pub(super) use images::{GATHERED, RULES as IMAGES};
pub(super) use memory::RULES as MEMORY;
pub(super) use numbers::RULES as NUMBERS;
use typing::{Class, View, show};
pub(super) use typing::{Typing, Value};

/// What some instructions ask of their types.
pub(super) struct Signature {
    pub(super) ops: &'static [Op],
    asks: &'static [Ask],
}

/// A type of an instruction: that of its result or of an operand, or a part of one.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The operand, from 0; [`RESULT`] is the Result Type.
    operand: u8,
    parts: [Part; 2],
}

const RESULT: u8 = u8::MAX;

/// How a type leads to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    /// What a pointer points to.
    Pointee,
    /// A member of a structure.
    Member(u8),
    /// A vector's component, a matrix' column, a sampled image's image, an image's sampled type; of a scalar itself.
    Inner,
}

impl Place {
    const fn operand(operand: u8) -> Place {
        Place { operand, parts: [Part::Whole; 2] }
    }

    const fn part(self, part: Part) -> Place {
        let Place { operand, parts: [first, _] } = self;
        let parts = if matches!(first, Part::Whole) { [part, Part::Whole] } else { [first, part] };
        Place { operand, parts }
    }

    const fn pointee(self) -> Place {
        self.part(Part::Pointee)
    }

    const fn member(self, member: u8) -> Place {
        self.part(Part::Member(member))
    }

    const fn inner(self) -> Place {
        self.part(Part::Inner)
    }
}

/// The Result Type, and the operands.
const R: Place = Place::operand(RESULT);
const A: Place = Place::operand(0);
const B: Place = Place::operand(1);
const C: Place = Place::operand(2);
const D: Place = Place::operand(3);
const E: Place = Place::operand(4);
const F: Place = Place::operand(5);

/// One sentence of a description.
enum Ask {
    /// The type is of a kind.
    Is(Place, Class),
    /// The first is the type that the second is.
    Same(Place, Place),
    /// The types differ.
    Differ(Place, Place),
    /// The first has as many components as the second.
    Count(Place, Place),
    /// The first has so many components.
    Components(Place, u32),
    /// The components of the first are as wide as those of the second.
    Width(Place, Place),
    /// The components of the first are not as wide as those of the second.
    OtherWidth(Place, Place),
    /// The components have one of these widths.
    Bits(Place, &'static [u32]),
    /// The structure has so many members.
    Members(Place, usize),
    /// Asked unless a capability is declared.
    Unless(Capability, &'static Ask),
    /// What no other item says: what is wrong.
    Holds(fn(&Operands) -> Option<String>),
}

/// An instruction, or the operation inside another one, whose types are looked at.
struct Operands<'f> {
    facts: &'f Facts<'f>,
    typing: &'f Typing,
    instruction: Instruction<'f>,
    /// The type that the Result Type declares.
    result: Option<TypeId>,
    /// What is asked about, by its name.
    name: &'static str,
    words: &'f [u32],
    rows: &'static [Operand],
    /// The operand that was asked about last: sentences about one stand together.
    last: Cell<(u8, Value)>,
}

/// No operand has the number of the result.
const NONE_ASKED: (u8, Value) = (RESULT, Value::Unknown);

/// Why a place has no type.
enum Missing {
    /// It is none that could be judged.
    Unknown,
    /// The operand is no value, but made by this; the Result Type is no type.
    NoValue(Op),
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
            last: Cell::new(NONE_ASKED),
        })
    }

    /// The operation inside an `OpSpecConstantOp`.
    fn specialized(&self, op: Op) -> Operands<'f> {
        let info = op.info();
        let rows = info.operands.get(2..).unwrap_or_default();
        let words = self.words.get(1..).unwrap_or_default();
        Operands { name: info.name, words, rows, last: Cell::new(NONE_ASKED), ..*self }
    }

    /// The extended instruction inside an `OpExtInst`.
    fn extended(&self, row: &'static ExtendedInstruction) -> Operands<'f> {
        let words = self.words.get(2..).unwrap_or_default();
        Operands { name: row.name, words, rows: row.operands, last: Cell::new(NONE_ASKED), ..*self }
    }

    fn word(&self, operand: u8) -> Option<u32> {
        self.words.get(usize::from(operand)).copied()
    }

    fn value(&self, word: u32) -> Value {
        self.typing.value(self.facts.module, word)
    }

    fn value_at(&self, operand: u8) -> Value {
        let (last, known) = self.last.get();
        if last == operand {
            return known;
        }
        let value = self.word(operand).map_or(Value::Unknown, |word| self.value(word));
        self.last.set((operand, value));
        value
    }

    /// The type of an operand's value, where it has one that is known.
    fn type_at(&self, operand: u8) -> Option<TypeId> {
        self.find(Place::operand(operand)).ok()
    }

    fn result_type(&self) -> Option<TypeId> {
        self.result
    }

    fn view(&self, ty: TypeId) -> View {
        self.typing.view(ty)
    }

    fn find(&self, place: Place) -> Result<TypeId, Missing> {
        let ty = if place.operand == RESULT {
            // A Result Type that is none has a rule of its own.
            self.result_type().ok_or(Missing::Unknown)?
        } else {
            match self.value_at(place.operand) {
                Value::Of(ty) => ty,
                Value::No(op) => return Err(Missing::NoValue(op)),
                Value::Unknown => return Err(Missing::Unknown),
            }
        };
        place.parts.iter().try_fold(ty, |ty, part| self.part(ty, *part)).ok_or(Missing::Unknown)
    }

    /// A part of a type; `None` where there is none.
    fn part(&self, ty: TypeId, part: Part) -> Option<TypeId> {
        let module = self.facts.module;
        match (part, module.ty(ty)) {
            (Part::Whole, _) => Some(ty),
            (Part::Pointee, Type::Pointer { pointee, .. }) => *pointee,
            (Part::Member(i), Type::Struct { .. }) => module.members(ty).get(usize::from(i)).copied(),
            (Part::Inner, Type::Vector { component: inner, .. })
            | (Part::Inner, Type::Matrix { column: inner, .. })
            | (Part::Inner, Type::SampledImage { image: inner }) => Some(*inner),
            (Part::Inner, Type::Image(image)) => Some(image.sampled_type),
            (Part::Inner, Type::Bool | Type::Int { .. } | Type::Float { .. }) => Some(ty),
            _ => None,
        }
    }

    /// A place in words.
    fn show(&self, place: Place) -> String {
        let row = self.rows.get(usize::from(place.operand)).or(self.rows.last());
        let name = if place.operand == RESULT { "Result Type" } else { row.map_or("an operand", |row| row.name) };
        let part = |part: Part| match part {
            Part::Whole => String::new(),
            Part::Pointee => "what it points to in ".to_owned(),
            Part::Member(i) => format!("member {i} of "),
            Part::Inner => "the component type of ".to_owned(),
        };
        let [first, second] = place.parts;
        format!("{}{}{name}", part(second), part(first))
    }

    /// A type in words.
    fn show_type(&self, ty: TypeId) -> String {
        show(self.facts, ty)
    }

    /// The first sentence that does not hold, in words.
    fn problem(&self, asks: &[Ask]) -> Option<String> {
        asks.iter().find_map(|ask| self.breaks(ask)).map(|problem| format!("{}: {problem}", self.name))
    }

    fn breaks(&self, ask: &Ask) -> Option<String> {
        match ask {
            Ask::Is(place, class) => match self.asked(*place)? {
                Err(no_value) => Some(no_value),
                Ok(ty) if self.view(ty).is(*class) => None,
                Ok(ty) => Some(format!("{} is {}, expected {}", self.show(*place), self.show_type(ty), class.text)),
            },
            Ask::Same(place, with) => self.compare(*place, *with, |a, b| {
                let judged = !(self.view(a).is_foreign() && self.view(b).is_foreign());
                let problem = || format!("{}, expected {}", self.show_type(a), self.show_type(b));
                (a != b && judged).then(problem)
            }),
            Ask::Differ(place, with) => self.compare(*place, *with, |a, b| {
                let judged = !self.view(a).is_foreign();
                (a == b && judged).then(|| format!("{}, expected another type", self.show_type(a)))
            }),
            Ask::Count(place, with) => self.compare_views(*place, *with, |a, b| {
                (a.count != b.count).then(|| format!("{} components, expected {}", a.count, b.count))
            }),
            Ask::Width(place, with) => self.compare_views(*place, *with, |a, b| {
                (a.width != b.width).then(|| format!("{} bits, expected {}", a.width, b.width))
            }),
            Ask::OtherWidth(place, with) => self.compare_views(*place, *with, |a, b| {
                (a.width == b.width).then(|| format!("{} bits, expected another width", a.width))
            }),
            Ask::Components(place, count) => {
                let view = self.view(self.asked(*place)?.ok()?);
                let fails = !view.is_foreign() && view.count != *count;
                fails.then(|| format!("{} has {} components, expected {count}", self.show(*place), view.count))
            }
            Ask::Bits(place, widths) => {
                let view = self.view(self.asked(*place)?.ok()?);
                let fails = !view.is_foreign() && !widths.contains(&view.width);
                fails.then(|| format!("{} has {} bits, expected {widths:?}", self.show(*place), view.width))
            }
            Ask::Members(place, count) => {
                let found = self.facts.module.members(self.asked(*place)?.ok()?).len();
                (found != *count).then(|| format!("{} has {found} members, expected {count}", self.show(*place)))
            }
            Ask::Unless(capability, ask) => {
                if self.facts.has(*capability) {
                    None
                } else {
                    self.breaks(ask)
                }
            }
            Ask::Holds(problem) => problem(self),
        }
    }

    /// A type that has to be there, or the problem; `None` where it is not judged.
    fn asked(&self, place: Place) -> Option<Result<TypeId, String>> {
        match self.find(place) {
            Ok(ty) => Some(Ok(ty)),
            Err(Missing::Unknown) => None,
            Err(Missing::NoValue(op)) => {
                let whole = Place::operand(place.operand);
                Some(Err(format!("{} is made by {op}, expected a value", self.show(whole))))
            }
        }
    }

    fn compare(&self, place: Place, with: Place, problem: impl Fn(TypeId, TypeId) -> Option<String>) -> Option<String> {
        match (self.asked(place)?, self.asked(with)?) {
            (Err(no_value), _) | (_, Err(no_value)) => Some(no_value),
            (Ok(a), Ok(b)) => {
                problem(a, b).map(|what| format!("{} is {what} as {} is", self.show(place), self.show(with)))
            }
        }
    }

    fn compare_views(
        &self,
        place: Place,
        with: Place,
        problem: impl Fn(View, View) -> Option<String>,
    ) -> Option<String> {
        self.compare(place, with, |a, b| {
            let (a, b) = (self.view(a), self.view(b));
            if a.is_foreign() || b.is_foreign() { None } else { problem(a, b) }
        })
    }
}

/// What an instruction's types break of its signature.
pub(super) fn problem(facts: &Facts, instruction: Instruction, signature: &Signature) -> Option<String> {
    Operands::of(facts, instruction)?.problem(signature.asks)
}

/// The same of the operation inside an `OpSpecConstantOp`.
pub(super) fn specialized_problem(
    facts: &Facts,
    instruction: Instruction,
    op: Op,
    signature: &Signature,
) -> Option<String> {
    Operands::of(facts, instruction)?.specialized(op).problem(signature.asks)
}
