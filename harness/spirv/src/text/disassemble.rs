//! Disassembler: writes a module's words as text.

use std::fmt::Write;

use crate::decode::{self, Context, DecodedOperand, GrammarViolation};
use crate::grammar::{self, ExtendedSet, Instruction, Kind, Op, OperandEncoding};
use crate::words::{self, Header, Instructions, WordsError};

/// Layout of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Instructions in one column, with results to the left of it, as spirv-dis writes them.
    #[default]
    Indented,
    /// Every line starts at the margin.
    Plain,
}

/// Column of the instructions.
const COLUMN: usize = 15;

/// Returns the text of a module's words, which are in host byte order, with the header as a leading
/// comment.
///
/// [`assemble`](crate::assemble) turns the text back into the same words. Words that the grammar
/// does not define are written as raw words (`!0x1234`), with a comment that gives the reason.
pub fn disassemble(module: &[u32], style: Style) -> Result<String, WordsError> {
    let (header, _) = words::split_header(module)?;
    let mut text = String::with_capacity(module.len() * 10);
    write_header(&header, &mut text);
    let mut context = Context::new(module.len());
    let mut operands = Vec::new();
    for instruction in Instructions::new(module) {
        let (_, words) = instruction?;
        line(words, &mut context, &mut operands, style, &mut text);
        text.push('\n');
    }
    Ok(text)
}

/// Returns the instruction with an index as a line of the disassembly; `None` if there is none.
pub fn disassemble_instruction(module: &[u32], index: usize) -> Option<String> {
    let mut text = String::new();
    let mut context = Context::new(module.len());
    let mut operands = Vec::new();
    // Earlier instructions define the types of literals.
    for instruction in Instructions::new(module).take(index + 1) {
        let (_, words) = instruction.ok()?;
        text.clear();
        line(words, &mut context, &mut operands, Style::Plain, &mut text);
    }
    Some(text)
}

fn write_header(header: &Header, text: &mut String) {
    let version = header.spirv_version().map_or_else(|| format!("{:#010x}", header.version), |v| v.to_string());
    let (tool, tool_version) = (header.generator >> 16, header.generator & 0xffff);
    write!(
        text,
        "; SPIR-V\n; Version: {version}\n; Generator: Unknown({tool}); {tool_version}\n; Bound: {}\n; Schema: {}\n",
        header.bound, header.schema
    )
    .expect("writing to a string");
}

fn line(words: &[u32], context: &mut Context, operands: &mut Vec<DecodedOperand>, style: Style, text: &mut String) {
    let opcode = words[0] as u16;
    let Some(instruction) = grammar::instruction(opcode) else {
        raw(words, text);
        write!(text, " ; unknown opcode {opcode}").expect("writing to a string");
        return;
    };
    operands.clear();
    let read = decode::operands(instruction, words, context, &mut |operand| operands.push(operand));
    let start = text.len();
    let written = write_instruction(instruction, words, context, operands, style, text);
    let anomaly = match (read, written) {
        (Ok(()), Ok(())) => {
            context.note(instruction, words);
            return;
        }
        // An instruction without its result cannot be written at all; one that lacks an operand
        // could not be read back.
        (Err(missing @ GrammarViolation::Missing { .. }), _) => {
            text.truncate(start);
            raw(words, text);
            missing
        }
        (read, written) => {
            // A literal whose words are not canonical ends the readable part, just as an unknown
            // operand does.
            let (end, anomaly) = match (read, written) {
                (_, Err(operand)) => (operand.at, GrammarViolation::Unreadable { at: operand.at, kind: operand.kind }),
                (
                    Err(anomaly @ (GrammarViolation::Unreadable { at, .. } | GrammarViolation::TooMany { at })),
                    Ok(()),
                ) => (at, anomaly),
                (Err(anomaly @ GrammarViolation::Missing { .. }), Ok(())) => (1, anomaly),
                (Ok(()), Ok(())) => return,
            };
            let result_words = usize::from(instruction.has_result_type()) + usize::from(instruction.has_result());
            if end <= result_words {
                text.truncate(start);
                raw(words, text);
            } else {
                text.push(' ');
                raw(&words[end..], text);
            }
            anomaly
        }
    };
    write!(text, " ; {}: {anomaly}", instruction.name).expect("writing to a string");
}

fn raw(words: &[u32], text: &mut String) {
    for (i, word) in words.iter().enumerate() {
        let blank = if i == 0 { "" } else { " " };
        write!(text, "{blank}!{word:#010x}").expect("writing to a string");
    }
}

/// Writes the decoded operands. The error is the first one whose literal cannot be written as text.
fn write_instruction(
    instruction: &Instruction,
    words: &[u32],
    context: &Context,
    operands: &[DecodedOperand],
    style: Style,
    text: &mut String,
) -> Result<(), DecodedOperand> {
    let result = operands.iter().find(|o| o.kind == Kind::IdResult);
    let start = text.len();
    if let Some(result) = result {
        write!(text, "%{} = ", words[result.at]).expect("writing to a string");
    }
    if style == Style::Indented {
        let indent = COLUMN.saturating_sub(text.len() - start);
        text.insert_str(start, &" ".repeat(indent)[..]);
    }
    text.push_str(instruction.name);
    let mut set = ExtendedSet::Unknown;
    for operand in operands.iter().filter(|o| o.kind != Kind::IdResult) {
        let end = text.len();
        text.push(' ');
        let word = words[operand.at];
        if operand.kind == Kind::IdRef {
            set = context.set(word).unwrap_or(set);
        }
        if !write_operand(instruction, operand, &words[operand.at..operand.at + operand.len], set, text) {
            text.truncate(end);
            return Err(*operand);
        }
    }
    Ok(())
}

fn write_operand(
    instruction: &Instruction,
    operand: &DecodedOperand,
    words: &[u32],
    set: ExtendedSet,
    text: &mut String,
) -> bool {
    if let Some(number) = operand.number {
        let bits = words.iter().rev().fold(0u64, |bits, word| bits << 32 | u64::from(*word));
        return number.write(bits, text);
    }
    let word = words[0];
    match operand.kind {
        Kind::LiteralString => {
            let Some((string, _)) = words::string(words) else { return false };
            text.push('"');
            for c in string.chars() {
                if matches!(c, '"' | '\\') {
                    text.push('\\');
                }
                text.push(c);
            }
            text.push('"');
            true
        }
        Kind::LiteralExtInstInteger => {
            let Some(extended) = set.instruction(word) else { return false };
            text.push_str(extended.name);
            true
        }
        Kind::LiteralSpecConstantOpInteger => {
            let Some(inner) = u16::try_from(word).ok().and_then(grammar::instruction) else { return false };
            debug_assert_eq!(instruction.op, Op::SpecConstantOp);
            text.push_str(&inner.name[2..]);
            true
        }
        kind => match kind.info().encoding {
            OperandEncoding::Id => write!(text, "%{word}").is_ok(),
            OperandEncoding::Value(_) => kind.enumerant(word).map(|e| text.push_str(e.name)).is_some(),
            OperandEncoding::Mask(_) => {
                write_mask(kind, word, text);
                true
            }
            OperandEncoding::Literal | OperandEncoding::Composite(_) => write!(text, "{word}").is_ok(),
        },
    }
}

fn write_mask(kind: Kind, mask: u32, text: &mut String) {
    let rows = kind.enumerants();
    if mask == 0 {
        text.push_str(rows.iter().find(|row| row.value == 0).map_or("None", |row| row.name));
        return;
    }
    let mut first = true;
    for row in rows.iter().filter(|row| row.value != 0 && mask & row.value == row.value) {
        if !first {
            text.push('|');
        }
        first = false;
        text.push_str(row.name);
    }
}
