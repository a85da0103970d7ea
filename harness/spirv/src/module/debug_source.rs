//! Source lines that a compiler recorded: `OpLine` with the text of `OpSource`, or `DebugLine` with
//! the text of `DebugSource` (`NonSemantic.Shader.DebugInfo.100`).

use super::{Instruction, InstructionIndex, Module, Section};
use crate::tables::Op;
use crate::words;

/// Name of the extended instruction set with `DebugLine`.
pub(super) const SHADER_DEBUG_INFO: &str = "NonSemantic.Shader.DebugInfo.100";

/// Numbers of its instructions.
const DEBUG_SOURCE: u32 = 35;
const DEBUG_LINE: u32 = 103;
const DEBUG_NO_LINE: u32 = 104;

/// Position in source text, as a module records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// Raw id of the source: an `OpString` with the name of the file, or a `DebugSource`.
    source: u32,
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1; 0 if the compiler does not record columns.
    pub column: u32,
}

impl Module {
    /// Returns true if an instruction begins or ends the range of a source line.
    pub(super) fn is_line_marker(&self, op: Op, instruction: &[u32]) -> bool {
        match (op, instruction) {
            (Op::Line | Op::NoLine, _) => true,
            (Op::ExtInst, [_, _, _, set, number, ..]) => {
                self.debug_info == Some(*set) && matches!(*number, DEBUG_LINE | DEBUG_NO_LINE)
            }
            _ => false,
        }
    }

    /// Returns the source line of an instruction.
    pub fn line(&self, index: InstructionIndex) -> Option<SourceLine> {
        let after = self.lines.partition_point(|line| *line <= index);
        self.line_begun_by(self.instruction(*self.lines.get(after.checked_sub(1)?)?))
    }

    /// Returns the source line whose range an instruction begins.
    pub(super) fn line_begun_by(&self, marker: Instruction<'_>) -> Option<SourceLine> {
        match (marker.op?, marker.words) {
            (Op::Line, [_, source, line, column]) => Some(SourceLine { source: *source, line: *line, column: *column }),
            (Op::ExtInst, [_, _, _, set, DEBUG_LINE, source, line, _, column, ..]) if self.debug_info == Some(*set) => {
                let number = |id: u32| u32::try_from(self.constant_int(id)?).ok();
                Some(SourceLine { source: *source, line: number(*line)?, column: number(*column)? })
            }
            _ => None,
        }
    }

    /// Returns the name of the file of a source line.
    pub fn source_file(&self, line: SourceLine) -> Option<String> {
        let source = self.definition_of(line.source)?;
        match self.debug_source(source) {
            Some([file, ..]) => self.string_of(*file),
            _ => self.string_of(line.source),
        }
    }

    /// Returns the text of the file of a source line, if the module contains it.
    pub fn source_text(&self, line: SourceLine) -> Option<String> {
        let source = self.definition_of(line.source)?;
        match self.debug_source(source) {
            Some([_, text, ..]) => self.string_of(*text),
            Some(_) => None,
            None => self.op_source_text(line.source),
        }
    }

    /// Returns the operands of a `DebugSource`: file, and text if there is one.
    fn debug_source<'a>(&self, source: Instruction<'a>) -> Option<&'a [u32]> {
        match (source.op?, source.words) {
            (Op::ExtInst, [_, _, _, set, DEBUG_SOURCE, operands @ ..]) if self.debug_info == Some(*set) => {
                Some(operands)
            }
            _ => None,
        }
    }

    /// Returns the text of the `OpSource` of a file and of the `OpSourceContinued` that follow it.
    /// Bytes that are not UTF-8 become replacement characters.
    fn op_source_text(&self, file: u32) -> Option<String> {
        let mut sources = self.section(Section::Sources);
        let first = sources.find_map(|source| match (source.op?, source.words) {
            (Op::Source, [_, _, _, of, text @ ..]) if *of == file && !text.is_empty() => {
                Some(words::debug_string(text))
            }
            _ => None,
        });
        let (mut text, _) = first?;
        for next in sources.take_while(|next| next.op == Some(Op::SourceContinued)) {
            text.extend(words::debug_string(next.words.get(1..)?).0);
        }
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    /// Returns the text of an `OpString`.
    fn string_of(&self, id: u32) -> Option<String> {
        match self.definition_of(id)? {
            Instruction { op: Some(Op::String), words: [_, _, text @ ..], .. } => {
                Some(String::from_utf8_lossy(&words::debug_string(text).0).into_owned())
            }
            _ => None,
        }
    }
}
