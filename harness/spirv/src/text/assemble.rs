//! Assembler: parses the text form of a module into words.

use std::collections::HashMap;

use super::lexer::{Lexer, Token, Unterminated, line_and_column};
use super::suggest::nearest_name;
use crate::decode::{Context, in_spec_constant};
use crate::grammar::{
    self, ExtendedSet, INSTRUCTIONS, Instruction, Kind, Operand, OperandEncoding, Quantifier, Version,
};
use crate::hash::BuildNameHasher;
use crate::number::NumberType;
use crate::words::{self, HEADER_WORDS, MAGIC, MAX_ID};

/// A syntax error in the text of a module, with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}{}", nearest.as_ref().map_or(String::new(), |n| format!("; did you mean '{n}'?")))]
pub struct AssembleError {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// The bytes of the text that the error refers to.
    pub span: std::ops::Range<usize>,
    /// The problem, and the expected text.
    pub message: String,
    /// The known name most similar to an unknown one.
    pub nearest: Option<String>,
}

/// Returns the words of the module that `text` describes, in the syntax of spirv-as with
/// `--preserve-numeric-ids`.
///
/// A numeric id keeps its number; named ids get the lowest free numbers in the order of their first
/// appearance. The header is read from a leading comment in the format of spirv-dis (`; Version:
/// 1.3`, `; Bound: 40`); without one, the version is 1.6. Unlike in spirv-as, a `!` at the start of
/// a line begins a raw instruction if the instruction before it is complete.
pub fn assemble(text: &str) -> Result<Vec<u32>, AssembleError> {
    assemble_with_spans(text).map(|(words, _)| words)
}

/// Positions of a module's instructions in the text that it was assembled from.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// In order.
    instructions: Vec<Span>,
}

/// Position of an instruction.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// Index of its first word in the module.
    word: u32,
    /// Offset of its first byte in the text, and of the byte after its last.
    start: u32,
    end: u32,
}

impl Spans {
    /// Returns the bytes of the instruction that contains the word at `at`.
    pub fn of(&self, at: usize) -> Option<std::ops::Range<usize>> {
        let after = self.instructions.partition_point(|span| span.word as usize <= at);
        let span = self.instructions.get(after.checked_sub(1)?)?;
        Some(span.start as usize..span.end as usize)
    }
}

/// Assembles `text` as [`assemble`] does, and also returns the position of each instruction in the
/// text.
pub fn assemble_with_spans(text: &str) -> Result<(Vec<u32>, Spans), AssembleError> {
    let fail = |error: SyntaxError| {
        let (line, column) = line_and_column(text, error.at);
        AssembleError {
            line,
            column,
            span: error.at..error.at + error.len,
            message: error.message,
            nearest: error.nearest,
        }
    };
    let mut assembler = Assembler::new(text).map_err(fail)?;
    while let Some(first) = assembler.token {
        let word = assembler.words.len() as u32;
        assembler.instruction().map_err(fail)?;
        assembler.spans.instructions.push(Span { word, start: first.at as u32, end: assembler.end as u32 });
    }
    assembler.finish().map_err(fail)
}

struct SyntaxError {
    at: usize,
    len: usize,
    message: String,
    nearest: Option<String>,
}

impl From<Unterminated> for SyntaxError {
    fn from(Unterminated(at): Unterminated) -> Self {
        SyntaxError { at, len: 1, message: "string literal has no closing quote".to_owned(), nearest: None }
    }
}

type SyntaxResult<T> = Result<T, SyntaxError>;

struct Assembler<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    /// The current token, and the next one.
    token: Option<Token<'a>>,
    next_token: Option<Token<'a>>,
    words: Vec<u32>,
    /// Positions of ids in `words`; until the end, the word there is the id's index in `names`.
    id_positions: Vec<u32>,
    ids: HashMap<&'a str, u32, BuildNameHasher>,
    names: Vec<Token<'a>>,
    context: Context,
    /// The set of the extended instruction that is being read.
    set: ExtendedSet,
    /// Position in `words` of the first word of the instruction that is being read.
    start: usize,
    /// Set if the instruction has a raw word, after which the grammar does not determine the
    /// operands.
    has_raw_word: bool,
    /// Position of the byte after the last token consumed.
    end: usize,
    spans: Spans,
}

impl<'a> Assembler<'a> {
    fn new(text: &'a str) -> SyntaxResult<Self> {
        let mut lexer = Lexer::new(text);
        let token = lexer.next()?;
        let next_token = lexer.next()?;
        let mut words = Vec::with_capacity(HEADER_WORDS + text.len() / 8);
        words.extend([MAGIC, 0, 0, 0, 0]);
        Ok(Assembler {
            text,
            lexer,
            token,
            next_token,
            words,
            id_positions: Vec::new(),
            ids: HashMap::with_capacity_and_hasher(text.len() / 64, BuildNameHasher),
            names: Vec::new(),
            context: Context::new(text.len()),
            set: ExtendedSet::Unknown,
            start: 0,
            has_raw_word: false,
            end: 0,
            spans: Spans::default(),
        })
    }

    fn advance(&mut self) -> SyntaxResult<()> {
        self.end = self.token.map_or(self.end, |t| t.at + t.text.len());
        self.token = self.next_token;
        self.next_token = self.lexer.next()?;
        Ok(())
    }

    /// Consumes and returns the current token. At the end of the text, `expected` names the missing
    /// part in the error.
    fn take(&mut self, expected: &str) -> SyntaxResult<Token<'a>> {
        let Some(token) = self.token else {
            let at = self.text.trim_end().len();
            return Err(SyntaxError {
                at,
                len: 0,
                message: format!("expected {expected}, found the end of the text"),
                nearest: None,
            });
        };
        self.advance()?;
        Ok(token)
    }

    /// Returns true if the current token starts an instruction, or no token is left.
    fn at_instruction(&self) -> bool {
        match (self.token, self.next_token) {
            (None, _) => true,
            (Some(token), next_token) => {
                is_op_name(token.text)
                    || (token.text.starts_with('%') && next_token.is_some_and(|next| next.text == "="))
            }
        }
    }

    /// Returns true if the instruction that is being read, complete so far, ends here.
    fn at_end(&self) -> bool {
        self.at_instruction() || self.token.is_some_and(|t| t.starts_line && t.text.starts_with('!'))
    }

    fn instruction(&mut self) -> SyntaxResult<()> {
        let first = self.take("an instruction")?;
        if first.text.starts_with('!') {
            let word = immediate(first)?;
            self.words.push(word);
            return Ok(());
        }
        let (result, name) = if first.text.starts_with('%') {
            let equals = self.take("'=' after the result id")?;
            if equals.text != "=" {
                return Err(error(equals, "expected '=' after the result id"));
            }
            (Some(first), self.take("an instruction after =")?)
        } else {
            (None, first)
        };
        let Some(instruction) = grammar::instruction_named(name.text) else {
            let mut error = error(name, &format!("expected an instruction, found {:?}", name.text));
            error.nearest = nearest_name(name.text, INSTRUCTIONS.iter().map(|i| i.name)).map(str::to_owned);
            return Err(error);
        };
        self.start = self.words.len();
        self.has_raw_word = false;
        self.set = ExtendedSet::Unknown;
        self.words.push(instruction.op as u32);
        let mut operands = instruction.operands;
        if instruction.has_result_type() {
            self.operand(Kind::IdResultType, "the result type")?;
            operands = &operands[1..];
        }
        match (instruction.has_result(), result) {
            (true, Some(id)) => {
                self.id(id)?;
                operands = &operands[1..];
            }
            (false, None) => {}
            (true, None) => {
                return Err(error(name, &format!("{} has a result: expected '%name =' before it", name.text)));
            }
            (false, Some(id)) => return Err(error(id, &format!("{} has no result", name.text))),
        }
        self.operands(operands)?;
        if self.has_raw_word {
            self.raw_operands()?;
        }
        let length = self.words.len() - self.start;
        let Ok(count) = u16::try_from(length) else {
            return Err(error(name, &format!("the instruction has {length} words, but the limit is 65535")));
        };
        if !self.at_end() {
            self.extra_operand(instruction)?;
        }
        self.words[self.start] |= u32::from(count) << 16;
        if !self.has_raw_word {
            self.context.note(instruction, &self.words[self.start..]);
        }
        Ok(())
    }

    fn extra_operand(&mut self, instruction: &Instruction) -> SyntaxResult<()> {
        let extra = self.take("an instruction")?;
        let message = format!("{} takes no more operands, found {:?}", instruction.name, extra.text);
        Err(error(extra, &message))
    }

    fn operands(&mut self, operands: &[Operand]) -> SyntaxResult<()> {
        for operand in operands {
            if self.has_raw_word {
                return Ok(());
            }
            match operand.quantifier {
                Quantifier::One => self.operand(operand.kind, operand.name)?,
                Quantifier::Optional if self.at_end() => {}
                Quantifier::Optional => self.operand(operand.kind, operand.name)?,
                Quantifier::Any => {
                    while !self.has_raw_word && !self.at_end() {
                        self.operand(operand.kind, operand.name)?;
                    }
                }
            }
        }
        // A `!` on the same line is accepted after the last operand too, so that raw words round
        // trip.
        if self.token.is_some_and(|t| !t.starts_line && t.text.starts_with('!')) {
            self.has_raw_word = true;
        }
        Ok(())
    }

    /// Reads the operands after a raw word as ids, numbers or strings by their first characters, up
    /// to the end of the instruction.
    fn raw_operands(&mut self) -> SyntaxResult<()> {
        while !self.at_end() {
            let token = self.take("an operand")?;
            match token.text.as_bytes().first() {
                Some(b'!') => {
                    let word = immediate(token)?;
                    self.words.push(word);
                }
                Some(b'%') => self.id(token)?,
                Some(b'"') => self.string(token)?,
                _ => {
                    let signed = token.text.starts_with('-');
                    let looks_float = token.text.contains(['.', 'p', 'P']);
                    let int = NumberType::Int { width: 32, signed };
                    let number = if looks_float { NumberType::float(32, None).unwrap_or(int) } else { int };
                    self.number(token, number)?;
                }
            }
        }
        Ok(())
    }

    fn operand(&mut self, kind: Kind, name: &str) -> SyntaxResult<()> {
        let expected =
            || if name.is_empty() { kind.info().name.to_owned() } else { format!("{} ({name})", kind.info().name) };
        if self.at_instruction() {
            let message = format!("expected {}, found the next instruction", expected());
            return match self.token {
                Some(token) => Err(error(token, &message)),
                None => self.take(&expected()).map(|_| ()),
            };
        }
        if let OperandEncoding::Composite(bases) = kind.info().encoding
            && kind != Kind::PairLiteralIntegerIdRef
        {
            for &base in bases {
                if !self.has_raw_word {
                    self.operand(base, name)?;
                }
            }
            return Ok(());
        }
        let token = self.take(&expected())?;
        if token.text.starts_with('!') {
            let word = immediate(token)?;
            self.words.push(word);
            self.has_raw_word = true;
            return Ok(());
        }
        match kind {
            Kind::PairLiteralIntegerIdRef => {
                let selector = self.words.get(self.start + 1).copied().unwrap_or(0);
                let Some(number) = self.context.number_of_value(selector) else {
                    return Err(error(
                        token,
                        "cannot read the literal: the selector is not an integer declared before",
                    ));
                };
                self.number(token, number)?;
                self.operand(Kind::IdRef, name)
            }
            Kind::LiteralContextDependentNumber => {
                let ty = self.words.get(self.start + 1).copied().unwrap_or(0);
                let Some(number) = self.context.number(ty) else {
                    return Err(error(
                        token,
                        "cannot read the literal: the result type is not a number type declared before",
                    ));
                };
                self.number(token, number)
            }
            Kind::LiteralInteger => self.number(token, NumberType::U32),
            Kind::LiteralFloat => match NumberType::float(32, None) {
                Some(number) => self.number(token, number),
                None => Err(error(token, "expected a number")),
            },
            Kind::LiteralString => self.string(token),
            Kind::LiteralExtInstInteger => self.extended(token),
            Kind::LiteralSpecConstantOpInteger => self.spec_constant_op(token),
            _ => match kind.info().encoding {
                OperandEncoding::Id => {
                    self.id(token)?;
                    if kind == Kind::IdRef {
                        let id = self.words[self.words.len() - 1];
                        self.set = self.context.set(id).unwrap_or(self.set);
                    }
                    Ok(())
                }
                OperandEncoding::Value(_) => match kind.enumerant_named(token.text) {
                    Some(enumerant) => {
                        self.words.push(enumerant.value);
                        self.operands(enumerant.parameters)
                    }
                    None => Err(unknown_enumerant(token, token.text, kind)),
                },
                OperandEncoding::Mask(rows) => {
                    let mut mask = 0;
                    for part in token.text.split('|') {
                        match kind.enumerant_named(part) {
                            Some(enumerant) => mask |= enumerant.value,
                            // Some masks do not name the empty set.
                            None if part == "None" => {}
                            None => return Err(unknown_enumerant(token, part, kind)),
                        }
                    }
                    self.words.push(mask);
                    for row in rows.iter().filter(|row| row.value != 0 && mask & row.value == row.value) {
                        self.operands(row.parameters)?;
                    }
                    Ok(())
                }
                OperandEncoding::Literal | OperandEncoding::Composite(_) => self.number(token, NumberType::U32),
            },
        }
    }

    fn extended(&mut self, token: Token<'a>) -> SyntaxResult<()> {
        if self.set == ExtendedSet::Unknown {
            self.number(token, NumberType::U32)?;
            while !self.has_raw_word && !self.at_end() {
                self.operand(Kind::IdRef, "")?;
            }
            return Ok(());
        }
        let Some(extended) = self.set.instruction_named(token.text) else {
            let mut error = error(token, &format!("expected an extended instruction, found {:?}", token.text));
            error.nearest = nearest_name(token.text, self.set.instructions().iter().map(|i| i.name)).map(str::to_owned);
            return Err(error);
        };
        self.words.push(extended.number);
        self.operands(extended.operands)?;
        if !self.has_raw_word && !self.at_end() {
            let extra = self.take("an instruction")?;
            return Err(error(extra, &format!("{} takes no more operands, found {:?}", extended.name, extra.text)));
        }
        Ok(())
    }

    fn spec_constant_op(&mut self, token: Token<'a>) -> SyntaxResult<()> {
        let inner = grammar::instruction_named(&format!("Op{}", token.text)).filter(|i| in_spec_constant(i));
        let Some(inner) = inner else {
            let known = INSTRUCTIONS.iter().filter(|i| in_spec_constant(i)).map(|i| &i.name[2..]);
            let mut error = error(token, &format!("expected an operation on constants, found {:?}", token.text));
            error.nearest = nearest_name(token.text, known).map(str::to_owned);
            return Err(error);
        };
        self.words.push(inner.op as u32);
        self.operands(&inner.operands[2..])
    }

    fn id(&mut self, token: Token<'a>) -> SyntaxResult<()> {
        let name = token.text.strip_prefix('%').filter(|n| !n.is_empty() && n.bytes().all(is_id_byte));
        let Some(name) = name else {
            return Err(error(token, &format!("expected an id (% and letters, digits or _), found {:?}", token.text)));
        };
        let next = self.names.len() as u32;
        let index = *self.ids.entry(name).or_insert(next);
        if index == next {
            self.names.push(token);
        }
        self.id_positions.push(self.words.len() as u32);
        self.words.push(index);
        Ok(())
    }

    fn number(&mut self, token: Token<'a>, number: NumberType) -> SyntaxResult<()> {
        let bits = number.parse(token.text).map_err(|message| error(token, &message))?;
        self.words.push(bits as u32);
        if number.words() == 2 {
            self.words.push((bits >> 32) as u32);
        }
        Ok(())
    }

    fn string(&mut self, token: Token<'a>) -> SyntaxResult<()> {
        let inner = token.text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).filter(|_| token.text.len() >= 2);
        let Some(inner) = inner else {
            return Err(error(token, &format!("expected a string in quotes, found {:?}", token.text)));
        };
        let mut bytes = Vec::with_capacity(inner.len());
        let mut escaped = false;
        for byte in inner.bytes() {
            match byte {
                0 => return Err(error(token, "a string cannot contain a zero byte")),
                b'\\' if !escaped => escaped = true,
                b'"' if !escaped => return Err(error(token, "expected a space after the closing quote")),
                _ => {
                    bytes.push(byte);
                    escaped = false;
                }
            }
        }
        words::push_string(&bytes, &mut self.words);
        Ok(())
    }

    /// Assigns a number to every id and writes the header.
    fn finish(mut self) -> SyntaxResult<(Vec<u32>, Spans)> {
        let number = |token: &Token| token.text[1..].parse::<u32>().ok().filter(|_| !token.text.starts_with("%0"));
        let mut numbers: Vec<u32> = self.names.iter().map(|token| number(token).unwrap_or(0)).collect();
        if let Some(i) = numbers.iter().position(|n| *n > MAX_ID) {
            return Err(error(self.names[i], &format!("the id exceeds the limit of {MAX_ID}")));
        }
        let mut taken: Vec<u32> = numbers.iter().copied().filter(|n| *n != 0).collect();
        taken.sort_unstable();
        let mut taken = taken.into_iter().peekable();
        let mut free = 1;
        let mut next_free = || {
            while taken.peek() == Some(&free) {
                taken.next();
                free += 1;
            }
            free += 1;
            free - 1
        };
        for number in numbers.iter_mut().filter(|n| **n == 0) {
            *number = next_free();
        }
        if let Some(i) = numbers.iter().position(|n| *n > MAX_ID) {
            return Err(error(self.names[i], &format!("the id exceeds the limit of {MAX_ID}")));
        }
        for &at in &self.id_positions {
            let word = &mut self.words[at as usize];
            *word = numbers[*word as usize];
        }
        let header = HeaderComment::read(self.text);
        let bound = numbers.iter().max().map_or(1, |n| n + 1);
        self.words[1] = header.version.unwrap_or(Version::NEWEST.word());
        self.words[2] = header.generator.unwrap_or(0);
        self.words[3] = header.bound.unwrap_or(0).max(bound);
        self.words[4] = header.schema.unwrap_or(0);
        Ok((self.words, self.spans))
    }
}

/// Returns whether the first comment lines of `text` state the version of the module.
pub fn states_version(text: &str) -> bool {
    HeaderComment::read(text).version.is_some()
}

/// Header fields from the comment lines at the start of a disassembly, which blank lines may
/// surround.
#[derive(Default)]
struct HeaderComment {
    version: Option<u32>,
    generator: Option<u32>,
    bound: Option<u32>,
    schema: Option<u32>,
}

impl HeaderComment {
    fn read(text: &str) -> HeaderComment {
        let mut header = HeaderComment::default();
        let lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty());
        let comments = lines.map_while(|line| line.strip_prefix(';'));
        for (field, value) in comments.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            match field.trim() {
                "Version" => header.version = version(value),
                "Generator" => header.generator = generator(value),
                "Bound" => header.bound = value.parse().ok(),
                "Schema" => header.schema = value.parse().ok(),
                _ => {}
            }
        }
        header
    }
}

/// Parses a version: `1.3`, or its word in hexadecimal if the word is not a version.
fn version(text: &str) -> Option<u32> {
    if let Some(word) = text.strip_prefix("0x") {
        return u32::from_str_radix(word, 16).ok();
    }
    let (major, minor) = text.split_once('.')?;
    Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? }.word())
}

/// Parses a generator, such as `Unknown(17); 3`. The names of generators are not known; one gives
/// `None`.
fn generator(text: &str) -> Option<u32> {
    let (tool, version) = text.split_once(';')?;
    let tool = tool.trim().strip_prefix("Unknown(")?.strip_suffix(')')?;
    Some(u32::from(tool.parse::<u16>().ok()?) << 16 | u32::from(version.trim().parse::<u16>().ok()?))
}

fn is_op_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.starts_with(b"Op") && bytes.get(2).is_some_and(u8::is_ascii_uppercase)
}

fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn error(token: Token, message: &str) -> SyntaxError {
    SyntaxError { at: token.at, len: token.text.len(), message: message.to_owned(), nearest: None }
}

fn unknown_enumerant(token: Token, name: &str, kind: Kind) -> SyntaxError {
    let mut error = error(token, &format!("expected {}, found {name:?}", kind.info().name));
    error.nearest = nearest_name(name, kind.enumerants().iter().map(|e| e.name)).map(str::to_owned);
    error
}

/// Parses a raw word: `!123` or `!0x7b`.
fn immediate(token: Token) -> SyntaxResult<u32> {
    let digits = token.text.strip_prefix('!').unwrap_or_default();
    let word = NumberType::U32
        .parse(digits)
        .map_err(|_| error(token, &format!("expected '!' and a number, found {:?}", token.text)))?;
    Ok(word as u32)
}
