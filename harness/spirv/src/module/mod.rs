//! A parsed module: sections, dense ids, interned types, functions and their blocks.
//!
//! The words are kept unchanged, so a module is written back exactly; everything else is an index
//! into them.
//!
//! The number of an id in the words is called its raw id; [`DenseId`] is its dense number.

mod debug_source;
mod decorations;
mod dominators;
mod error;
mod flow;
mod functions;
mod parse;
mod section;
mod types;

pub use debug_source::SourceLine;
pub use decorations::{DebugNames, DecorationRef};
pub use error::{ModuleError, ModuleErrorKind};
pub use flow::{Construct, ConstructKind, Dominance, Flow};
pub use functions::{Block, BlockIndex, Function, Merge};
pub use section::Section;
pub use types::{ImageType, Type, TypeId};

use crate::decode::{self, Context, DecodedOperand, GrammarViolation, OperandLayout};
use crate::grammar::{ExtendedSet, OperandEncoding, Version};
use crate::tables::{Kind, Op, StorageClass};
use crate::words::{Header, string};

/// Dense number of an id: its index among all ids in use, in the order of first appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DenseId(pub u32);

/// Index of an instruction among all instructions of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstructionIndex(pub u32);

/// The words of an instruction.
#[derive(Clone, Copy, Debug)]
struct WordSpan {
    at: u32,
    opcode: u16,
    len: u16,
}

/// Stands for no instruction, type or id.
const NONE: u32 = u32::MAX;

/// A module, read by [`Module::parse`].
#[derive(Debug)]
pub struct Module {
    words: Vec<u32>,
    header: Header,
    spans: Vec<WordSpan>,
    /// Index of the first instruction of each section, followed by the number of instructions.
    sections: [u32; Section::COUNT + 1],
    ids: parse::IdMap,
    /// The instruction that defines each id, or `NONE`.
    definitions: Vec<u32>,
    types: types::Types,
    functions: Vec<Function>,
    blocks: Vec<Block>,
    annotations: decorations::Annotations,
    lines: Vec<InstructionIndex>,
    /// Raw id of the import of `NonSemantic.Shader.DebugInfo.100`.
    debug_info: Option<u32>,
    unknown: u32,
    context: Context,
}

/// One instruction of a module.
#[derive(Clone, Copy)]
pub struct Instruction<'a> {
    /// Its index among the module's instructions.
    pub index: InstructionIndex,
    /// Index of its first word in the module.
    pub at: usize,
    /// Its operation; `None` if the grammar does not define the opcode.
    pub op: Option<Op>,
    /// All its words, starting with the opcode.
    pub words: &'a [u32],
}

impl std::fmt::Debug for Instruction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} at word {}: {:?}", self.op, self.at, self.words)
    }
}

impl<'a> Instruction<'a> {
    /// Returns the name of its operation.
    pub fn name(&self) -> &'static str {
        self.op.map_or("an unknown instruction", |op| op.name())
    }

    /// Returns the raw id of its result type.
    pub fn result_type(&self) -> Option<u32> {
        self.op.filter(|op| op.info().has_result_type()).and_then(|_| self.words.get(1).copied())
    }

    /// Returns its raw result id.
    pub fn result(&self) -> Option<u32> {
        let info = self.op?.info();
        if !info.has_result() {
            return None;
        }
        self.words.get(1 + usize::from(info.has_result_type())).copied()
    }

    /// Returns the words after the result type and the result.
    pub fn operands(&self) -> &'a [u32] {
        let skip = self.op.map_or(1, |op| {
            let info = op.info();
            1 + usize::from(info.has_result_type()) + usize::from(info.has_result())
        });
        self.words.get(skip..).unwrap_or_default()
    }

    /// Returns one word of [`Instruction::operands`].
    pub fn operand(&self, i: usize) -> Option<u32> {
        self.operands().get(i).copied()
    }
}

impl Module {
    /// Returns the module's words, exactly as they were read, in host byte order.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns the words, dropping everything else.
    pub fn into_words(self) -> Vec<u32> {
        self.words
    }

    /// Returns the header.
    pub fn header(&self) -> Header {
        self.header
    }

    /// Returns the version of SPIR-V that the header declares; [`Version::NEWEST`] if it declares
    /// none.
    pub fn version(&self) -> Version {
        self.header.spirv_version().unwrap_or(Version::NEWEST)
    }

    /// Returns the tool that made the module, with its version, such as `Glslang, generator version
    /// 11`; `None` if the header names no registered tool.
    pub fn generator(&self) -> Option<String> {
        crate::generator::tool(self.header.generator)
    }

    /// Returns the number of instructions.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns true if there are no instructions.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the number of instructions that the grammar does not define, or whose operands use
    /// an enumerant that it does not define.
    pub fn unknown_instructions(&self) -> u32 {
        self.unknown
    }

    /// Returns an instruction.
    pub fn instruction(&self, index: InstructionIndex) -> Instruction<'_> {
        let span = self.spans[index.0 as usize];
        let at = span.at as usize;
        Instruction { index, at, op: Op::from_opcode(span.opcode), words: &self.words[at..at + usize::from(span.len)] }
    }

    /// Returns the instruction whose first word is word `at` of the module.
    pub fn instruction_at(&self, at: usize) -> Option<Instruction<'_>> {
        let index = self.spans.binary_search_by_key(&at, |span| span.at as usize).ok()?;
        Some(self.instruction(InstructionIndex(index as u32)))
    }

    /// Returns the instructions from `range.start` to `range.end`, exclusive.
    pub fn instructions_in(&self, range: std::ops::Range<u32>) -> impl DoubleEndedIterator<Item = Instruction<'_>> {
        range.map(|i| self.instruction(InstructionIndex(i)))
    }

    /// Calls `visit` for each operand of an instruction, including result type and result, up to
    /// the first one that does not conform to the grammar.
    pub fn operands(
        &self,
        instruction: Instruction,
        mut visit: impl FnMut(DecodedOperand),
    ) -> Result<(), GrammarViolation> {
        let Some(op) = instruction.op else { return Ok(()) };
        decode::operands(op.info(), instruction.words, &self.context, &mut visit)
    }

    /// Calls `visit` with each raw id that an instruction uses, except its result and its result
    /// type.
    pub fn uses(&self, instruction: Instruction, mut visit: impl FnMut(u32)) {
        let Some(op) = instruction.op else { return };
        if let Some(ids) = OperandLayout::of(op).ids(instruction.words.len()) {
            let info = op.info();
            let made = usize::from(info.has_result_type()) + usize::from(info.has_result());
            instruction.words.get(ids.start + made..ids.end).unwrap_or_default().iter().for_each(|word| visit(*word));
            return;
        }
        // Operands after an enumerant newer than the tables cannot be decoded.
        let _newer = self.operands(instruction, |operand| {
            let id = matches!(operand.kind.info().encoding, OperandEncoding::Id);
            if id && !matches!(operand.kind, Kind::IdResult | Kind::IdResultType) {
                visit(instruction.words[operand.at]);
            }
        });
    }

    /// Returns the raw ids that an instruction uses, its result type first; its result is not
    /// included.
    pub fn id_operands(&self, instruction: Instruction) -> Vec<u32> {
        let mut ids: Vec<u32> = instruction.result_type().into_iter().collect();
        self.uses(instruction, |word| ids.push(word));
        ids
    }

    /// Returns all instructions.
    pub fn instructions(&self) -> impl DoubleEndedIterator<Item = Instruction<'_>> {
        self.instructions_in(0..self.spans.len() as u32)
    }

    /// Returns the instructions of a section.
    pub fn section(&self, section: Section) -> impl DoubleEndedIterator<Item = Instruction<'_>> {
        let start = self.sections[section as usize];
        self.instructions_in(start..self.sections[section as usize + 1])
    }

    /// Returns the number of ids in use.
    pub fn id_count(&self) -> usize {
        self.definitions.len()
    }

    /// Returns the dense id of a raw id.
    pub fn dense_id(&self, word: u32) -> Option<DenseId> {
        self.ids.get(word)
    }

    /// Returns the raw id of a dense id.
    pub fn raw_id(&self, id: DenseId) -> u32 {
        self.ids.word(id)
    }

    /// Returns the instruction that defines an id; `None` only if the module has an unknown
    /// instruction that may define it.
    pub fn definition(&self, id: DenseId) -> Option<Instruction<'_>> {
        let index = *self.definitions.get(id.0 as usize)?;
        (index != NONE).then(|| self.instruction(InstructionIndex(index)))
    }

    /// Returns the instruction that defines a raw id.
    pub fn definition_of(&self, word: u32) -> Option<Instruction<'_>> {
        self.definition(self.dense_id(word)?)
    }

    /// Returns the index of the instruction that defines a raw id.
    pub fn definition_index(&self, word: u32) -> Option<InstructionIndex> {
        let index = *self.definitions.get(self.dense_id(word)?.0 as usize)?;
        (index != NONE).then_some(InstructionIndex(index))
    }

    /// Returns the type that a raw id declares.
    pub fn type_declared(&self, word: u32) -> Option<TypeId> {
        self.types.declared(self.dense_id(word)?)
    }

    /// Returns the type of the value that a raw id denotes.
    pub fn type_of(&self, word: u32) -> Option<TypeId> {
        self.type_declared(self.definition_of(word)?.result_type()?)
    }

    /// Returns a type.
    pub fn ty(&self, ty: TypeId) -> &Type {
        self.types.get(ty)
    }

    /// Returns all types in the order of declaration.
    pub fn types(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        self.types.iter()
    }

    /// Returns the instruction that first declares a type.
    pub fn type_definition(&self, ty: TypeId) -> Instruction<'_> {
        self.instruction(self.types.declaration(ty))
    }

    /// Returns the members of a structure, or the parameters of a function type.
    pub fn members(&self, ty: TypeId) -> &[TypeId] {
        self.types.members(ty)
    }

    /// Returns the functions in order.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Returns a function by its raw id.
    pub fn function(&self, word: u32) -> Option<&Function> {
        self.functions.get(self.function_index(word)?)
    }

    /// Returns the index of a function in [`Module::functions`], by its raw id.
    pub fn function_index(&self, word: u32) -> Option<usize> {
        let index = self.definition_of(word)?.index;
        self.functions.binary_search_by_key(&index.0, |f| f.instructions.start).ok()
    }

    /// Returns the blocks of all functions in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns a block.
    pub fn block(&self, block: BlockIndex) -> &Block {
        &self.blocks[block.0 as usize]
    }

    /// Returns the block with this label, given as a raw id.
    pub fn block_of(&self, word: u32) -> Option<BlockIndex> {
        let index = self.definition_of(word)?.index;
        let found = self.blocks.binary_search_by_key(&index.0, |b| b.instructions.start).ok()?;
        Some(BlockIndex(found as u32))
    }

    /// Returns the block that contains an instruction.
    pub fn block_at(&self, index: InstructionIndex) -> Option<BlockIndex> {
        let after = self.blocks.partition_point(|b| b.instructions.start <= index.0);
        let block = after.checked_sub(1)?;
        self.blocks[block].instructions.contains(&index.0).then_some(BlockIndex(block as u32))
    }

    /// Returns the function that contains an instruction.
    pub fn function_at(&self, index: InstructionIndex) -> Option<&Function> {
        let after = self.functions.partition_point(|f| f.instructions.start <= index.0);
        self.functions.get(after.checked_sub(1)?).filter(|f| f.instructions.contains(&index.0))
    }

    /// Returns the structural control flow of a function.
    pub fn flow(&self, function: &Function) -> Flow {
        Flow::new(self, function)
    }

    /// Returns dominance among the blocks of a function.
    pub fn dominance(&self, function: &Function) -> Dominance {
        Dominance::new(self, function)
    }

    /// Returns the extended instruction set that an `OpExtInstImport` with this raw id imports;
    /// `None` for other ids.
    pub fn extended_set(&self, word: u32) -> Option<ExtendedSet> {
        self.context.set(word)
    }

    /// Returns the decorations of a raw id and of its members, with groups resolved.
    pub fn decorations(&self, word: u32) -> impl Iterator<Item = DecorationRef<'_>> {
        self.annotations.of(self, word)
    }

    /// Returns every decoration with the raw id of its target, with groups resolved.
    pub fn all_decorations(&self) -> impl Iterator<Item = (u32, DecorationRef<'_>)> {
        self.annotations.all(self)
    }

    /// Returns the debug names.
    pub fn names(&self) -> DebugNames<'_> {
        DebugNames::new(self)
    }

    /// Returns the value of an integer constant, extended to 64 bits; for a specialisation
    /// constant, its default.
    pub fn constant_int(&self, word: u32) -> Option<i64> {
        let definition = self.definition_of(word)?;
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

    /// Returns the string that starts at operand word `i` of an `OpEntryPoint`, `OpExtension` or
    /// similar instruction; empty if there is none.
    pub fn string_at(&self, instruction: Instruction<'_>, i: usize) -> String {
        instruction.operands().get(i..).and_then(string).map_or_else(String::new, |(text, _)| text)
    }

    /// Returns storage class and pointee of a pointer type; the pointee is `None` for untyped
    /// pointers.
    pub fn pointer(&self, ty: TypeId) -> Option<(StorageClass, Option<TypeId>)> {
        match *self.ty(ty) {
            Type::Pointer { class, pointee } => Some((class, pointee)),
            _ => None,
        }
    }

    /// Returns the raw id of the type that an instruction's result, such as a variable or an access
    /// chain, points to.
    pub fn pointee(&self, instruction: Instruction<'_>) -> Option<u32> {
        let ty = self.type_declared(instruction.result_type()?)?;
        self.type_definition(self.pointer(ty)?.1?).result()
    }
}
