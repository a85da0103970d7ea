//! Decoder: splits an instruction's words into operands by the grammar.

use std::sync::LazyLock;

use crate::grammar::{self, ExtendedSet, Instruction, Kind, Op, Operand, OperandEncoding, Quantifier};
use crate::id_table::IdTable;
use crate::number::NumberType;
use crate::words;

/// Facts from earlier instructions that determine how later ones are decoded: number types, types
/// of values, extended instruction sets.
pub(crate) struct Context {
    /// Index in `number_types` plus one; 0 for ids that are not number types.
    numbers: IdTable<u8>,
    /// The distinct number types in use, fewer than 255.
    number_types: Vec<NumberType>,
    /// Types of integer values, for the literals of `OpSwitch`; 0 for other ids.
    value_types: IdTable<u32>,
    sets: IdTable<Option<ExtendedSet>>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} number types", self.number_types.len())
    }
}

impl Context {
    /// Creates an empty context. `ids` is the expected number of ids, which bounds the memory.
    pub(crate) fn new(ids: usize) -> Self {
        Context {
            numbers: IdTable::new(ids),
            number_types: Vec::new(),
            value_types: IdTable::new(ids),
            sets: IdTable::new(ids),
        }
    }

    /// Returns the type of number literals of the type `id`.
    pub(crate) fn number(&self, id: u32) -> Option<NumberType> {
        self.number_types.get(usize::from(self.numbers.get(id)).checked_sub(1)?).copied()
    }

    fn set_number(&mut self, id: u32, number: Option<NumberType>) {
        let Some(number) = number else { return self.numbers.set(id, 0) };
        let known = self.number_types.iter().position(|n| *n == number);
        let index = known.unwrap_or_else(|| {
            self.number_types.push(number);
            self.number_types.len() - 1
        });
        self.numbers.set(id, index as u8 + 1);
    }

    /// Returns the type of the literals of an `OpSwitch` whose selector is `id`.
    pub(crate) fn number_of_value(&self, id: u32) -> Option<NumberType> {
        self.number(self.value_types.get(id)).filter(|n| matches!(n, NumberType::Int { .. }))
    }

    /// Returns the extended instruction set that the import `id` names; `None` if it is not an
    /// import.
    pub(crate) fn set(&self, id: u32) -> Option<ExtendedSet> {
        self.sets.get(id)
    }

    /// Records an instruction whose operands conform to the grammar.
    pub(crate) fn note(&mut self, instruction: &Instruction, words: &[u32]) {
        match (instruction.op, words) {
            (Op::TypeInt, [_, id, width, signedness]) => self.set_number(*id, NumberType::int(*width, *signedness)),
            (Op::TypeFloat, [_, id, width, rest @ ..]) => {
                self.set_number(*id, NumberType::float(*width, rest.first().copied()));
            }
            (Op::ExtInstImport, [_, id, name @ ..]) => {
                self.sets.set(*id, words::string(name).map(|(name, _)| ExtendedSet::from_name(&name)));
            }
            (_, [_, ty, id, ..]) if instruction.has_result_type() && self.numbers.get(*ty) != 0 => {
                self.value_types.set(*id, *ty);
            }
            _ => {}
        }
    }
}

/// One operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodedOperand {
    /// Its kind; never a composite, whose parts are separate operands.
    pub kind: Kind,
    /// Index of its first word in the instruction.
    pub at: usize,
    /// Number of words.
    pub len: usize,
    /// The type of a number literal.
    pub(crate) number: Option<NumberType>,
}

/// A deviation of an instruction's words from the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrammarViolation {
    /// The words end before a required operand.
    #[error("operand {} is missing", kind.info().name)]
    Missing {
        /// The expected kind of operand.
        kind: Kind,
    },
    /// A word is not a valid operand of the expected kind.
    #[error("operand word {at} is not a valid {}", kind.info().name)]
    Unreadable {
        /// Index of the word in the instruction.
        at: usize,
        /// The expected kind of operand.
        kind: Kind,
    },
    /// Words follow the last operand.
    #[error("operand word {at} is unexpected")]
    TooMany {
        /// Index of the word in the instruction.
        at: usize,
    },
}

/// Calls `visit` for each operand of an instruction, whose words include the first, up to the first
/// anomaly.
pub(crate) fn operands(
    instruction: &Instruction,
    words: &[u32],
    context: &Context,
    visit: &mut impl FnMut(DecodedOperand),
) -> Result<(), GrammarViolation> {
    let mut walk = OperandWalk { op: instruction.op, words, at: 1, context, visit, set: None, selector: None };
    walk.list(instruction.operands)?;
    if walk.at < words.len() { Err(GrammarViolation::TooMany { at: walk.at }) } else { Ok(()) }
}

struct OperandWalk<'a, V> {
    op: Op,
    words: &'a [u32],
    at: usize,
    context: &'a Context,
    visit: &'a mut V,
    /// The extended instruction set named by the last id that names one.
    set: Option<ExtendedSet>,
    /// The type of an `OpSwitch`'s literals.
    selector: Option<NumberType>,
}

impl<V: FnMut(DecodedOperand)> OperandWalk<'_, V> {
    fn list(&mut self, operands: &[Operand]) -> Result<(), GrammarViolation> {
        for operand in operands {
            match operand.quantifier {
                Quantifier::One => self.one(operand.kind)?,
                Quantifier::Optional if self.at < self.words.len() => self.one(operand.kind)?,
                Quantifier::Optional => {}
                Quantifier::Any => {
                    while self.at < self.words.len() {
                        self.one(operand.kind)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn one(&mut self, kind: Kind) -> Result<(), GrammarViolation> {
        let Some(&word) = self.words.get(self.at) else { return Err(GrammarViolation::Missing { kind }) };
        let unreadable = GrammarViolation::Unreadable { at: self.at, kind };
        match kind {
            // The selector precedes the literals whose width it determines.
            Kind::PairLiteralIntegerIdRef => {
                if self.selector.is_none() {
                    self.selector = self.words.get(1).and_then(|id| self.context.number_of_value(*id));
                }
                let number = self.selector.ok_or(unreadable)?;
                self.number(number, kind, Kind::LiteralInteger)?;
                self.one(Kind::IdRef)
            }
            Kind::LiteralContextDependentNumber => {
                let number = self.words.get(1).and_then(|ty| self.context.number(*ty)).ok_or(unreadable)?;
                self.number(number, kind, kind)
            }
            Kind::LiteralInteger => self.word(kind, Some(NumberType::U32)),
            Kind::LiteralFloat => {
                let number = NumberType::float(32, None).ok_or(unreadable)?;
                self.number(number, kind, kind)
            }
            Kind::LiteralString => {
                let text = &self.words[self.at..];
                let len = match self.op {
                    Op::Source | Op::SourceContinued | Op::String => words::debug_string(text).1,
                    _ => words::string(text).ok_or(unreadable)?.1,
                };
                (self.visit)(DecodedOperand { kind, at: self.at, len, number: None });
                self.at += len;
                Ok(())
            }
            Kind::LiteralExtInstInteger => {
                let set = self.set.unwrap_or(ExtendedSet::Unknown);
                if set == ExtendedSet::Unknown {
                    return self.word(kind, Some(NumberType::U32)).and_then(|()| self.rest_ids());
                }
                let extended = set.instruction(word).ok_or(unreadable)?;
                self.word(kind, None)?;
                self.list(extended.operands)?;
                // An unexpected extra operand gives the same anomaly as in other instructions.
                if self.at < self.words.len() { Err(GrammarViolation::TooMany { at: self.at }) } else { Ok(()) }
            }
            Kind::LiteralSpecConstantOpInteger => {
                let opcode = u16::try_from(word).map_err(|_| unreadable)?;
                let inner = grammar::instruction(opcode).filter(|i| in_spec_constant(i)).ok_or(unreadable)?;
                self.word(kind, None)?;
                self.list(&inner.operands[2..])
            }
            _ => match kind.info().encoding {
                OperandEncoding::Id => {
                    if kind == Kind::IdRef {
                        self.set = self.context.set(word).or(self.set);
                    }
                    if word == 0 || word > words::MAX_ID {
                        return Err(unreadable);
                    }
                    self.word(kind, None)
                }
                OperandEncoding::Value(_) => {
                    let enumerant = kind.enumerant(word).ok_or(unreadable)?;
                    self.word(kind, None)?;
                    self.list(enumerant.parameters)
                }
                OperandEncoding::Mask(rows) => {
                    let known = rows.iter().fold(0, |bits, row| bits | row.value);
                    if word & !known != 0 {
                        return Err(unreadable);
                    }
                    self.word(kind, None)?;
                    for row in rows.iter().filter(|row| row.value != 0 && word & row.value == row.value) {
                        self.list(row.parameters)?;
                    }
                    Ok(())
                }
                OperandEncoding::Composite(bases) => bases.iter().try_for_each(|&base| self.one(base)),
                OperandEncoding::Literal => self.word(kind, None),
            },
        }
    }

    fn rest_ids(&mut self) -> Result<(), GrammarViolation> {
        while self.at < self.words.len() {
            self.one(Kind::IdRef)?;
        }
        Ok(())
    }

    fn word(&mut self, kind: Kind, number: Option<NumberType>) -> Result<(), GrammarViolation> {
        (self.visit)(DecodedOperand { kind, at: self.at, len: 1, number });
        self.at += 1;
        Ok(())
    }

    fn number(&mut self, number: NumberType, asked: Kind, kind: Kind) -> Result<(), GrammarViolation> {
        let len = number.words();
        if self.at + len > self.words.len() {
            return Err(GrammarViolation::Missing { kind: asked });
        }
        (self.visit)(DecodedOperand { kind, at: self.at, len, number: Some(number) });
        self.at += len;
        Ok(())
    }
}

/// Returns true if `OpSpecConstantOp` can contain the instruction: it has a typed result, and
/// decoding its operands takes no context.
pub(crate) fn in_spec_constant(instruction: &Instruction) -> bool {
    let readable = |o: &Operand| {
        !matches!(
            o.kind,
            Kind::LiteralContextDependentNumber | Kind::LiteralExtInstInteger | Kind::LiteralSpecConstantOpInteger
        ) && o.kind != Kind::PairLiteralIntegerIdRef
    };
    instruction.has_result_type() && instruction.has_result() && instruction.operands.iter().all(readable)
}

/// Operand layout of an instruction, precomputed so that common questions need no decoding.
#[derive(Clone, Copy, Debug)]
pub struct OperandLayout {
    /// Number of words after the first that are ids and always present.
    ids: u8,
    /// The words after those.
    remainder: Remainder,
    /// The instruction may use enumerants only if it has more words than this; `None` if it never
    /// does.
    enumerants_beyond: Option<u8>,
    /// Position of the optional word of image operands; `None` if the instruction has none.
    image_operands: Option<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remainder {
    Ids,
    Literals,
    Other,
}

impl OperandLayout {
    /// Returns the layout of an instruction's operands.
    pub fn of(op: Op) -> OperandLayout {
        static LAYOUTS: LazyLock<Vec<OperandLayout>> = LazyLock::new(|| {
            let last = grammar::INSTRUCTIONS.iter().map(|row| row.op as usize).max().unwrap_or(0);
            let mut layouts = vec![OperandLayout::new(&[]); last + 1];
            for row in grammar::INSTRUCTIONS {
                layouts[row.op as usize] = OperandLayout::new(row.operands);
            }
            layouts
        });
        LAYOUTS[op as usize]
    }

    fn new(operands: &[Operand]) -> OperandLayout {
        let is_id = |o: &Operand| matches!(o.kind.info().encoding, OperandEncoding::Id);
        let is_literal = |o: &Operand| matches!(o.kind, Kind::LiteralInteger);
        // These operands determine the kinds of those after them.
        let decides = |kind| matches!(kind, Kind::LiteralExtInstInteger | Kind::LiteralSpecConstantOpInteger);
        let names = |o: &&Operand| !o.kind.enumerants().is_empty() || decides(o.kind);
        let single = operands.iter().take_while(|o| o.quantifier == Quantifier::One).count();
        let ids = operands[..single].iter().take_while(|o| is_id(o)).count();
        let remainder = match &operands[ids..] {
            rest if rest.iter().all(is_id) => Remainder::Ids,
            rest if rest.iter().all(is_literal) => Remainder::Literals,
            _ => Remainder::Other,
        };
        let named = operands.iter().position(|o| names(&o));
        let image = operands.iter().position(|o| o.kind == Kind::ImageOperands);
        OperandLayout {
            ids: ids as u8,
            remainder,
            // Each operand before an optional enumerant takes one word.
            enumerants_beyond: named.map(|at| at.min(single) as u8 + 1),
            image_operands: image.filter(|at| *at <= ids).map(|at| at as u8 + 1),
        }
    }

    /// Returns true if an instruction of this many words may use enumerants. Most never do, or only
    /// in optional operands.
    pub fn names_enumerants(self, words: usize) -> bool {
        self.enumerants_beyond.is_some_and(|beyond| words > usize::from(beyond))
    }

    /// Returns the image operands of an instruction.
    pub fn image_operands(self, words: &[u32]) -> Option<u32> {
        words.get(usize::from(self.image_operands?)).copied()
    }

    /// Returns the positions of the ids in an instruction of this many words, if they can be told
    /// without decoding it.
    pub(crate) fn ids(self, words: usize) -> Option<std::ops::Range<usize>> {
        let leading = usize::from(self.ids) + 1;
        match self.remainder {
            Remainder::Ids => Some(1..words),
            Remainder::Literals => Some(1..words.min(leading)),
            Remainder::Other if words <= leading => Some(1..words),
            Remainder::Other => None,
        }
    }
}
