//! The sections of a module, in the order that the specification's logical layout gives them.

use crate::grammar::Class;
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
    /// `OpString`, `OpSource` and its companions.
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
    /// How many there are.
    pub(super) const COUNT: usize = 12;

    /// All, in order.
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

    /// The section that an instruction belongs to; `None` for those that stand wherever they are useful.
    ///
    /// What this returns for an instruction inside a function does not matter: functions come last.
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
                Class::Annotation => Some(Section::Annotations),
                Class::TypeDeclaration | Class::ConstantCreation => Some(Section::Globals),
                // Types and constants that the specification's text leaves out are known by their names.
                Class::Reserved | Class::Unlisted if is_global(op) => Some(Section::Globals),
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
