//! Lowering: extensions rewritten to core SPIR-V, so that shaders can run on devices without the
//! extension.
//!
//! A lowered module does not test native support of the extension. It shows the meaning of the
//! shader, and tests the parts of the harness that run it. [`without_forbidden_layout`],
//! [`with_whole_texels`] and [`with_single_inputs`] are not lowerings: they mend what translators make
//! illegal. [`with_skipped_accesses`] is the evaluation of a newer language, and
//! [`with_serial_invocations`] gives a shader that races a defined behaviour.

pub mod bindless;
pub mod fragment;
pub mod gather;
mod layout_decorations;
mod repeated_inputs;
mod selected_descriptors;
mod serial_invocations;
mod short_texels;
mod sized_descriptors;
mod skipped_accesses;
pub mod tile;

pub use layout_decorations::without_forbidden_layout;
pub use repeated_inputs::with_single_inputs;
pub use selected_descriptors::with_selected_descriptors;
pub use serial_invocations::{SerialDispatch, with_serial_invocations};
pub use short_texels::with_whole_texels;
pub use sized_descriptors::with_sized_descriptors;
pub use skipped_accesses::with_skipped_accesses;

use assay_spirv::Module;
use assay_spirv::edit::{Editor, instruction};
use assay_spirv::module::{Instruction, Section};
use assay_spirv::tables::{BuiltIn, Capability, Decoration, Op, StorageClass};

/// A reason why a module cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// The module does not use the extension.
    #[error("the module has no capability {0}, so there is nothing to lower")]
    UnusedExtension(Capability),
    /// The module does not have exactly one entry point.
    #[error("the module has {0} entry points, but lowering requires exactly one")]
    EntryPointCount(usize),
    /// The call does not match the kernel, or does not determine valid descriptors.
    #[error("invalid kernel call: {0}")]
    InvalidCall(String),
    /// The module uses something that the lowering does not support.
    #[error("cannot lower {what} (word {at})")]
    Unsupported {
        /// Description of the unsupported use.
        what: String,
        /// Index of the instruction's first word in the module.
        at: usize,
    },
}

impl LowerError {
    fn at(instruction: Instruction<'_>, what: impl Into<String>) -> Self {
        LowerError::Unsupported { what: what.into(), at: instruction.at }
    }
}

/// Returns the only entry point.
fn entry_point(module: &Module) -> Result<Instruction<'_>, LowerError> {
    let mut entries = module.section(Section::EntryPoints);
    match (entries.next(), entries.count()) {
        (Some(entry), 0) => Ok(entry),
        (first, more) => Err(LowerError::EntryPointCount(usize::from(first.is_some()) + more)),
    }
}

/// Returns the index of the first interface id among an entry point's words. It follows the name,
/// whose last word has a zero byte.
fn interface_at(entry: Instruction<'_>) -> usize {
    let ends = |word: &u32| word.to_le_bytes().contains(&0);
    let name = entry.words.iter().skip(3).position(ends);
    name.map_or(entry.words.len(), |last| 3 + last + 1)
}

/// Removes an extension's capability and name, and declares the capabilities that it implied.
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

/// Returns the module-scope variable with a built-in decoration.
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

/// Returns the storage class of an `OpVariable`.
fn class_of(variable: Instruction<'_>) -> Option<StorageClass> {
    variable.operand(0).and_then(StorageClass::from_word)
}

/// Returns the instructions of functions that use an id, in order.
fn uses<'a>(module: &'a Module, word: u32) -> impl Iterator<Item = Instruction<'a>> {
    let first = module.functions().first().map_or(module.len() as u32, |f| f.instructions.start);
    module.instructions_in(first..module.len() as u32).filter(move |i| {
        // Only instructions that contain the word are decoded.
        i.words.get(1..).is_some_and(|words| words.contains(&word)) && module.id_operands(*i).contains(&word)
    })
}
