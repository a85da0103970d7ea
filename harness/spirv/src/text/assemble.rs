//! Text -> words.

use std::collections::HashMap;

use super::lexer::{Lexer, Token, Unterminated, position};
use super::nearest::nearest;
use crate::decode::{Context, in_spec_constant};
use crate::grammar::{self, Category, ExtendedSet, INSTRUCTIONS, Instruction, Kind, Operand, Quantifier, Version};
use crate::hash::Names;
use crate::number::NumberType;
use crate::words::{self, HEADER_WORDS, MAGIC, MAX_ID};

/// Why a text is no module, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}{}", nearest.as_ref().map_or(String::new(), |n| format!("; the nearest known name is {n}")))]
pub struct AssembleError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The bytes of the text that the error is about.
    pub span: std::ops::Range<usize>,
    /// What is wrong and what was expected.
    pub message: String,
    /// The known name that an unknown one most likely means.
    pub nearest: Option<String>,
}

/// The words of the module that `text` spells, as spirv-as reads it with `--preserve-numeric-ids`.
///
/// A number for an id is that id; named ids take the lowest free numbers in the order of their appearance. The header
/// is taken from a leading comment as spirv-dis writes it (`; Version: 1.3`, `; Bound: 40`), else the version is
/// 1.6. Unlike in spirv-as, a `!` at the start of a line begins a raw instruction when the one before it is complete.
pub fn assemble(text: &str) -> Result<Vec<u32>, AssembleError> {
    assemble_with_spans(text).map(|(words, _)| words)
}

/// Where each instruction of a module stands in the text that it was assembled from.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// First word in the module, first byte in the text, byte after the last: in order.
    instructions: Vec<(u32, u32, u32)>,
}

impl Spans {
    /// The bytes of the instruction that the word at `at` belongs to.
    pub fn of(&self, at: usize) -> Option<std::ops::Range<usize>> {
        let after = self.instructions.partition_point(|(word, ..)| *word as usize <= at);
        let (_, start, end) = self.instructions.get(after.checked_sub(1)?)?;
        Some(*start as usize..*end as usize)
    }
}

/// [`assemble`], and where in the text each instruction stands.
pub fn assemble_with_spans(text: &str) -> Result<(Vec<u32>, Spans), AssembleError> {
    let fail = |failure: Failure| {
        let (line, column) = position(text, failure.at);
        AssembleError {
            line,
            column,
            span: failure.at..failure.at + failure.len,
            message: failure.message,
            nearest: failure.nearest,
        }
    };
    let mut assembler = Assembler::new(text).map_err(fail)?;
    while let Some(first) = assembler.token {
        let word = assembler.words.len() as u32;
        assembler.instruction().map_err(fail)?;
        assembler.spans.instructions.push((word, first.at as u32, assembler.end as u32));
    }
    assembler.finish().map_err(fail)
}

struct Failure {
    at: usize,
    len: usize,
    message: String,
    nearest: Option<String>,
}

impl From<Unterminated> for Failure {
    fn from(Unterminated(at): Unterminated) -> Self {
        Failure { at, len: 1, message: "string literal has no closing quote".to_owned(), nearest: None }
    }
}

type Result_<T> = Result<T, Failure>;

struct Assembler<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    /// The current word, and the one after it.
    token: Option<Token<'a>>,
    ahead: Option<Token<'a>>,
    words: Vec<u32>,
    /// Where in `words` an id stands: until the end as its index in `names`.
    id_places: Vec<u32>,
    ids: HashMap<&'a str, u32, Names>,
    names: Vec<Token<'a>>,
    context: Context,
    /// The set of the extended instruction that is being read.
    set: ExtendedSet,
    /// Where the instruction that is being read starts.
    start: usize,
    /// A raw word stood in the instruction: what follows cannot be read by the grammar.
    raw: bool,
    /// Byte after the last word that was consumed.
    end: usize,
    spans: Spans,
}

impl<'a> Assembler<'a> {
    fn new(text: &'a str) -> Result_<Self> {
        let mut lexer = Lexer::new(text);
        let token = lexer.next()?;
        let ahead = lexer.next()?;
        let mut words = Vec::with_capacity(HEADER_WORDS + text.len() / 8);
        words.extend([MAGIC, 0, 0, 0, 0]);
        Ok(Assembler {
            text,
            lexer,
            token,
            ahead,
            words,
            id_places: Vec::new(),
            ids: HashMap::with_capacity_and_hasher(text.len() / 64, Names),
            names: Vec::new(),
            context: Context::new(text.len()),
            set: ExtendedSet::Unknown,
            start: 0,
            raw: false,
            end: 0,
            spans: Spans::default(),
        })
    }

    fn advance(&mut self) -> Result_<()> {
        self.end = self.token.map_or(self.end, |t| t.at + t.text.len());
        self.token = self.ahead;
        self.ahead = self.lexer.next()?;
        Ok(())
    }

    /// The current word, which is consumed; at the end of the text, `expected` says what is missing.
    fn take(&mut self, expected: &str) -> Result_<Token<'a>> {
        let Some(token) = self.token else {
            let at = self.text.trim_end().len();
            return Err(Failure { at, len: 0, message: format!("expected {expected}, found the end"), nearest: None });
        };
        self.advance()?;
        Ok(token)
    }

    /// Whether the current word starts a new instruction, or nothing is left.
    fn at_instruction(&self) -> bool {
        match (self.token, self.ahead) {
            (None, _) => true,
            (Some(token), ahead) => {
                is_op_name(token.text) || (token.text.starts_with('%') && ahead.is_some_and(|a| a.text == "="))
            }
        }
    }

    /// Whether the instruction that is being read, complete so far, ends here.
    fn at_end(&self) -> bool {
        self.at_instruction() || self.token.is_some_and(|t| t.starts_line && t.text.starts_with('!'))
    }

    fn instruction(&mut self) -> Result_<()> {
        let first = self.take("an instruction")?;
        if first.text.starts_with('!') {
            let word = immediate(first)?;
            self.words.push(word);
            return Ok(());
        }
        let (result, name) = if first.text.starts_with('%') {
            let equals = self.take("= after the result id")?;
            if equals.text != "=" {
                return Err(failure(equals, "expected = after the result id"));
            }
            (Some(first), self.take("an instruction after =")?)
        } else {
            (None, first)
        };
        let Some(instruction) = grammar::instruction_named(name.text) else {
            let mut failure = failure(name, &format!("expected an instruction, found {:?}", name.text));
            failure.nearest = nearest(name.text, INSTRUCTIONS.iter().map(|i| i.name)).map(str::to_owned);
            return Err(failure);
        };
        self.start = self.words.len();
        self.raw = false;
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
                return Err(failure(name, &format!("{} makes a result: expected %name = in front", name.text)));
            }
            (false, Some(id)) => return Err(failure(id, &format!("{} makes no result", name.text))),
        }
        self.operands(operands)?;
        if self.raw {
            self.raw_operands()?;
        }
        let length = self.words.len() - self.start;
        let Ok(count) = u16::try_from(length) else {
            return Err(failure(name, &format!("instruction of {length} words, at most 65535 can be")));
        };
        if !self.at_end() {
            self.extra_operand(instruction)?;
        }
        self.words[self.start] |= u32::from(count) << 16;
        if !self.raw {
            self.context.note(instruction, &self.words[self.start..]);
        }
        Ok(())
    }

    fn extra_operand(&mut self, instruction: &Instruction) -> Result_<()> {
        let extra = self.take("an instruction")?;
        let message = format!("{} takes no more operands, found {:?}", instruction.name, extra.text);
        Err(failure(extra, &message))
    }

    fn operands(&mut self, operands: &[Operand]) -> Result_<()> {
        for operand in operands {
            if self.raw {
                return Ok(());
            }
            match operand.quantifier {
                Quantifier::One => self.operand(operand.kind, operand.name)?,
                Quantifier::Optional if self.at_end() => {}
                Quantifier::Optional => self.operand(operand.kind, operand.name)?,
                Quantifier::Any => {
                    while !self.raw && !self.at_end() {
                        self.operand(operand.kind, operand.name)?;
                    }
                }
            }
        }
        // `!` on the same line is taken even where nothing more can stand: so raw words round trip.
        if self.token.is_some_and(|t| !t.starts_line && t.text.starts_with('!')) {
            self.raw = true;
        }
        Ok(())
    }

    /// After a raw word: ids, numbers and strings by their looks, up to the end of the instruction.
    fn raw_operands(&mut self) -> Result_<()> {
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

    fn operand(&mut self, kind: Kind, name: &str) -> Result_<()> {
        let expected =
            || if name.is_empty() { kind.info().name.to_owned() } else { format!("{} ({name})", kind.info().name) };
        if self.at_instruction() {
            let message = format!("expected {}, found the next instruction", expected());
            return match self.token {
                Some(token) => Err(failure(token, &message)),
                None => self.take(&expected()).map(|_| ()),
            };
        }
        if let Category::Composite(bases) = kind.info().category
            && kind != Kind::PairLiteralIntegerIdRef
        {
            for &base in bases {
                if !self.raw {
                    self.operand(base, name)?;
                }
            }
            return Ok(());
        }
        let token = self.take(&expected())?;
        if token.text.starts_with('!') {
            let word = immediate(token)?;
            self.words.push(word);
            self.raw = true;
            return Ok(());
        }
        match kind {
            Kind::PairLiteralIntegerIdRef => {
                let selector = self.words.get(self.start + 1).copied().unwrap_or(0);
                let Some(number) = self.context.number_of_value(selector) else {
                    return Err(failure(
                        token,
                        "the selector is no integer that was declared before: its literals cannot be read",
                    ));
                };
                self.number(token, number)?;
                self.operand(Kind::IdRef, name)
            }
            Kind::LiteralContextDependentNumber => {
                let ty = self.words.get(self.start + 1).copied().unwrap_or(0);
                let Some(number) = self.context.number(ty) else {
                    return Err(failure(
                        token,
                        "the result type is no number type that was declared before: its literals cannot be read",
                    ));
                };
                self.number(token, number)
            }
            Kind::LiteralInteger => self.number(token, NumberType::U32),
            Kind::LiteralFloat => match NumberType::float(32, None) {
                Some(number) => self.number(token, number),
                None => Err(failure(token, "expected a number")),
            },
            Kind::LiteralString => self.string(token),
            Kind::LiteralExtInstInteger => self.extended(token),
            Kind::LiteralSpecConstantOpInteger => self.spec_constant_op(token),
            _ => match kind.info().category {
                Category::Id => {
                    self.id(token)?;
                    if kind == Kind::IdRef {
                        let id = self.words[self.words.len() - 1];
                        self.set = self.context.set(id).unwrap_or(self.set);
                    }
                    Ok(())
                }
                Category::Value(_) => match kind.enumerant_named(token.text) {
                    Some(enumerant) => {
                        self.words.push(enumerant.value);
                        self.operands(enumerant.parameters)
                    }
                    None => Err(unknown_enumerant(token, token.text, kind)),
                },
                Category::Mask(rows) => {
                    let mut mask = 0;
                    for part in token.text.split('|') {
                        match kind.enumerant_named(part) {
                            Some(enumerant) => mask |= enumerant.value,
                            // Not every mask has a name for no bits.
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
                Category::Literal | Category::Composite(_) => self.number(token, NumberType::U32),
            },
        }
    }

    fn extended(&mut self, token: Token<'a>) -> Result_<()> {
        if self.set == ExtendedSet::Unknown {
            self.number(token, NumberType::U32)?;
            while !self.raw && !self.at_end() {
                self.operand(Kind::IdRef, "")?;
            }
            return Ok(());
        }
        let Some(extended) = self.set.instruction_named(token.text) else {
            let mut failure = failure(token, &format!("expected an extended instruction, found {:?}", token.text));
            failure.nearest = nearest(token.text, self.set.instructions().iter().map(|i| i.name)).map(str::to_owned);
            return Err(failure);
        };
        self.words.push(extended.number);
        self.operands(extended.operands)?;
        if !self.raw && !self.at_end() {
            let extra = self.take("an instruction")?;
            return Err(failure(extra, &format!("{} takes no more operands, found {:?}", extended.name, extra.text)));
        }
        Ok(())
    }

    fn spec_constant_op(&mut self, token: Token<'a>) -> Result_<()> {
        let inner = grammar::instruction_named(&format!("Op{}", token.text)).filter(|i| in_spec_constant(i));
        let Some(inner) = inner else {
            let known = INSTRUCTIONS.iter().filter(|i| in_spec_constant(i)).map(|i| &i.name[2..]);
            let mut failure = failure(token, &format!("expected an operation on constants, found {:?}", token.text));
            failure.nearest = nearest(token.text, known).map(str::to_owned);
            return Err(failure);
        };
        self.words.push(inner.op as u32);
        self.operands(&inner.operands[2..])
    }

    fn id(&mut self, token: Token<'a>) -> Result_<()> {
        let name = token.text.strip_prefix('%').filter(|n| !n.is_empty() && n.bytes().all(is_id_byte));
        let Some(name) = name else {
            return Err(failure(
                token,
                &format!("expected an id (% and letters, digits or _), found {:?}", token.text),
            ));
        };
        let next = self.names.len() as u32;
        let index = *self.ids.entry(name).or_insert(next);
        if index == next {
            self.names.push(token);
        }
        self.id_places.push(self.words.len() as u32);
        self.words.push(index);
        Ok(())
    }

    fn number(&mut self, token: Token<'a>, number: NumberType) -> Result_<()> {
        let bits = number.parse(token.text).map_err(|message| failure(token, &message))?;
        self.words.push(bits as u32);
        if number.words() == 2 {
            self.words.push((bits >> 32) as u32);
        }
        Ok(())
    }

    fn string(&mut self, token: Token<'a>) -> Result_<()> {
        let inner = token.text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).filter(|_| token.text.len() >= 2);
        let Some(inner) = inner else {
            return Err(failure(token, &format!("expected a string in quotes, found {:?}", token.text)));
        };
        let mut bytes = Vec::with_capacity(inner.len());
        let mut escaped = false;
        for byte in inner.bytes() {
            match byte {
                0 => return Err(failure(token, "a string cannot hold a zero byte")),
                b'\\' if !escaped => escaped = true,
                b'"' if !escaped => return Err(failure(token, "expected a blank after the closing quote")),
                _ => {
                    bytes.push(byte);
                    escaped = false;
                }
            }
        }
        words::push_string(&bytes, &mut self.words);
        Ok(())
    }

    /// Gives every id its number and writes the header.
    fn finish(mut self) -> Result_<(Vec<u32>, Spans)> {
        let number = |token: &Token| token.text[1..].parse::<u32>().ok().filter(|_| !token.text.starts_with("%0"));
        let mut numbers: Vec<u32> = self.names.iter().map(|token| number(token).unwrap_or(0)).collect();
        if let Some(i) = numbers.iter().position(|n| *n > MAX_ID) {
            return Err(failure(self.names[i], &format!("ids go up to {MAX_ID}")));
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
            return Err(failure(self.names[i], &format!("ids go up to {MAX_ID}")));
        }
        for &place in &self.id_places {
            let word = &mut self.words[place as usize];
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

/// What the comment lines at the start of a disassembly say.
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
        let comments = text.lines().map_while(|line| line.trim_start().strip_prefix(';'));
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

/// `1.3`, or the word itself in hexadecimal where it names no version.
fn version(text: &str) -> Option<u32> {
    if let Some(word) = text.strip_prefix("0x") {
        return u32::from_str_radix(word, 16).ok();
    }
    let (major, minor) = text.split_once('.')?;
    Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? }.word())
}

/// `Name; 3` or `Unknown(17); 3`: only numbers are known here, so that a name alone gives 0.
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

fn failure(token: Token, message: &str) -> Failure {
    Failure { at: token.at, len: token.text.len(), message: message.to_owned(), nearest: None }
}

fn unknown_enumerant(token: Token, name: &str, kind: Kind) -> Failure {
    let mut failure = failure(token, &format!("expected {}, found {name:?}", kind.info().name));
    failure.nearest = nearest(name, kind.enumerants().iter().map(|e| e.name)).map(str::to_owned);
    failure
}

/// `!123` or `!0x7b`.
fn immediate(token: Token) -> Result_<u32> {
    let digits = token.text.strip_prefix('!').unwrap_or_default();
    let word = NumberType::U32
        .parse(digits)
        .map_err(|_| failure(token, &format!("expected ! and a word, found {:?}", token.text)))?;
    Ok(word as u32)
}
