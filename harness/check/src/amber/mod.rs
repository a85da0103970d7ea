//! Front end for the scripts of Amber (<https://github.com/google/amber>): AmberScript and VkScript
//! with compute shaders, as sequences of dispatches.
//!
//! A script that contains something else, such as a graphics pipeline, is refused with its line and
//! the reason. `DEVICE_FEATURE`, `DEVICE_EXTENSION` and `DEVICE_PROPERTY` have no effect, because
//! what a module requires of a device follows from the module, apart from `robustBufferAccess`.

mod amber_script;
mod data_type;
mod embedded_shader;
mod lexer;
mod pipeline;
mod vkscript;

use crate::sequence::{MAX_MEMORY, NamedMemory, Sequence, Step};
use crate::{CheckError, CompileOptions, ImageConfig};
use assay_oracle::Robustness;
use data_type::{DataType, LayoutRules};
use std::path::Path;

/// Endings of script files.
pub(crate) const ENDINGS: [&str; 2] = ["amber", "vkscript"];

/// First line of an AmberScript.
const AMBER_SCRIPT: &str = "#!amber";

/// A mistake in a script, or something that is not supported.
#[derive(Debug)]
pub(super) struct ScriptError {
    pub(super) line: usize,
    pub(super) what: String,
}

/// Parses a script and compiles its shaders.
///
/// # Errors
/// The first mistake, or the first thing that is not supported, with its line.
pub(crate) fn parse(path: &Path, text: &str, compile: &CompileOptions) -> Result<Sequence, CheckError> {
    let name = path.display().to_string();
    let folder = path.parent().unwrap_or(Path::new(""));
    let parsed = match text.starts_with(AMBER_SCRIPT) {
        true => amber_script::parse(&name, folder, text, compile),
        false => vkscript::parse(&name, text, compile),
    };
    let parsed = parsed.and_then(|sequence| match sequence.dispatches() {
        0 => Err(ScriptError { line: 1, what: "it is not a compute script: it runs no compute shader".to_owned() }),
        _ => Ok(sequence),
    });
    parsed.map_err(|ScriptError { line, what }| CheckError::CaseFile { file: name.clone(), line, what })
}

/// Returns whether a text has compute shaders and no other ones, as far as the beginnings of its
/// lines tell.
pub(crate) fn is_compute_script(text: &str) -> bool {
    let kinds = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        match words.next()? {
            "PIPELINE" => words.next(),
            word if line.starts_with('[') && words.next().is_some_and(|word| word.starts_with("shader")) => {
                word.strip_prefix('[')
            }
            _ => None,
        }
    });
    let mut kinds = kinds.peekable();
    kinds.peek().is_some() && kinds.all(|kind| kind == "compute")
}

/// Returns an empty sequence.
fn new_sequence(name: &str) -> Sequence {
    Sequence {
        name: name.to_owned(),
        why: None,
        shaders: Vec::new(),
        memories: Vec::new(),
        steps: Vec::new(),
        robustness: Robustness::None,
        notes: Vec::new(),
    }
}

impl Sequence {
    /// Adds a memory, and returns its index.
    fn add_memory(
        &mut self,
        line: usize,
        (name, bytes): (&str, Vec<u8>),
        (ty, rules): (&DataType, LayoutRules),
        image: ImageConfig,
    ) -> Result<usize, ScriptError> {
        let wrong = |what: String| ScriptError { line, what };
        if self.memories.iter().any(|memory| memory.name == name) {
            return Err(wrong(format!("`{name}` is declared twice")));
        }
        let layout = ty.layout(rules).map_err(wrong)?;
        let size = |memory: &NamedMemory| memory.bytes.len() as u64;
        if self.memories.iter().map(size).sum::<u64>() + bytes.len() as u64 > MAX_MEMORY {
            return Err(wrong(format!("the buffers and images have more than {MAX_MEMORY} bytes together")));
        }
        self.memories.push(NamedMemory { name: name.to_owned(), bytes, layout, image });
        Ok(self.memories.len() - 1)
    }

    /// Adds a step.
    fn add_step(&mut self, step: Step) -> Result<(), ScriptError> {
        if self.steps.len() >= crate::sequence::MAX_STEPS {
            let limit = crate::sequence::MAX_STEPS;
            return Err(ScriptError { line: step.line, what: format!("the script has more than {limit} steps") });
        }
        self.steps.push(step);
        Ok(())
    }
}
