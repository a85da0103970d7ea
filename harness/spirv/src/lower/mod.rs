//! Extensions rewritten in core SPIR-V, so that what a shader means can be run where no device has the extension.
//!
//! Beside them [`without_forbidden_layout`], for what a translator decorates too much.
//!
//! A lowered module says nothing of an extension's native support: it shows what the shader means, and tests what runs it.

pub mod bindless;
pub mod fragment;
pub mod gather;
mod layout;
pub mod tile;

pub use layout::without_forbidden_layout;

use crate::Module;
use crate::edit::{Editor, instruction};
use crate::module::{Instruction, Section};
use crate::tables::{BuiltIn, Capability, Decoration, Op, StorageClass};

/// Why a module is not lowered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// The module does not use the extension.
    #[error("the module has no capability {0}, so there is nothing to lower")]
    NothingToDo(Capability),
    /// Lowering takes modules of one entry point.
    #[error("the module has {0} entry points; lowering takes modules of one")]
    EntryPoints(usize),
    /// What a kernel is called with does not fit it, or fits no descriptors.
    #[error("the kernel's call: {0}")]
    Call(String),
    /// Something is used in a way that the lowering does not rewrite.
    #[error("{what} (word {at}) is not lowered")]
    NotLowered {
        /// What, in words.
        what: String,
        /// Index of the instruction's first word in the module.
        at: usize,
    },
}

impl LowerError {
    fn at(instruction: Instruction<'_>, what: impl Into<String>) -> Self {
        LowerError::NotLowered { what: what.into(), at: instruction.at }
    }
}

/// The only entry point's instruction.
fn entry_point(module: &Module) -> Result<Instruction<'_>, LowerError> {
    let mut entries = module.section(Section::EntryPoints);
    match (entries.next(), entries.count()) {
        (Some(entry), 0) => Ok(entry),
        (first, more) => Err(LowerError::EntryPoints(usize::from(first.is_some()) + more)),
    }
}

/// Where an entry point's interface begins among its words: after the name, whose last word has a zero byte.
fn interface_at(entry: Instruction<'_>) -> usize {
    let ends = |word: &u32| word.to_le_bytes().contains(&0);
    let name = entry.words.iter().skip(3).position(ends);
    name.map_or(entry.words.len(), |last| 3 + last + 1)
}

/// Takes an extension's capability and name away; what the capability implied is stated instead.
fn drop_extension(editor: &mut Editor<'_>, capability: Capability, implied: &[Capability], name: &str) {
    let module = editor.module();
    let stated =
        |wanted: Capability| module.section(Section::Capabilities).any(|i| i.operand(0) == Some(wanted.word()));
    for i in module.section(Section::Capabilities).filter(|i| i.operand(0) == Some(capability.word())) {
        let missing = implied.iter().filter(|implied| !stated(**implied));
        editor.replace(i.at, missing.flat_map(|implied| instruction(Op::Capability, &[implied.word()])).collect());
    }
    for i in module.section(Section::Extensions).filter(|i| module.string_at(*i, 0) == name) {
        editor.replace(i.at, Vec::new());
    }
}

/// The module-scope variable of a class that is a built-in.
fn built_in_variable(module: &Module, wanted: BuiltIn) -> Option<Instruction<'_>> {
    module.section(Section::Globals).filter(|i| i.op == Some(Op::Variable)).find(|i| {
        i.result().is_some_and(|word| {
            module.decorations(word).any(|d| {
                d.member.is_none()
                    && d.decoration == Some(Decoration::BuiltIn)
                    && d.operands.first() == Some(&wanted.word())
            })
        })
    })
}

/// Storage class of an `OpVariable`.
fn class_of(variable: Instruction<'_>) -> Option<StorageClass> {
    variable.operand(0).and_then(StorageClass::from_word)
}

/// The instructions of functions that use an id, in order.
fn uses<'a>(module: &'a Module, word: u32) -> impl Iterator<Item = Instruction<'a>> {
    let first = module.functions().first().map_or(module.len() as u32, |f| f.instructions.start);
    module.instructions_in(first..module.len() as u32).filter(move |i| {
        // Looked at closely only where the word occurs at all.
        i.words.get(1..).is_some_and(|words| words.contains(&word)) && module.id_operands(*i).contains(&word)
    })
}
