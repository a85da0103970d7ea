//! Parser from words to [`Module`].

use super::debug_source::SHADER_DEBUG_INFO;
use super::decorations::Annotations;
use super::functions::is_terminator;
use super::types::Types;
use super::{
    Block, DenseId, Function, Instruction, InstructionIndex, Module, ModuleError, ModuleErrorKind, NONE, Section,
    WordSpan,
};
use crate::decode::{self, Context, GrammarViolation};
use crate::grammar::{self, InstructionClass, Kind, OperandEncoding};
use crate::id_table::IdTable;
use crate::tables::Op;
use crate::words::{self, HEADER_WORDS, Instructions, MAX_ID, WordsError};

/// Largest number of words in a module (256 MiB), so that positions fit into 32 bits.
const MAX_WORDS: usize = 1 << 26;

/// Map between raw and dense ids.
pub(super) struct IdMap {
    /// Dense id plus one; 0 for ids not in use.
    by_word: IdTable<u32>,
    words: Vec<u32>,
}

impl std::fmt::Debug for IdMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ids", self.words.len())
    }
}

impl IdMap {
    pub(super) fn get(&self, word: u32) -> Option<DenseId> {
        self.by_word.get(word).checked_sub(1).map(DenseId)
    }

    pub(super) fn word(&self, id: DenseId) -> u32 {
        self.words[id.0 as usize]
    }

    fn intern(&mut self, word: u32) -> DenseId {
        if let Some(id) = self.get(word) {
            return id;
        }
        let id = DenseId(self.words.len() as u32);
        self.words.push(word);
        self.by_word.set(word, id.0 + 1);
        id
    }
}

struct Parser {
    module: Module,
    /// For each id, the first instruction that uses or defines it.
    users: Vec<u32>,
    section: Section,
    /// The function, and the first instruction of the block, that is being read.
    function: Option<Function>,
    block: Option<u32>,
    /// The preceding instruction, if it is a merge instruction.
    merge: Option<Op>,
}

impl Module {
    /// Parses a module's words, which are in host byte order.
    pub fn parse(words: Vec<u32>) -> Result<Module, ModuleError> {
        let (header, _) = words::split_header(&words).map_err(words_error)?;
        if words.len() > MAX_WORDS {
            let kind = ModuleErrorKind::Limit { what: "number of words", found: words.len(), limit: MAX_WORDS };
            return Err(ModuleError { at: 0, kind });
        }
        if header.bound == 0 || header.bound > MAX_ID + 1 {
            return Err(ModuleError { at: 3, kind: ModuleErrorKind::Bound { bound: header.bound } });
        }
        let expected = words.len();
        let mut spans = Vec::with_capacity(words.len() / 4);
        for instruction in Instructions::new(&words) {
            let (at, instruction) = instruction.map_err(words_error)?;
            spans.push(WordSpan { at: at as u32, opcode: instruction[0] as u16, len: instruction.len() as u16 });
        }
        let module = Module {
            words,
            header,
            spans,
            sections: [0; Section::COUNT + 1],
            ids: IdMap { by_word: IdTable::new(expected), words: Vec::new() },
            definitions: Vec::new(),
            types: Types::default(),
            functions: Vec::new(),
            blocks: Vec::new(),
            annotations: Annotations::default(),
            lines: Vec::new(),
            debug_info: None,
            unknown: 0,
            context: Context::new(expected),
        };
        let parser = Parser {
            module,
            users: Vec::new(),
            section: Section::Capabilities,
            function: None,
            block: None,
            merge: None,
        };
        parser.run()
    }

    /// Parses a module's bytes, in either byte order.
    pub fn from_bytes(bytes: &[u8]) -> Result<Module, ModuleError> {
        let words = words::words_from_bytes(bytes).map_err(words_error)?;
        Module::parse(words)
    }
}

impl Parser {
    fn run(mut self) -> Result<Module, ModuleError> {
        for i in 0..self.module.spans.len() as u32 {
            let at = self.module.spans[i as usize].at as usize;
            self.instruction(InstructionIndex(i)).map_err(|kind| ModuleError { at, kind })?;
        }
        let end = self.module.words.len().max(HEADER_WORDS);
        if self.block.is_some() || self.function.is_some() {
            let unfinished = if self.block.is_some() { "block" } else { "function" };
            return Err(ModuleError {
                at: end,
                kind: ModuleErrorKind::UnterminatedPart { found: "the end of the module", unfinished },
            });
        }
        let count = self.module.spans.len() as u32;
        self.enter(Section::Functions, count);
        self.module.sections[Section::COUNT] = count;
        self.check_defined()?;
        self.module.annotations = Annotations::collect(&self.module);
        self.module.link_blocks()?;
        Ok(self.module)
    }

    /// Checks that every id used is defined, unless an instruction is unknown and might define it.
    fn check_defined(&self) -> Result<(), ModuleError> {
        if self.module.unknown > 0 {
            return Ok(());
        }
        match self.module.definitions.iter().position(|definition| *definition == NONE) {
            None => Ok(()),
            Some(id) => {
                let at = self.module.spans[self.users[id] as usize].at as usize;
                let id = self.module.ids.words[id];
                Err(ModuleError { at, kind: ModuleErrorKind::Undefined { id } })
            }
        }
    }

    /// Records that all sections up to `section` have begun, at the instruction `index` if not
    /// before.
    fn enter(&mut self, section: Section, index: u32) {
        for later in self.section as usize + 1..=section as usize {
            self.module.sections[later] = index;
        }
        self.section = self.section.max(section);
    }

    fn instruction(&mut self, index: InstructionIndex) -> Result<(), ModuleErrorKind> {
        let span = self.module.spans[index.0 as usize];
        let Some(info) = grammar::instruction(span.opcode) else {
            self.module.unknown += 1;
            return Ok(());
        };
        let op = info.op;
        self.check_position(op, index)?;
        let range = span.at as usize..span.at as usize + usize::from(span.len);
        let Parser { module, users, .. } = self;
        let words = &module.words[range];
        let (ids, definitions, bound) = (&mut module.ids, &mut module.definitions, module.header.bound);
        let mut problem = None;
        let read = decode::operands(info, words, &module.context, &mut |operand| {
            if !matches!(operand.kind.info().encoding, OperandEncoding::Id) {
                return;
            }
            let word = words[operand.at];
            if word >= bound {
                problem = problem.take().or(Some(ModuleErrorKind::IdOutOfBound { id: word, bound }));
                return;
            }
            let id = ids.intern(word);
            if id.0 as usize == definitions.len() {
                definitions.push(NONE);
                users.push(index.0);
            }
            if operand.kind == Kind::IdResult {
                let definition = &mut definitions[id.0 as usize];
                if *definition != NONE {
                    problem = problem.take().or(Some(ModuleErrorKind::Redefined { id: word }));
                }
                *definition = index.0;
            }
        });
        match (read, problem) {
            (_, Some(problem)) => return Err(problem),
            (Ok(()), None) => module.context.note(info, words),
            (Err(GrammarViolation::Unreadable { kind, .. }), None) if newer_enumerant(kind) => module.unknown += 1,
            (Err(anomaly), None) => return Err(ModuleErrorKind::Operands { op, anomaly }),
        }
        match op {
            Op::ExtInstImport => {
                let name = words.get(2..).and_then(words::string);
                if name.is_some_and(|(name, _)| name == SHADER_DEBUG_INFO) {
                    module.debug_info = words.get(1).copied();
                }
            }
            _ if module.is_line_marker(op, words) => module.lines.push(index),
            _ if info.class == InstructionClass::TypeDeclaration => {
                let instruction = Instruction { index, at: span.at as usize, op: Some(op), words };
                module.types.declare(instruction, op, |word| module.ids.get(word))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks that the instruction is permitted here, and keeps track of sections, functions and
    /// blocks.
    fn check_position(&mut self, op: Op, index: InstructionIndex) -> Result<(), ModuleErrorKind> {
        let outside = |expected| Err(ModuleErrorKind::MisplacedInstruction { op, expected });
        let span = self.module.spans[index.0 as usize];
        let id = |i: usize| self.module.words.get(span.at as usize + i).copied().unwrap_or(0);
        match (&mut self.function, op) {
            (Some(_), Op::Function) => {
                return Err(ModuleErrorKind::UnterminatedPart { found: "OpFunction", unfinished: "function" });
            }
            (None, Op::Function) => {
                let blocks = self.module.blocks.len() as u32;
                self.function = Some(Function {
                    id: id(2),
                    instructions: index.0..index.0,
                    parameters: index.0 + 1..index.0 + 1,
                    blocks: blocks..blocks,
                });
                self.enter(Section::Functions, index.0);
            }
            (None, _) => {
                let Some(belongs) = Section::of(op) else {
                    return Ok(());
                };
                if belongs < self.section {
                    return Err(ModuleErrorKind::Section { op, belongs, after: self.section });
                }
                if belongs == Section::Functions
                    && !matches!(
                        op.info().class,
                        InstructionClass::Graph | InstructionClass::Unlisted | InstructionClass::Reserved
                    )
                {
                    return outside("function");
                }
                self.enter(belongs, index.0);
            }
            (Some(function), Op::FunctionEnd) => {
                if self.block.is_some() {
                    return Err(ModuleErrorKind::UnterminatedPart { found: "OpFunctionEnd", unfinished: "block" });
                }
                function.instructions.end = index.0 + 1;
                function.blocks.end = self.module.blocks.len() as u32;
                self.module.functions.extend(self.function.take());
                self.end_line_range(index);
            }
            (Some(function), Op::FunctionParameter) => {
                if self.block.is_some() || function.blocks.start != self.module.blocks.len() as u32 {
                    return Err(ModuleErrorKind::UnterminatedPart { found: "OpFunctionParameter", unfinished: "body" });
                }
                function.parameters.end = index.0 + 1;
            }
            (Some(_), Op::Label) => {
                if self.block.is_some() {
                    return Err(ModuleErrorKind::UnterminatedPart { found: "OpLabel", unfinished: "block" });
                }
                self.block = Some(index.0);
                self.module.blocks.push(Block { label: id(1), instructions: index.0..index.0, merge: None });
            }
            (Some(_), Op::Line | Op::NoLine) => {}
            (Some(_), _) => {
                if self.block.is_none() {
                    // Debug information is permitted between the parts of a function.
                    return if matches!(op, Op::ExtInst | Op::Nop) { Ok(()) } else { outside("block") };
                }
                if let Some(merge) = self.merge
                    && !is_terminator(op)
                {
                    return Err(ModuleErrorKind::MisplacedMerge { op: merge });
                }
                self.merge = Some(op).filter(|op| matches!(op, Op::SelectionMerge | Op::LoopMerge));
                if is_terminator(op) {
                    if let Some(block) = self.module.blocks.last_mut() {
                        block.instructions.end = index.0 + 1;
                    }
                    self.block = None;
                    self.end_line_range(index);
                }
                let both = matches!(op, Op::Variable | Op::UntypedVariableKHR | Op::Undef);
                let early = Section::of(op).filter(|s| *s < Section::Functions && !both);
                if let Some(belongs) = early {
                    return Err(ModuleErrorKind::Section { op, belongs, after: Section::Functions });
                }
            }
        }
        Ok(())
    }

    /// Ends the effect of an `OpLine` or `DebugLine` at the end of its block or function.
    fn end_line_range(&mut self, index: InstructionIndex) {
        let open = self
            .module
            .lines
            .last()
            .is_some_and(|line| self.module.line_begun_by(self.module.instruction(*line)).is_some());
        if open {
            self.module.lines.push(InstructionIndex(index.0 + 1));
        }
    }
}

/// Returns true if an unknown word of this kind may be newer than the tables.
fn newer_enumerant(kind: Kind) -> bool {
    matches!(kind.info().encoding, OperandEncoding::Value(_) | OperandEncoding::Mask(_))
        || kind == Kind::LiteralExtInstInteger
}

fn words_error(error: WordsError) -> ModuleError {
    let at = match error {
        WordsError::PartialWord { .. } | WordsError::NoHeader { .. } | WordsError::Magic { .. } => 0,
        WordsError::Empty { at } | WordsError::Truncated { at, .. } => at,
    };
    ModuleError { at, kind: error.into() }
}
