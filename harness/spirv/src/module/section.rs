//! Sections of a module, in the order of the specification's logical layout (SPIR-V, section 2.4).

use crate::grammar::InstructionClass;
use crate::tables::Op;

/// A section of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Section {
    /// `OpCapability`.
    Capabilities,
    /// `OpExtension`.
    Extensions,
    /// `OpExtInstImport`.
    Imports,
    /// `OpMemoryModel`.
    MemoryModel,
    /// `OpEntryPoint`.
    EntryPoints,
    /// `OpExecutionMode`, `OpExecutionModeId`.
    ExecutionModes,
    /// `OpString`, `OpSource`, `OpSourceContinued`, `OpSourceExtension`.
    Sources,
    /// `OpName`, `OpMemberName`.
    Names,
    /// `OpModuleProcessed`.
    Processed,
    /// Decorations.
    Annotations,
    /// Types, constants, global variables.
    Globals,
    /// Functions.
    Functions,
}

impl Section {
    /// Number of sections.
    pub(super) const COUNT: usize = 12;

    /// All sections, in order.
    pub const ALL: [Section; Section::COUNT] = [
        Section::Capabilities,
        Section::Extensions,
        Section::Imports,
        Section::MemoryModel,
        Section::EntryPoints,
        Section::ExecutionModes,
        Section::Sources,
        Section::Names,
        Section::Processed,
        Section::Annotations,
        Section::Globals,
        Section::Functions,
    ];

    /// Returns the section of an instruction; `None` for instructions that are permitted in
    /// several.
    ///
    /// The result is of no use for an instruction inside a function, except that it is not after
    /// [`Section::Functions`], the last section.
    pub(super) fn of(op: Op) -> Option<Section> {
        match op {
            Op::Capability | Op::ConditionalCapabilityINTEL => Some(Section::Capabilities),
            Op::Extension | Op::ConditionalExtensionINTEL => Some(Section::Extensions),
            Op::ExtInstImport => Some(Section::Imports),
            Op::MemoryModel => Some(Section::MemoryModel),
            Op::EntryPoint | Op::ConditionalEntryPointINTEL => Some(Section::EntryPoints),
            Op::ExecutionMode | Op::ExecutionModeId => Some(Section::ExecutionModes),
            Op::String | Op::Source | Op::SourceContinued | Op::SourceExtension => Some(Section::Sources),
            Op::Name | Op::MemberName => Some(Section::Names),
            Op::ModuleProcessed => Some(Section::Processed),
            Op::Nop | Op::Line | Op::NoLine | Op::ExtInst | Op::ExtInstWithForwardRefsKHR => None,
            Op::Variable | Op::UntypedVariableKHR | Op::Undef => Some(Section::Globals),
            _ => match op.info().class {
                InstructionClass::Annotation => Some(Section::Annotations),
                InstructionClass::TypeDeclaration | InstructionClass::ConstantCreation => Some(Section::Globals),
                // The grammar does not classify these types and constants; they are recognised by
                // name.
                InstructionClass::Reserved | InstructionClass::Unlisted if is_global(op) => Some(Section::Globals),
                _ => Some(Section::Functions),
            },
        }
    }
}

fn is_global(op: Op) -> bool {
    let name = op.name();
    let prefixes = ["OpType", "OpConstant", "OpSpecConstant", "OpAsmTarget"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || op == Op::AsmINTEL
}
