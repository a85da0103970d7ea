//! Report on one file: declarations, device requirements, and violations with their positions.

use std::fmt::Write;

use serde::Serialize;

use crate::requirements::{DeviceCaps, Requirements};
use crate::rules::{self, Environment, Severity, Violation};
use assay_spirv::grammar::{VERSIONS, Version};
use assay_spirv::module::{InstructionIndex, Module, ModuleError, Section};
use assay_spirv::reflect::Reflection;
use assay_spirv::tables::Capability;
use assay_spirv::{
    AssembleError, MAGIC, Spans, Style, TargetEnv, WordsError, assemble_with_spans, begins_with_magic, disassemble,
    disassemble_instruction, line_and_column, states_version, words_from_bytes,
};

/// Schema version of a [`Report`] as JSON.
pub const SCHEMA: u32 = 1;

/// Number of violations in a binary module whose instructions are disassembled; each costs a pass over
/// the module.
const DISASSEMBLED: u32 = 64;

/// A module, with the text that it was assembled from, if any.
#[derive(Debug)]
pub struct ModuleSource {
    /// The module.
    pub module: Module,
    text: Option<(String, Spans)>,
}

/// A reason why a file is neither a module nor the text of one.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// The file is text that does not assemble.
    #[error(transparent)]
    Text(#[from] AssembleError),
    /// The file is text whose words do not form a module.
    #[error("line {line}, column {column}: {error}")]
    TextModule {
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1.
        column: usize,
        /// The error in the words.
        error: ModuleError,
    },
    /// The file is binary, but not a module.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The bytes of the file cannot be converted to words.
    #[error(transparent)]
    Words(#[from] WordsError),
    /// The file is empty.
    #[error("the file is empty: expected binary SPIR-V or its text")]
    Empty,
    /// The file is binary, and does not start with the magic number.
    #[error(
        "the file starts with {found:#010x}, not with the magic number {MAGIC:#010x}: expected binary SPIR-V or its text"
    )]
    Magic {
        /// The first word, read as little-endian.
        found: u32,
    },
    /// A target environment is given for binary input, which declares its version itself.
    #[error("a binary module declares its own version of SPIR-V; a target environment applies to text only")]
    TargetOfWords,
    /// The file is not UTF-8, and does not start with the magic number.
    #[error(
        "byte {at} is not UTF-8, and the file does not start with the magic number 0x07230203: expected binary SPIR-V or its text"
    )]
    Neither {
        /// Offset of the first byte that is not UTF-8.
        at: usize,
    },
}

impl ModuleSource {
    /// Reads a file's bytes: as words if they start with the magic number in either byte order,
    /// otherwise as text.
    ///
    /// # Errors
    /// The bytes are neither a module nor the text of one.
    pub fn read(bytes: &[u8]) -> Result<ModuleSource, InspectError> {
        ModuleSource::read_for(bytes, None)
    }

    /// Reads a file's bytes. Text is assembled for the target environment, which overrides a
    /// version in its first comment. Without both, the version is the newest one; if the module
    /// breaks fewer rules in others, the lowest of those in which it breaks the fewest.
    ///
    /// # Errors
    /// As [`ModuleSource::read`]; also if `target` is given for words, which declare their version.
    pub fn read_for(bytes: &[u8], target: Option<TargetEnv>) -> Result<ModuleSource, InspectError> {
        if begins_with_magic(bytes) {
            if target.is_some() {
                return Err(InspectError::TargetOfWords);
            }
            let module = Module::parse(words_from_bytes(bytes)?)?;
            return Ok(ModuleSource { module, text: None });
        }
        if bytes.is_empty() {
            return Err(InspectError::Empty);
        }
        match (std::str::from_utf8(bytes), bytes) {
            // Text does not contain NUL characters.
            (Ok(text), &[a, b, c, d, ..]) if text.contains('\0') => {
                Err(InspectError::Magic { found: u32::from_le_bytes([a, b, c, d]) })
            }
            (Ok(text), _) => ModuleSource::from_text_for(text, target),
            (Err(error), _) => Err(InspectError::Neither { at: error.valid_up_to() }),
        }
    }

    /// Reads text.
    ///
    /// # Errors
    /// The text does not assemble, or its words do not form a module.
    pub fn from_text(text: &str) -> Result<ModuleSource, InspectError> {
        ModuleSource::from_text_for(text, None)
    }

    fn from_text_for(text: &str, target: Option<TargetEnv>) -> Result<ModuleSource, InspectError> {
        let (mut words, spans) = assemble_with_spans(text)?;
        let version = match target {
            Some(target) => Some(target.version()),
            None if states_version(text) => None,
            None => best_version(&words),
        };
        if let (Some(version), Some(word)) = (version, words.get_mut(1)) {
            *word = version.word();
        }
        match Module::parse(words) {
            Ok(module) => Ok(ModuleSource { module, text: Some((text.to_owned(), spans)) }),
            Err(error) => {
                let at = spans.of(error.at).map_or(text.len(), |span| span.start);
                let (line, column) = line_and_column(text, at);
                Err(InspectError::TextModule { line, column, error })
            }
        }
    }

    /// Reads words, such as a compiler's output.
    ///
    /// # Errors
    /// The words do not form a module.
    pub fn from_words(words: Vec<u32>) -> Result<ModuleSource, InspectError> {
        Ok(ModuleSource { module: Module::parse(words)?, text: None })
    }

    /// Returns the module as text.
    pub fn disassemble(&self) -> Result<String, WordsError> {
        disassemble(self.module.words(), Style::Indented)
    }

    /// Returns the position of the instruction whose first word is word `at` of the module: in the
    /// text that was assembled, or in the source text that the module's debug information records.
    pub fn position_of(&self, at: usize) -> SourcePosition {
        self.position_in_text(at).or_else(|| self.position_in_source(at)).unwrap_or_else(|| SourcePosition {
            word: at,
            file: None,
            line: None,
            column: None,
            text: self.instruction_name(at),
            whole_line: None,
        })
    }

    fn position_in_text(&self, at: usize) -> Option<SourcePosition> {
        let (text, spans) = self.text.as_ref()?;
        let span = spans.of(at)?;
        let (line, column) = line_and_column(text, span.start);
        let text = Some(text.get(span)?.to_owned());
        let (file, whole_line) = (None, None);
        Some(SourcePosition { word: at, file, line: Some(line), column: Some(column), text, whole_line })
    }

    /// Returns the position in the source text, with the rest of its line. For an instruction without a
    /// line it is that of the last one before it in its function: the rest of a statement with a branch.
    fn position_in_source(&self, at: usize) -> Option<SourcePosition> {
        let index = self.module.instruction_at(at)?.index;
        let start = self.module.function_at(index).map_or(index.0, |function| function.instructions.start);
        let source = (start..=index.0).rev().find_map(|index| self.module.line(InstructionIndex(index)))?;
        let (line, column) = (source.line as usize, (source.column > 0).then_some(source.column as usize));
        let whole_line =
            self.module.source_text(source).and_then(|text| Some(line_with_number(&text, line)?.to_owned()));
        let rest = |whole: &String| whole.chars().skip(column.map_or(0, |column| column - 1)).collect();
        let (file, text) = (self.module.source_file(source), whole_line.as_ref().map(rest));
        Some(SourcePosition { word: at, file, line: Some(line), column, text, whole_line })
    }

    /// Returns the instruction that contains a word as spirv-dis shows it.
    fn disassembled(&self, at: usize) -> Option<String> {
        disassemble_instruction(self.module.words(), self.module.instruction_at(at)?.index.0 as usize)
    }

    /// Returns the name of the instruction that starts at a word, for modules without text.
    fn instruction_name(&self, at: usize) -> Option<String> {
        let instruction = self.module.instruction_at(at)?;
        Some(instruction.op?.name().to_owned())
    }
}

/// Returns the line of a text with a number, which `#line` directives set, as those after lines that
/// a tool inserted.
fn line_with_number(text: &str, wanted: usize) -> Option<&str> {
    let directive = |line: &str| line.trim_start().strip_prefix("#line")?.trim().parse::<usize>().ok();
    let (mut number, mut found) = (1, None);
    for line in text.lines() {
        if let Some(next) = directive(line) {
            number = next;
            continue;
        }
        if number == wanted {
            found = Some(line);
        }
        number += 1;
    }
    found
}

/// Returns the version for words whose text states none: the newest, unless the module breaks fewer
/// rules in another one; then the lowest among those in which it breaks the fewest.
fn best_version(words: &[u32]) -> Option<Version> {
    let broken_rules = |version: &Version| {
        let mut words = words.to_vec();
        *words.get_mut(1)? = version.word();
        let module = Module::parse(words).ok()?;
        let violations = rules::violations(&module, Environment::of_module(&module));
        Some(violations.iter().filter(|violation| violation.is_error()).count())
    };
    if broken_rules(&Version::NEWEST)? == 0 {
        return Some(Version::NEWEST);
    }
    // The first of several minima counts.
    let versions = std::iter::once(Version::NEWEST).chain(VERSIONS);
    versions.min_by_key(|version| broken_rules(version).unwrap_or(usize::MAX))
}

/// Position of an instruction.
#[derive(Clone, Debug, Serialize)]
pub struct SourcePosition {
    /// Index of the instruction's first word in the module.
    pub word: usize,
    /// Source file, for positions from the module's debug information.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line in the text, counted from 1.
    pub line: Option<usize>,
    /// Column in the text, counted from 1.
    pub column: Option<usize>,
    /// The instruction in the text, or the rest of the line in the source. For binary modules without
    /// debug information, the disassembled instruction of a violation, and otherwise its name.
    pub text: Option<String>,
    /// The line of the source, for positions from the module's debug information.
    #[serde(skip)]
    pub whole_line: Option<String>,
}

/// An entry point.
#[derive(Clone, Debug, Serialize)]
pub struct EntryPointEntry {
    /// Its name.
    pub name: String,
    /// Its execution model.
    pub model: String,
    /// Its workgroup size, if it declares one.
    pub workgroup_size: Option<[u32; 3]>,
    /// Its resources, by set and binding.
    pub bindings: Vec<BindingEntry>,
}

/// A resource.
#[derive(Clone, Debug, Serialize)]
pub struct BindingEntry {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Type of descriptor.
    pub kind: String,
    /// The variable's debug name.
    pub name: Option<String>,
}

/// A device requirement of the module.
#[derive(Clone, Debug, Serialize)]
pub struct RequirementEntry {
    /// The part of the module that imposes it.
    pub because: String,
    /// The condition.
    pub needs: String,
    /// The rule that it follows from; `None` if it follows from a table.
    pub rule: Option<String>,
    /// The instruction that imposes it.
    pub place: SourcePosition,
}

/// A violation of a rule.
#[derive(Clone, Debug, Serialize)]
pub struct ViolationEntry {
    /// The rule's short name.
    pub name: String,
    /// Its name in the specification.
    pub rule: String,
    /// Text of the rule.
    pub says: String,
    /// Description of the violation.
    pub message: String,
    /// For a warning, the reason why the rule does not make the module illegal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The offending instruction.
    pub place: SourcePosition,
}

/// Complete report on a module.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The schema version, [`SCHEMA`].
    pub schema: u32,
    /// Version of SPIR-V.
    pub version: String,
    /// Tool that made the module, as its header says; absent if it names no registered one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generator: Option<String>,
    /// `vulkan`; or `other` for kernels, which only the rules of the extensions apply to.
    pub environment: String,
    /// Declared capabilities.
    pub capabilities: Vec<String>,
    /// Declared capabilities that Vulkan does not list.
    pub unlisted: Vec<String>,
    /// Declared extensions.
    pub extensions: Vec<String>,
    /// Entry points.
    pub entry_points: Vec<EntryPointEntry>,
    /// Specialisation constants: `SpecId` and debug name.
    pub spec_constants: Vec<(u32, Option<String>)>,
    /// Number of instructions with parts newer than the tables, which are not checked.
    pub unknown: u32,
    /// Device requirements.
    pub needs: Vec<RequirementEntry>,
    /// Violations of rules.
    pub violations: Vec<ViolationEntry>,
    /// Violations that do not make the module illegal.
    pub warnings: Vec<ViolationEntry>,
}

impl Report {
    /// Inspects a module.
    pub fn new(source: &ModuleSource) -> Report {
        let module = &source.module;
        let reflection = Reflection::new(module);
        let environment = Environment::of_module(module);
        let declared = |section| {
            let names = module.section(section).map(move |i| match section {
                Section::Extensions => module.string_at(i, 0),
                _ => i.operand(0).map_or_else(String::new, capability_name),
            });
            names.collect()
        };
        let entry_points = reflection.entry_points.iter().map(|entry| EntryPointEntry {
            name: entry.name.clone(),
            model: entry.model.map_or_else(|| "unknown".to_owned(), |m| m.to_string()),
            workgroup_size: entry.workgroup_size.map(|s| s.size),
            bindings: entry
                .bindings
                .iter()
                .map(|b| BindingEntry {
                    set: b.set,
                    binding: b.binding,
                    kind: b.kind.map_or_else(|| "unknown".to_owned(), |k| format!("{k:?}")),
                    name: b.name.clone(),
                })
                .collect(),
        });
        let needs = Requirements::of(module).items.into_iter().map(|item| RequirementEntry {
            needs: item.expression.to_string(),
            rule: item.rule.map(str::to_owned),
            place: source.position_of(item.at),
            because: item.imposed_by,
        });
        let mut disassembled = 0;
        let mut line = |v: Violation| {
            let mut place = source.position_of(v.word_index);
            if place.line.is_none() && disassembled < DISASSEMBLED {
                disassembled += 1;
                place.text = source.disassembled(v.word_index).or(place.text);
            }
            ViolationEntry {
                name: v.rule.name.to_owned(),
                rule: v.rule.id.to_owned(),
                says: v.rule.requirement.to_owned(),
                why: match v.rule.severity {
                    Severity::Error => None,
                    Severity::Warning { reason } => Some(reason.to_owned()),
                },
                // Languages other than SPIR-V have no decorations, so their authors cannot remove one.
                message: match v.rule.name == rules::LAYOUT_NOT_ALLOWED_RULE && place.file.is_some() {
                    true => format!(
                        "{}. The translation to SPIR-V added it because a buffer has the same type; in the shader, \
                         give the variable its own type, such as a structure",
                        v.message
                    ),
                    false => v.message,
                },
                place,
            }
        };
        let found = rules::violations(module, environment).into_iter();
        let (violations, warnings): (Vec<Violation>, Vec<Violation>) = found.partition(Violation::is_error);
        let declared_capabilities = || module.section(Section::Capabilities).filter_map(|i| i.operand(0));
        let unlisted =
            declared_capabilities().filter_map(Capability::from_word).filter(|c| c.enabling_conditions().is_none());
        Report {
            schema: SCHEMA,
            version: module.version().to_string(),
            generator: module.generator(),
            environment: match environment {
                Environment::Vulkan => "vulkan".to_owned(),
                Environment::Other => "other".to_owned(),
            },
            capabilities: declared(Section::Capabilities),
            unlisted: unlisted.map(|capability| capability.to_string()).collect(),
            extensions: declared(Section::Extensions),
            entry_points: entry_points.collect(),
            spec_constants: reflection.spec_constants.iter().map(|c| (c.spec_id, c.name.clone())).collect(),
            unknown: module.unknown_instructions(),
            needs: needs.collect(),
            violations: violations.into_iter().map(&mut line).collect(),
            warnings: warnings.into_iter().map(&mut line).collect(),
        }
    }

    /// Returns the report with warnings turned into violations.
    #[must_use]
    pub fn strict(mut self) -> Report {
        self.violations.append(&mut self.warnings);
        self.violations.sort_by_key(|line| line.place.word);
        self
    }

    /// Returns true if the module violates no rule, except for warnings.
    pub fn is_legal(&self) -> bool {
        self.violations.is_empty()
    }

    /// Returns the report as text for people. `name` is the file's name; the module's requirements
    /// are compared with each of `devices`.
    pub fn render(&self, name: &str, requirements: &Requirements, devices: &[(String, DeviceCaps)]) -> String {
        let mut out = String::new();
        self.render_into(&mut out, name, requirements, devices).expect("writing to a string");
        out
    }

    fn render_into(
        &self,
        out: &mut String,
        name: &str,
        requirements: &Requirements,
        devices: &[(String, DeviceCaps)],
    ) -> std::fmt::Result {
        let generator = self.generator.as_ref().map_or_else(String::new, |tool| format!(", made by {tool}"));
        writeln!(out, "{name}: SPIR-V {}{generator}", self.version)?;
        writeln!(out, "  capabilities: {}", self.capabilities.join(", "))?;
        if !self.extensions.is_empty() {
            writeln!(out, "  extensions: {}", self.extensions.join(", "))?;
        }
        for entry in &self.entry_points {
            write!(out, "  entry point {} ({})", entry.name, entry.model)?;
            match entry.workgroup_size {
                Some([x, y, z]) => writeln!(out, ", workgroup size {x} x {y} x {z}")?,
                None => writeln!(out)?,
            }
            for b in &entry.bindings {
                let name = b.name.as_deref().unwrap_or("unnamed");
                writeln!(out, "    set {} binding {}: {} {name}", b.set, b.binding, b.kind)?;
            }
        }
        if self.unknown > 0 {
            let unknown = pluralised(self.unknown as usize, "instruction");
            writeln!(out, "  not checked: {unknown} with parts newer than the grammar tables")?;
        }
        if !self.needs.is_empty() {
            writeln!(out, "\nneeds:")?;
        }
        for line in &self.needs {
            writeln!(out, "  {}: {}", line.because, line.needs)?;
            write!(out, "    at {}", at(name, &line.place))?;
            writeln!(out, "{}", line.rule.as_ref().map_or_else(String::new, |rule| format!(" ({rule})")))?;
        }
        let warnings = self.warnings.iter().map(|line| ("warning", line));
        for (what, line) in self.violations.iter().map(|line| ("violation", line)).chain(warnings) {
            let place = &line.place;
            writeln!(out, "\n{what}: {}\n  at {}", line.message, at(name, place))?;
            if let (Some(number), Some(text)) = (place.line, &place.text) {
                render_source(out, number, place.column.unwrap_or(1), text)?;
            }
            writeln!(out, "  {}\n  rule: {}", line.rule, line.says)?;
            if let Some(reason) = &line.why {
                writeln!(out, "  a violation with --strict only: {reason}")?;
            }
        }
        if self.environment == "other" {
            let unlisted = match &self.unlisted[..] {
                [] => String::new(),
                names => format!(", which does not list {}", names.join(", ")),
            };
            writeln!(
                out,
                "\na kernel, which does not target Vulkan{unlisted}: only the rules of the extensions are checked"
            )?;
        }
        let warnings = pluralised(self.warnings.len(), "warning");
        match (self.violations.len(), self.warnings.len()) {
            (0, 0) => writeln!(
                out,
                "\nlegal: no rule in harness/spirv-rules/RULES.md is violated (its last section lists what is not checked)"
            )?,
            (0, _) => writeln!(
                out,
                "\nlegal, with {warnings} (--strict rejects the module): no other rule in harness/spirv-rules/RULES.md is \
                 violated (its last section lists what is not checked)"
            )?,
            (count, 0) => writeln!(out, "\n{}", pluralised(count, "violation"))?,
            (count, _) => writeln!(out, "\n{}, {warnings}", pluralised(count, "violation"))?,
        }
        for (device, caps) in devices {
            writeln!(out, "{device}: {}", requirements.check(caps))?;
        }
        Ok(())
    }
}

/// Formats a count with a noun in the correct number.
fn pluralised(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

impl SourcePosition {
    /// Returns the file, line and column as text; `name` is the name of the module's file. `None`
    /// if the line is unknown.
    pub fn location(&self, name: &str) -> Option<String> {
        let file = self.file.as_deref().unwrap_or(name);
        let line = self.line?;
        Some(self.column.map_or_else(|| format!("{file}:{line}"), |column| format!("{file}:{line}:{column}")))
    }
}

fn at(name: &str, place: &SourcePosition) -> String {
    let in_module = || format!("word {} ({})", place.word, place.text.as_deref().unwrap_or("header"));
    place.location(name).unwrap_or_else(in_module)
}

/// Writes the first line of an instruction, underlined with carets.
fn render_source(out: &mut String, line: usize, column: usize, text: &str) -> std::fmt::Result {
    let first = text.lines().next().unwrap_or_default();
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let indent = " ".repeat(column.saturating_sub(1));
    writeln!(
        out,
        "  {margin} |\n  {number} | {indent}{first}\n  {margin} | {indent}{}",
        "^".repeat(first.chars().count())
    )
}

fn capability_name(word: u32) -> String {
    assay_spirv::tables::Capability::from_word(word).map_or_else(|| word.to_string(), |c| c.to_string())
}

#[cfg(test)]
mod tests {
    use super::line_with_number;

    #[test]
    fn line_directives_set_the_numbers_of_lines() {
        let text = "#version 460\n#extension A : enable\n#extension B : enable\n#line 2\nsecond\nthird";
        let lines = [1, 2, 3, 4].map(|number| line_with_number(text, number));
        assert_eq!(lines, [Some("#version 460"), Some("second"), Some("third"), None]);
        assert_eq!(line_with_number("a\n# line 7\nb", 3), Some("b"));
    }
}
