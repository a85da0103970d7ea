//! Parser of VkScript.

use super::data_type::{self, DataType, LayoutRules};
use super::embedded_shader::{EmbeddedShader, ShaderForm};
use super::lexer::{Lexer, Word};
use super::{ScriptError, new_sequence};
use crate::sequence::{
    Action, Comparator, DataLayout, MAX_MEMORY, MemoryBinding, Sequence, SequenceDispatch, SequencePush, Step,
    Tolerance,
};
use crate::{CompileOptions, ImageConfig};
use assay_oracle::{Robustness, Slot};
use std::collections::BTreeMap;

/// Name of the memory with the push constants.
const PUSH: &str = "push constants";

/// A section of a script.
struct Section<'a> {
    name: &'a str,
    /// Line of its name.
    line: usize,
    text: &'a str,
}

/// Parser of the section `[test]`.
struct Parser<'a> {
    lexer: Lexer<'a>,
    compile: &'a CompileOptions,
    shader: Option<EmbeddedShader>,
    sequence: Sequence,
    /// Index of the memory at each binding.
    memories: BTreeMap<Slot, usize>,
    push: Option<usize>,
    entry: String,
    /// Index of the compiled shader, by entry point.
    compiled: BTreeMap<String, usize>,
    tolerances: Vec<Tolerance>,
}

/// Parses a script.
///
/// # Errors
/// As [`super::parse`].
pub(super) fn parse(name: &str, text: &str, compile: &CompileOptions) -> Result<Sequence, ScriptError> {
    let sections = sections(text)?;
    let mut sequence = new_sequence(name);
    let (mut shader, mut tests) = (None, Vec::new());
    for Section { name, line, text } in sections {
        let form = match name {
            "require" => {
                require(text, &mut sequence);
                continue;
            }
            "test" => {
                tests.push((text, line));
                continue;
            }
            "comment" => continue,
            "compute shader" => ShaderForm::Glsl,
            "compute shader spirv" => ShaderForm::SpirvText,
            "compute shader spirv hex" => ShaderForm::SpirvHex,
            other => {
                let what = format!("it is not a compute script: it has the section [{other}]");
                return Err(ScriptError { line, what });
            }
        };
        let contents = text.as_bytes().to_vec();
        let name = "compute".to_owned();
        shader = Some(EmbeddedShader { name, form, contents, target_env: None, line: line + 1 });
    }
    let mut parser = Parser {
        lexer: Lexer::new("", 1),
        compile,
        shader,
        sequence,
        memories: BTreeMap::new(),
        push: None,
        entry: "main".to_owned(),
        compiled: BTreeMap::new(),
        tolerances: Vec::new(),
    };
    for (text, line) in tests {
        parser.lexer = Lexer::new(text, line + 1);
        while let Some(command) = parser.lexer.next_word() {
            parser.command(&command)?;
        }
    }
    parser.bind();
    Ok(parser.sequence)
}

/// Splits a script at the lines `[name]`.
fn sections(text: &str) -> Result<Vec<Section<'_>>, ScriptError> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let start = at;
        at += line.len();
        let trimmed = line.trim();
        if line.starts_with('[') {
            let name = trimmed.strip_prefix('[').and_then(|name| name.split_once(']')).map(|(name, _)| name);
            let name = name.ok_or_else(|| ScriptError { line: index + 1, what: "`]` is missing".to_owned() })?;
            sections.push(Section { name, line: index + 1, text: &text[at..at] });
        } else if let Some(section) = sections.last_mut() {
            let from = start - section.text.len();
            section.text = &text[from..at];
        } else if !trimmed.is_empty() && !trimmed.starts_with('#') {
            let what = "expected a section, such as [compute shader]; an AmberScript begins with #!amber".to_owned();
            return Err(ScriptError { line: index + 1, what });
        }
    }
    Ok(sections)
}

/// Applies the requirements of a script.
fn require(text: &str, sequence: &mut Sequence) {
    if text.lines().any(|line| line.trim() == "robustBufferAccess") {
        sequence.robustness = Robustness::Access;
    }
}

impl Parser<'_> {
    fn command(&mut self, command: &Word) -> Result<(), ScriptError> {
        match command.text.as_str() {
            "compute" if self.lexer.takes("entrypoint") => {
                self.entry = self.lexer.expect("the name of the entry point")?.text;
                self.lexer.end_line()
            }
            "compute" => self.compute(command.line),
            "ssbo" => self.buffer(command.line, LayoutRules::Std430),
            "uniform" if self.lexer.takes("ubo") => self.buffer(command.line, LayoutRules::Std140),
            "uniform" => self.push_constants(command.line),
            "probe" => self.probe(command.line),
            "tolerance" => self.tolerance(),
            other => {
                let what = format!("`{other}` is not a command of a compute script");
                Err(ScriptError { line: command.line, what })
            }
        }
    }

    /// `compute x y z`
    fn compute(&mut self, line: usize) -> Result<(), ScriptError> {
        let mut workgroups = [0u32; 3];
        for count in &mut workgroups {
            *count = self.lexer.number("the number of workgroups")?;
            if *count == 0 {
                return Err(self.lexer.error("the number of workgroups is 0"));
            }
        }
        self.lexer.end_line()?;
        let shader = match self.compiled.get(&self.entry) {
            Some(shader) => *shader,
            None => {
                let shader =
                    self.shader.as_ref().ok_or_else(|| self.lexer.error("the script has no compute shader"))?;
                self.sequence.shaders.push(shader.compile(&self.sequence.name, Some(&self.entry), self.compile)?);
                self.compiled.insert(self.entry.clone(), self.sequence.shaders.len() - 1);
                self.sequence.shaders.len() - 1
            }
        };
        let entry = Some(self.entry.clone());
        let dispatch = SequenceDispatch { shader, entry, workgroups, ..SequenceDispatch::default() };
        let [x, y, z] = workgroups;
        let action = Action::Dispatch(Box::new(dispatch));
        self.sequence.add_step(Step { line, text: format!("compute {x} {y} {z}"), action })
    }

    /// Binds all memories to all dispatches.
    fn bind(&mut self) {
        let (memories, push) = (&self.memories, self.push);
        for step in &mut self.sequence.steps {
            let Action::Dispatch(dispatch) = &mut step.action else { continue };
            dispatch.push = push.map(SequencePush::Memory);
            let bindings = memories.iter().map(|(slot, memory)| MemoryBinding {
                place: (*slot).into(),
                memory: *memory,
                offset: 0,
                range: None,
            });
            dispatch.bindings = bindings.collect();
        }
    }

    /// `binding` or `set:binding`
    fn slot(&mut self) -> Result<Slot, ScriptError> {
        let word = self.lexer.expect("a binding")?;
        let slot = match word.text.split_once(':') {
            Some((set, binding)) => {
                set.parse().ok().zip(binding.parse().ok()).map(|(set, binding)| Slot::new(set, binding))
            }
            None => word.text.parse().ok().map(|binding| Slot::new(0, binding)),
        };
        slot.ok_or_else(|| self.lexer.error(format!("`{}` is not a binding", word.text)))
    }

    /// Returns a type and its layout.
    fn data_type(&mut self, rules: LayoutRules) -> Result<(DataType, DataLayout), ScriptError> {
        let word = self.lexer.expect("a type")?;
        let ty = DataType::parse_vkscript(&word.text);
        let ty = ty.ok_or_else(|| self.lexer.error(format!("unknown type `{}`", word.text)))?;
        let layout = ty.layout(rules).map_err(|what| self.lexer.error(what))?;
        Ok((ty, layout))
    }

    fn values(&mut self) -> Vec<(String, usize)> {
        std::iter::from_fn(|| self.lexer.word()).map(|word| (word.text, word.line)).collect()
    }

    /// Returns the memory at a binding, with at least this size.
    fn memory(
        &mut self,
        line: usize,
        slot: Slot,
        (ty, rules): (&DataType, LayoutRules),
        size: u64,
    ) -> Result<usize, ScriptError> {
        let memory = match self.memories.get(&slot) {
            Some(memory) => *memory,
            None => {
                let name = format!("{}:{}", slot.set, slot.binding);
                let memory =
                    self.sequence.add_memory(line, (&name, Vec::new()), (ty, rules), ImageConfig::default())?;
                self.memories.insert(slot, memory);
                memory
            }
        };
        self.grow(line, memory, size)?;
        Ok(memory)
    }

    fn grow(&mut self, line: usize, memory: usize, size: u64) -> Result<(), ScriptError> {
        let total: u64 = self.sequence.memories.iter().map(|memory| memory.bytes.len() as u64).sum();
        let bytes = &mut self.sequence.memories[memory].bytes;
        let more = size.saturating_sub(bytes.len() as u64);
        if total.saturating_add(more) > MAX_MEMORY {
            let what = format!("the buffers have more than {MAX_MEMORY} bytes together");
            return Err(ScriptError { line, what });
        }
        bytes.resize(bytes.len() + more as usize, 0);
        Ok(())
    }

    /// `ssbo binding size`, `ssbo binding subdata type offset values..`, `uniform ubo binding type
    /// offset values..`
    fn buffer(&mut self, line: usize, rules: LayoutRules) -> Result<(), ScriptError> {
        let slot = self.slot()?;
        if rules == LayoutRules::Std430 && !self.lexer.takes("subdata") {
            let size: u64 = self.lexer.number("the size")?;
            self.lexer.end_line()?;
            let byte = DataType::Vector { scalar: assay_precision::Scalar::Int { width: 8, signed: false }, count: 1 };
            return self.memory(line, slot, (&byte, rules), size).map(drop);
        }
        let (ty, layout) = self.data_type(rules)?;
        let offset: u64 = self.lexer.number("the offset")?;
        let values = self.values();
        let bytes = data_type::bytes_of(&layout, &values)?;
        let memory = self.memory(line, slot, (&ty, rules), offset.saturating_add(bytes.len() as u64))?;
        self.sequence.memories[memory].layout = layout;
        self.write(line, memory, offset, bytes)
    }

    /// `uniform type offset values..`
    fn push_constants(&mut self, line: usize) -> Result<(), ScriptError> {
        let (ty, layout) = self.data_type(LayoutRules::Std430)?;
        let offset: u64 = self.lexer.number("the offset")?;
        let values = self.values();
        let bytes = data_type::bytes_of(&layout, &values)?;
        let memory = match self.push {
            Some(memory) => memory,
            None => {
                let of = (&ty, LayoutRules::Std430);
                self.sequence.add_memory(line, (PUSH, Vec::new()), of, ImageConfig::default())?
            }
        };
        self.push = Some(memory);
        self.grow(line, memory, offset.saturating_add(bytes.len() as u64))?;
        self.write(line, memory, offset, bytes)
    }

    fn write(&mut self, line: usize, to: usize, offset: u64, bytes: Vec<u8>) -> Result<(), ScriptError> {
        if bytes.is_empty() {
            return Err(ScriptError { line, what: "the values are missing".to_owned() });
        }
        let text = format!("writing {}", self.sequence.memories[to].name);
        self.sequence.add_step(Step { line, text, action: Action::Write { to, offset, bytes } })
    }

    /// `probe ssbo type binding offset comparison values..`
    fn probe(&mut self, line: usize) -> Result<(), ScriptError> {
        if !self.lexer.takes("ssbo") {
            return Err(self.lexer.error("it is not a compute script: it probes a framebuffer"));
        }
        let (ty, layout) = self.data_type(LayoutRules::Std430)?;
        let slot = self.slot()?;
        let offset: u64 = self.lexer.number("the offset")?;
        let word = self.lexer.expect("a comparison")?;
        let (comparator, fuzzy) = match word.text.as_str() {
            "==" => (Comparator::Equal, false),
            "~=" => (Comparator::Equal, true),
            "!=" => (Comparator::NotEqual, false),
            "<" => (Comparator::Less, false),
            "<=" => (Comparator::LessOrEqual, false),
            ">" => (Comparator::Greater, false),
            ">=" => (Comparator::GreaterOrEqual, false),
            other => return Err(self.lexer.error(format!("unknown comparison `{other}`"))),
        };
        let values = self.values();
        if values.is_empty() || !offset.is_multiple_of(layout.stride) {
            let stride = layout.stride;
            return Err(self
                .lexer
                .error(format!("a probe needs values, and an offset that is a multiple of {stride}")));
        }
        let tolerances: &[Tolerance] = if fuzzy { &self.tolerances } else { &[] };
        let elements = data_type::conditions(&layout, offset, comparator, &values, tolerances)?;
        let memory = self.memory(line, slot, (&ty, LayoutRules::Std430), 0)?;
        let size = self.sequence.memories[memory].bytes.len() as u64;
        if elements.iter().any(|element| element.offset + u64::from(element.scalar.width() / 8) > size) {
            return Err(self.lexer.error(format!("the values go beyond the {size} bytes of the buffer")));
        }
        let text = format!("probe {} {offset} {}", self.sequence.memories[memory].name, word.text);
        self.sequence.add_step(Step { line, text, action: Action::Expect { memory, elements } })
    }

    /// `tolerance number[%] [number[%] number[%] number[%]]`
    fn tolerance(&mut self) -> Result<(), ScriptError> {
        self.tolerances.clear();
        while let Some(word) = self.lexer.word() {
            if word.text == "," {
                continue;
            }
            let tolerance: Tolerance = word.text.parse().map_err(|what: String| self.lexer.error(what))?;
            self.tolerances.push(match tolerance {
                Tolerance::Absolute(number) if self.lexer.takes("%") => Tolerance::Relative(number / 100.0),
                other => other,
            });
        }
        match self.tolerances.len() {
            1 | 4 => Ok(()),
            _ => Err(self.lexer.error("expected one tolerance, or four")),
        }
    }
}
