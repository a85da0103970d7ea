//! A module as data: sections in order, dense ids, interned types, functions as blocks.
//!
//! The words are kept as they are, so that a module writes back exactly; everything else is an index into them.

mod decorations;
mod dominators;
mod error;
mod flow;
mod functions;
mod parse;
mod section;
mod types;

pub use decorations::{Decorated, Names};
pub use error::{ModuleError, ModuleErrorKind};
pub use flow::{Construct, ConstructKind, Dominance, Flow};
pub use functions::{Block, BlockIndex, Function, Merge};
pub use section::Section;
pub use types::{ImageType, Type, TypeId};

use crate::decode::{self, Anomaly, Context, Decoded, Plan};
use crate::grammar::{Category, ExtendedSet, Version};
use crate::tables::{Kind, Op, StorageClass};
use crate::words::{Header, string};

/// An id of the module by its place among all ids in use: from 0, without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u32);

/// An instruction of the module by its place, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Index(pub u32);

/// Where an instruction's words are.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: u32,
    opcode: u16,
    len: u16,
}

/// No instruction, type or id.
const NONE: u32 = u32::MAX;

/// A module that has been read: see [`Module::parse`].
#[derive(Debug)]
pub struct Module {
    words: Vec<u32>,
    header: Header,
    places: Vec<Place>,
    /// First instruction of each section, and the end.
    sections: [u32; Section::COUNT + 1],
    ids: parse::IdMap,
    /// The instruction that makes each id, or `NONE`.
    definitions: Vec<u32>,
    types: types::Types,
    functions: Vec<Function>,
    blocks: Vec<Block>,
    annotations: decorations::Annotations,
    lines: Vec<Index>,
    unknown: u32,
    context: Context,
}

/// One instruction of a module.
#[derive(Clone, Copy)]
pub struct Instruction<'a> {
    /// Its place among the module's instructions.
    pub index: Index,
    /// Index of its first word in the module.
    pub at: usize,
    /// What it is; `None` where the grammar does not know the opcode.
    pub op: Option<Op>,
    /// All its words.
    pub words: &'a [u32],
}

impl std::fmt::Debug for Instruction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} at word {}: {:?}", self.op, self.at, self.words)
    }
}

impl<'a> Instruction<'a> {
    /// The name of its opcode.
    pub fn name(&self) -> &'static str {
        self.op.map_or("an unknown instruction", |op| op.name())
    }

    /// The word of its result type.
    pub fn result_type(&self) -> Option<u32> {
        self.op.filter(|op| op.info().has_result_type()).and_then(|_| self.words.get(1).copied())
    }

    /// The word of its result id.
    pub fn result(&self) -> Option<u32> {
        let info = self.op?.info();
        if !info.has_result() {
            return None;
        }
        self.words.get(1 + usize::from(info.has_result_type())).copied()
    }

    /// The words after the result type and the result.
    pub fn operands(&self) -> &'a [u32] {
        let skip = self.op.map_or(1, |op| {
            let info = op.info();
            1 + usize::from(info.has_result_type()) + usize::from(info.has_result())
        });
        self.words.get(skip..).unwrap_or_default()
    }

    /// One of [`Instruction::operands`].
    pub fn operand(&self, i: usize) -> Option<u32> {
        self.operands().get(i).copied()
    }
}

impl Module {
    /// The module's words, exactly as they were read (in host order).
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Gives the words back.
    pub fn into_words(self) -> Vec<u32> {
        self.words
    }

    /// The header.
    pub fn header(&self) -> Header {
        self.header
    }

    /// The version of SPIR-V that the header names.
    pub fn version(&self) -> Version {
        self.header.spirv_version().unwrap_or(Version::NEWEST)
    }

    /// How many instructions there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no instruction.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many instructions the grammar does not know.
    pub fn unknown_instructions(&self) -> u32 {
        self.unknown
    }

    /// One instruction.
    pub fn instruction(&self, index: Index) -> Instruction<'_> {
        let place = self.places[index.0 as usize];
        let at = place.at as usize;
        Instruction {
            index,
            at,
            op: Op::from_opcode(place.opcode),
            words: &self.words[at..at + usize::from(place.len)],
        }
    }

    /// The instruction whose first word is word `at` of the module.
    pub fn instruction_at(&self, at: usize) -> Option<Instruction<'_>> {
        let index = self.places.binary_search_by_key(&at, |place| place.at as usize).ok()?;
        Some(self.instruction(Index(index as u32)))
    }

    /// Instructions from `range.start` up to, without, `range.end`.
    pub fn instructions_in(&self, range: std::ops::Range<u32>) -> impl DoubleEndedIterator<Item = Instruction<'_>> {
        range.map(|i| self.instruction(Index(i)))
    }

    /// Calls `visit` for each operand of an instruction, result type and result included, up to the first that is not
    /// what the grammar says.
    pub fn operands(&self, instruction: Instruction, mut visit: impl FnMut(Decoded)) -> Result<(), Anomaly> {
        let Some(op) = instruction.op else { return Ok(()) };
        decode::operands(op.info(), instruction.words, &self.context, &mut visit)
    }

    /// Calls `visit` with the word of each id that an instruction uses: what it makes and its result type are not among them.
    pub fn uses(&self, instruction: Instruction, mut visit: impl FnMut(u32)) {
        let Some(op) = instruction.op else { return };
        if let Some(ids) = Plan::of(op).ids(instruction.words.len()) {
            let info = op.info();
            let made = usize::from(info.has_result_type()) + usize::from(info.has_result());
            instruction.words.get(ids.start + made..ids.end).unwrap_or_default().iter().for_each(|word| visit(*word));
            return;
        }
        // What stands behind an operand newer than the tables cannot be known.
        let _newer = self.operands(instruction, |operand| {
            let id = matches!(operand.kind.info().category, Category::Id);
            if id && !matches!(operand.kind, Kind::IdResult | Kind::IdResultType) {
                visit(instruction.words[operand.at]);
            }
        });
    }

    /// The words of the ids that an instruction uses, its result type first; what it makes is not among them.
    pub fn id_operands(&self, instruction: Instruction) -> Vec<u32> {
        let mut ids: Vec<u32> = instruction.result_type().into_iter().collect();
        self.uses(instruction, |word| ids.push(word));
        ids
    }

    /// Every instruction.
    pub fn instructions(&self) -> impl DoubleEndedIterator<Item = Instruction<'_>> {
        self.instructions_in(0..self.places.len() as u32)
    }

    /// The instructions of a section.
    pub fn section(&self, section: Section) -> impl DoubleEndedIterator<Item = Instruction<'_>> {
        let start = self.sections[section as usize];
        self.instructions_in(start..self.sections[section as usize + 1])
    }

    /// How many ids are in use.
    pub fn id_count(&self) -> usize {
        self.definitions.len()
    }

    /// The dense id of an id's word.
    pub fn id(&self, word: u32) -> Option<Id> {
        self.ids.get(word)
    }

    /// The word of an id.
    pub fn word(&self, id: Id) -> u32 {
        self.ids.word(id)
    }

    /// The instruction that makes an id; `None` only for what an unknown instruction may make.
    pub fn definition(&self, id: Id) -> Option<Instruction<'_>> {
        let index = *self.definitions.get(id.0 as usize)?;
        (index != NONE).then(|| self.instruction(Index(index)))
    }

    /// The instruction that makes the id of that word.
    pub fn definition_of_word(&self, word: u32) -> Option<Instruction<'_>> {
        self.definition(self.id(word)?)
    }

    /// The place of the instruction that makes the id of that word.
    pub(crate) fn made_at(&self, word: u32) -> Option<Index> {
        let index = *self.definitions.get(self.id(word)?.0 as usize)?;
        (index != NONE).then_some(Index(index))
    }

    /// The type that the id of that word declares.
    pub fn type_declared(&self, word: u32) -> Option<TypeId> {
        self.types.declared(self.id(word)?)
    }

    /// The type of the value whose id has that word.
    pub fn type_of(&self, word: u32) -> Option<TypeId> {
        self.type_declared(self.definition_of_word(word)?.result_type()?)
    }

    /// A type.
    pub fn ty(&self, ty: TypeId) -> &Type {
        self.types.get(ty)
    }

    /// Every type, in the order of declaration.
    pub fn types(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        self.types.iter()
    }

    /// The instruction that first declares a type.
    pub fn type_definition(&self, ty: TypeId) -> Instruction<'_> {
        self.instruction(self.types.declaration(ty))
    }

    /// The members of a structure, or the parameters of a function type.
    pub fn members(&self, ty: TypeId) -> &[TypeId] {
        self.types.members(ty)
    }

    /// The functions, in order.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// A function by its id's word.
    pub fn function(&self, word: u32) -> Option<&Function> {
        self.functions.get(self.function_place(word)?)
    }

    /// The place of a function among [`Module::functions`], by its id's word.
    pub fn function_place(&self, word: u32) -> Option<usize> {
        let index = self.definition_of_word(word)?.index;
        self.functions.binary_search_by_key(&index.0, |f| f.instructions.start).ok()
    }

    /// The blocks of all functions, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// A block.
    pub fn block(&self, block: BlockIndex) -> &Block {
        &self.blocks[block.0 as usize]
    }

    /// The block whose label has that word.
    pub fn block_of(&self, word: u32) -> Option<BlockIndex> {
        let index = self.definition_of_word(word)?.index;
        let found = self.blocks.binary_search_by_key(&index.0, |b| b.instructions.start).ok()?;
        Some(BlockIndex(found as u32))
    }

    /// The block that an instruction stands in.
    pub fn block_at(&self, index: Index) -> Option<BlockIndex> {
        let after = self.blocks.partition_point(|b| b.instructions.start <= index.0);
        let place = after.checked_sub(1)?;
        self.blocks[place].instructions.contains(&index.0).then_some(BlockIndex(place as u32))
    }

    /// The function that an instruction stands in.
    pub fn function_at(&self, index: Index) -> Option<&Function> {
        let after = self.functions.partition_point(|f| f.instructions.start <= index.0);
        self.functions.get(after.checked_sub(1)?).filter(|f| f.instructions.contains(&index.0))
    }

    /// Control flow of a function.
    pub fn flow(&self, function: &Function) -> Flow {
        Flow::new(self, function)
    }

    /// Dominance among the blocks of a function.
    pub fn dominance(&self, function: &Function) -> Dominance {
        Dominance::new(self, function)
    }

    /// The set of extended instructions that an import makes; `None` for other ids.
    pub fn extended_set(&self, word: u32) -> Option<ExtendedSet> {
        self.context.set(word)
    }

    /// Decorations of an id and of its members, groups resolved.
    pub fn decorations(&self, word: u32) -> impl Iterator<Item = Decorated<'_>> {
        self.annotations.of(self, word)
    }

    /// Every decoration with the word of the id that it is about, groups resolved.
    pub fn all_decorations(&self) -> impl Iterator<Item = (u32, Decorated<'_>)> {
        self.annotations.all(self)
    }

    /// Debug names.
    pub fn names(&self) -> Names<'_> {
        Names::new(self)
    }

    /// The source line of an instruction: file id's word, line and column.
    pub fn line(&self, index: Index) -> Option<(u32, u32, u32)> {
        let after = self.lines.partition_point(|line| *line <= index);
        let line = self.instruction(*self.lines.get(after.checked_sub(1)?)?);
        match (line.op, line.words) {
            (Some(Op::Line), [_, file, number, column]) => Some((*file, *number, *column)),
            _ => None,
        }
    }

    /// The value of an integer constant, as it is extended to 64 bits; of a specialisation constant, its default.
    pub fn constant_int(&self, word: u32) -> Option<i64> {
        let definition = self.definition_of_word(word)?;
        let Type::Int { width, signed } = *self.ty(self.type_declared(definition.result_type()?)?) else { return None };
        match definition.op? {
            Op::Constant | Op::SpecConstant => match definition.operands() {
                [low] if signed => Some(i64::from(*low as i32)),
                [low] => Some(i64::from(*low)),
                [low, high] if width > 32 => Some((u64::from(*high) << 32 | u64::from(*low)) as i64),
                _ => None,
            },
            Op::ConstantNull => Some(0),
            _ => None,
        }
    }

    /// The name in an `OpEntryPoint`, `OpExtension` or other instruction whose string starts at operand word `i`.
    pub fn string_at(&self, instruction: Instruction<'_>, i: usize) -> String {
        instruction.operands().get(i..).and_then(string).map_or_else(String::new, |(text, _)| text)
    }

    /// Storage class and pointee of a pointer type; the pointee is `None` for untyped pointers.
    pub fn pointer(&self, ty: TypeId) -> Option<(StorageClass, Option<TypeId>)> {
        match *self.ty(ty) {
            Type::Pointer { class, pointee } => Some((class, pointee)),
            _ => None,
        }
    }

    /// The word of the type that an instruction's result points to: a variable's, or an access chain's.
    pub fn pointee(&self, instruction: Instruction<'_>) -> Option<u32> {
        let ty = self.type_declared(instruction.result_type()?)?;
        self.type_definition(self.pointer(ty)?.1?).result()
    }
}
