//! The SPIR-V grammar: types of the generated tables' rows, and lookups in them.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use crate::hash::BuildNameHasher;
pub use crate::tables::{
    CAPABILITY_ENABLING, Capability, EXTENSION_ENABLING, GLSL_STD450, INSTRUCTIONS, KINDS, Kind, OPEN_CL_STD, Op,
};

/// A version of SPIR-V.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Major number.
    pub major: u8,
    /// Minor number.
    pub minor: u8,
}

pub(crate) const V1_0: Version = Version { major: 1, minor: 0 };
pub(crate) const V1_1: Version = Version { major: 1, minor: 1 };
pub(crate) const V1_2: Version = Version { major: 1, minor: 2 };
pub(crate) const V1_3: Version = Version { major: 1, minor: 3 };
pub(crate) const V1_4: Version = Version { major: 1, minor: 4 };
pub(crate) const V1_5: Version = Version { major: 1, minor: 5 };
pub(crate) const V1_6: Version = Version { major: 1, minor: 6 };

/// All versions that the tables describe, in ascending order.
pub const VERSIONS: [Version; 7] = [V1_0, V1_1, V1_2, V1_3, V1_4, V1_5, V1_6];

impl Version {
    /// The newest version that the tables describe.
    pub const NEWEST: Version = V1_6;

    /// Returns SPIR-V 1.`minor`.
    pub const fn v1(minor: u8) -> Version {
        Version { major: 1, minor }
    }

    /// Returns the version word of a module's header.
    pub const fn word(self) -> u32 {
        (self.major as u32) << 16 | (self.minor as u32) << 8
    }

    /// Returns the version that a header's word denotes; `None` if its unused bytes are not zero.
    pub const fn from_word(word: u32) -> Option<Version> {
        if word & 0xff00_00ff == 0 {
            Some(Version { major: (word >> 16) as u8, minor: (word >> 8) as u8 })
        } else {
            None
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Number of occurrences of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// Exactly once.
    One,
    /// Once or not at all.
    Optional,
    /// Any number of times.
    Any,
}

/// One operand of an instruction, or one parameter of an enumerant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Kind of the operand.
    pub kind: Kind,
    /// Number of occurrences.
    pub quantifier: Quantifier,
    /// Name in the specification; may be empty.
    pub name: &'static str,
}

pub(crate) const TYPE: Operand = one(Kind::IdResultType, "Result Type");
pub(crate) const RESULT: Operand = one(Kind::IdResult, "Result");

pub(crate) const fn one(kind: Kind, name: &'static str) -> Operand {
    Operand { kind, quantifier: Quantifier::One, name }
}

pub(crate) const fn optional(kind: Kind, name: &'static str) -> Operand {
    Operand { kind, quantifier: Quantifier::Optional, name }
}

pub(crate) const fn any(kind: Kind, name: &'static str) -> Operand {
    Operand { kind, quantifier: Quantifier::Any, name }
}

/// Chapters of instructions in the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum InstructionClass {
    Miscellaneous,
    Debug,
    Annotation,
    Extension,
    ModeSetting,
    TypeDeclaration,
    ConstantCreation,
    Memory,
    Function,
    Image,
    Conversion,
    Composite,
    Arithmetic,
    Bit,
    RelationalAndLogical,
    Derivative,
    ControlFlow,
    Atomic,
    Primitive,
    Barrier,
    Group,
    DeviceSideEnqueue,
    Pipe,
    NonUniform,
    Tensor,
    Graph,
    Reserved,
    /// Defined by the grammar, but not described in the specification's text.
    Unlisted,
}

/// One instruction of the core grammar.
#[derive(Debug)]
pub struct Instruction {
    /// Its operation.
    pub op: Op,
    /// Its name, with the prefix `Op`.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// Its chapter.
    pub class: InstructionClass,
    /// Its operands in order, including result type and result.
    pub operands: &'static [Operand],
    /// Capabilities, any one of which enables it; empty if it needs none.
    pub capabilities: &'static [Capability],
    /// Extensions, any one of which enables it in versions before `since`.
    pub extensions: &'static [&'static str],
    /// First version that includes it; `None` if it takes an extension or capability.
    pub since: Option<Version>,
    /// Last version that includes it.
    pub until: Option<Version>,
}

pub(crate) const INSTRUCTION: Instruction = Instruction {
    op: Op::Nop,
    name: "",
    aliases: &[],
    class: InstructionClass::Miscellaneous,
    operands: &[],
    capabilities: &[],
    extensions: &[],
    since: Some(V1_0),
    until: None,
};

impl Instruction {
    /// Returns true if its first operand is a result type.
    pub fn has_result_type(&self) -> bool {
        self.operands.first().is_some_and(|o| o.kind == Kind::IdResultType)
    }

    /// Returns true if it has a result id.
    pub fn has_result(&self) -> bool {
        self.operands.get(usize::from(self.has_result_type())).is_some_and(|o| o.kind == Kind::IdResult)
    }
}

/// A named value of an operand kind.
#[derive(Debug)]
pub struct Enumerant {
    /// Its name.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// Its number, or its bits in a mask.
    pub value: u32,
    /// Operands that follow it.
    pub parameters: &'static [Operand],
    /// Capabilities, any one of which enables it; empty if it needs none. For a capability: those
    /// it implicitly declares.
    pub capabilities: &'static [Capability],
    /// Extensions, any one of which enables it in versions before `since`.
    pub extensions: &'static [&'static str],
    /// First version that includes it; `None` if it takes an extension or capability.
    pub since: Option<Version>,
    /// Last version that includes it.
    pub until: Option<Version>,
}

pub(crate) const ENUMERANT: Enumerant = Enumerant {
    name: "",
    aliases: &[],
    value: 0,
    parameters: &[],
    capabilities: &[],
    extensions: &[],
    since: Some(V1_0),
    until: None,
};

/// An instruction of an extended instruction set.
#[derive(Debug)]
pub struct ExtendedInstruction {
    /// Its name.
    pub name: &'static str,
    /// Its number in the set.
    pub number: u32,
    /// Operands after the number.
    pub operands: &'static [Operand],
    /// Capabilities, any one of which enables it; empty if it needs none.
    pub capabilities: &'static [Capability],
}

/// Encoding of an operand kind.
#[derive(Clone, Copy, Debug)]
pub enum OperandEncoding {
    /// A word of named bits, which may be combined.
    Mask(&'static [Enumerant]),
    /// A word with one of several named values.
    Value(&'static [Enumerant]),
    /// An id.
    Id,
    /// A literal of one or more words.
    Literal,
    /// A sequence of operands of these kinds.
    Composite(&'static [Kind]),
}

/// An operand kind.
#[derive(Debug)]
pub struct KindInfo {
    /// The kind.
    pub kind: Kind,
    /// Its name.
    pub name: &'static str,
    /// Its encoding.
    pub encoding: OperandEncoding,
}

impl Kind {
    /// Returns the kind's row in the tables.
    pub fn info(self) -> &'static KindInfo {
        &KINDS[self as usize]
    }

    /// Returns the named values of the kind, in ascending order; empty for ids, literals and
    /// composites.
    pub fn enumerants(self) -> &'static [Enumerant] {
        match self.info().encoding {
            OperandEncoding::Mask(rows) | OperandEncoding::Value(rows) => rows,
            OperandEncoding::Id | OperandEncoding::Literal | OperandEncoding::Composite(_) => &[],
        }
    }

    /// Returns the enumerant with exactly this value.
    pub fn enumerant(self, value: u32) -> Option<&'static Enumerant> {
        let rows = self.enumerants();
        // The values of most kinds are consecutive numbers from zero.
        if let Some(row) = rows.get(value as usize).filter(|row| row.value == value) {
            return Some(row);
        }
        rows.binary_search_by_key(&value, |e| e.value).ok().map(|i| &rows[i])
    }

    /// Returns the enumerant with this name or alias.
    pub fn enumerant_named(self, name: &str) -> Option<&'static Enumerant> {
        static BY_NAME: LazyLock<Vec<ByName<Enumerant>>> = LazyLock::new(|| {
            KINDS.iter().map(|k| by_name(k.kind.enumerants().iter(), |e| e.name, |e| e.aliases)).collect()
        });
        BY_NAME[self as usize].get(name).copied()
    }
}

/// Rows by name and alias.
type ByName<T> = HashMap<&'static str, &'static T, BuildNameHasher>;

fn by_name<T>(
    rows: impl Iterator<Item = &'static T>,
    name: impl Fn(&'static T) -> &'static str,
    aliases: impl Fn(&'static T) -> &'static [&'static str],
) -> ByName<T> {
    let mut map = HashMap::with_hasher(BuildNameHasher);
    for row in rows {
        map.insert(name(row), row);
        map.extend(aliases(row).iter().map(|alias| (*alias, row)));
    }
    map
}

/// Upper limit of the opcodes in the grammar.
const OPCODES: usize = 1 << 13;

/// For each opcode, its row in [`INSTRUCTIONS`] plus one; 0 for unused opcodes.
static ROW_BY_OPCODE: [u16; OPCODES] = {
    let mut rows = [0; OPCODES];
    let mut i = 0;
    while i < INSTRUCTIONS.len() {
        rows[INSTRUCTIONS[i].op as usize] = i as u16 + 1;
        i += 1;
    }
    rows
};

impl Op {
    /// Returns the instruction's row in the tables.
    pub fn info(self) -> &'static Instruction {
        &INSTRUCTIONS[usize::from(ROW_BY_OPCODE[self as usize]) - 1]
    }

    /// Returns the instruction's name, with the prefix `Op`.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the operation with this opcode.
    pub fn from_opcode(opcode: u16) -> Option<Op> {
        instruction(opcode).map(|i| i.op)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns the instruction with this opcode.
pub fn instruction(opcode: u16) -> Option<&'static Instruction> {
    let row = *ROW_BY_OPCODE.get(usize::from(opcode))?;
    INSTRUCTIONS.get(usize::from(row).checked_sub(1)?)
}

/// Returns the instruction with this name or alias, including the prefix `Op`.
pub fn instruction_named(name: &str) -> Option<&'static Instruction> {
    static BY_NAME: LazyLock<ByName<Instruction>> =
        LazyLock::new(|| by_name(INSTRUCTIONS.iter(), |i| i.name, |i| i.aliases));
    BY_NAME.get(name).copied()
}

/// An extended instruction set, named by `OpExtInstImport`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExtendedSet {
    /// `GLSL.std.450`.
    Glsl,
    /// `OpenCL.std`.
    OpenCl,
    /// A set that the tables do not include.
    Unknown,
}

impl ExtendedSet {
    /// Returns the set with this name in an import.
    pub fn from_name(name: &str) -> ExtendedSet {
        match name {
            "GLSL.std.450" => ExtendedSet::Glsl,
            "OpenCL.std" => ExtendedSet::OpenCl,
            _ => ExtendedSet::Unknown,
        }
    }

    /// Returns its instructions in ascending order of their numbers; empty for
    /// [`ExtendedSet::Unknown`].
    pub fn instructions(self) -> &'static [ExtendedInstruction] {
        match self {
            ExtendedSet::Glsl => GLSL_STD450,
            ExtendedSet::OpenCl => OPEN_CL_STD,
            ExtendedSet::Unknown => &[],
        }
    }

    /// Returns the instruction with this number.
    pub fn instruction(self, number: u32) -> Option<&'static ExtendedInstruction> {
        let rows = self.instructions();
        rows.binary_search_by_key(&number, |i| i.number).ok().map(|i| &rows[i])
    }

    /// Returns the instruction with this name.
    pub fn instruction_named(self, name: &str) -> Option<&'static ExtendedInstruction> {
        type Lazy = LazyLock<ByName<ExtendedInstruction>>;
        static GLSL: Lazy = LazyLock::new(|| by_name(GLSL_STD450.iter(), |i| i.name, |_| &[]));
        static OPEN_CL: Lazy = LazyLock::new(|| by_name(OPEN_CL_STD.iter(), |i| i.name, |_| &[]));
        match self {
            ExtendedSet::Glsl => GLSL.get(name).copied(),
            ExtendedSet::OpenCl => OPEN_CL.get(name).copied(),
            ExtendedSet::Unknown => None,
        }
    }
}

/// A condition under which a Vulkan device supports a capability or a SPIR-V extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EnablingCondition {
    /// The device supports Vulkan 1.N.
    Version(u32),
    /// The device supports a Vulkan extension.
    Extension(&'static str),
    /// A feature is enabled.
    Feature {
        /// The structure that contains it.
        structure: &'static str,
        /// The name of the member.
        member: &'static str,
        /// The member's name, made unique if two structures use one name for different features.
        feature: &'static str,
        /// Versions (`VK_VERSION_1_N`) and extensions, any one of which provides the structure.
        requires: &'static [&'static str],
    },
    /// A property has certain bits.
    Property {
        /// The structure that contains it.
        structure: &'static str,
        /// The name of the member.
        member: &'static str,
        /// The name of the bits in the Vulkan registry.
        value: &'static str,
        /// The required bits.
        bits: u64,
        /// Versions (`VK_VERSION_1_N`) and extensions, any one of which provides the structure.
        requires: &'static [&'static str],
    },
}

/// The conditions under which a device supports a capability.
#[derive(Debug)]
pub struct CapabilityConditions {
    /// The capability's name.
    pub name: &'static str,
    /// The capability; `None` if the grammar does not define the name.
    pub capability: Option<Capability>,
    /// Conditions, any one of which suffices.
    pub any_of: &'static [EnablingCondition],
}

/// The conditions under which a device supports a SPIR-V extension.
#[derive(Debug)]
pub struct ExtensionConditions {
    /// The extension's name.
    pub name: &'static str,
    /// Conditions, any one of which suffices.
    pub any_of: &'static [EnablingCondition],
}

impl Capability {
    /// Returns the conditions under which a Vulkan device supports it; `None` if Vulkan does not
    /// list it.
    pub fn enabling_conditions(self) -> Option<&'static [EnablingCondition]> {
        let row = CAPABILITY_ENABLING.iter().find(|row| row.capability == Some(self));
        row.map(|row| row.any_of)
    }
}

/// Returns the conditions under which a Vulkan device supports a SPIR-V extension; `None` if Vulkan
/// does not list it.
pub fn extension_conditions(name: &str) -> Option<&'static [EnablingCondition]> {
    let row = EXTENSION_ENABLING.binary_search_by_key(&name, |row| row.name).ok();
    row.map(|row| EXTENSION_ENABLING[row].any_of)
}

/// Defines an enumeration of an operand kind's values, with conversions from and to words.
macro_rules! value_enum {
    ($kind:ident $($name:ident = $value:literal,)*) => {
        #[doc = concat!("A value of the operand kind `", stringify!($kind), "`.")]
        #[expect(missing_docs, reason = "the names are the specification's")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum $kind { $($name = $value,)* }

        impl $kind {
            /// Returns the value that a word encodes.
            pub fn from_word(word: u32) -> Option<Self> {
                match word {
                    $($value => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Returns its word.
            pub const fn word(self) -> u32 {
                self as u32
            }

            /// Returns its name in the specification.
            pub fn name(self) -> &'static str {
                Kind::$kind.enumerant(self.word()).map_or(stringify!($kind), |e| e.name)
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_u32(self.word())
            }
        }

        impl<'de> serde::Deserialize<'de> for $kind {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = serde::Deserialize::deserialize(deserializer)?;
                let unknown = || serde::de::Error::custom(format!("no {} has the value {word}", stringify!($kind)));
                Self::from_word(word).ok_or_else(unknown)
            }
        }
    };
}

/// Defines a set of an operand kind's bits.
macro_rules! mask_enum {
    ($kind:ident $($name:ident = $value:literal,)*) => {
        #[doc = concat!("A set of bits of the operand kind `", stringify!($kind), "`.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $kind(pub u32);

        #[expect(missing_docs, reason = "the names are the specification's")]
        impl $kind { $(pub const $name: $kind = $kind($value);)* }

        impl $kind {
            /// Returns true if all bits of `other` are set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// Returns true if any bit of `other` is set.
            pub const fn intersects(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }
        }
    };
}

/// Defines an enumeration of an extended set's instructions.
macro_rules! extended_enum {
    ($kind:ident $set:literal $($name:ident = $value:literal,)*) => {
        #[doc = concat!("An instruction of the extended set `", $set, "`.")]
        #[expect(missing_docs, reason = "the names are the specification's")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum $kind { $($name = $value,)* }

        impl $kind {
            /// Returns the instruction with this number.
            pub fn from_word(word: u32) -> Option<Self> {
                match word {
                    $($value => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Returns its number.
            pub const fn word(self) -> u32 {
                self as u32
            }
        }
    };
}

pub(crate) use {extended_enum, mask_enum, value_enum};
