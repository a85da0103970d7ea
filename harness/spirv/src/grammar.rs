//! What the rows of the generated tables mean, and how to look one up.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use crate::hash::Names;
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

impl Version {
    /// The newest version that the tables describe.
    pub const NEWEST: Version = V1_6;

    /// The version word of a module's header.
    pub const fn word(self) -> u32 {
        (self.major as u32) << 16 | (self.minor as u32) << 8
    }

    /// The version that a header's word names; `None` if its unused bytes are not zero.
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

/// How often an operand stands.
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
    /// What stands there.
    pub kind: Kind,
    /// How often.
    pub quantifier: Quantifier,
    /// The specification's name for it; may be empty.
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

/// The specification's chapters of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum Class {
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
    /// In the grammar, but left out of the specification's text.
    Unlisted,
}

/// One instruction of the core grammar.
#[derive(Debug)]
pub struct Instruction {
    /// Which one.
    pub op: Op,
    /// Its name with `Op` in front.
    pub name: &'static str,
    /// Other names that mean the same.
    pub aliases: &'static [&'static str],
    /// The chapter it stands in.
    pub class: Class,
    /// Operands in order, result type and result included.
    pub operands: &'static [Operand],
    /// Any one of these enables it; empty if none is needed.
    pub capabilities: &'static [Capability],
    /// Any one of these enables it before `since`.
    pub extensions: &'static [&'static str],
    /// First version that has it; `None` if only extensions and capabilities bring it.
    pub since: Option<Version>,
    /// Last version that has it.
    pub until: Option<Version>,
}

pub(crate) const INSTRUCTION: Instruction = Instruction {
    op: Op::Nop,
    name: "",
    aliases: &[],
    class: Class::Miscellaneous,
    operands: &[],
    capabilities: &[],
    extensions: &[],
    since: Some(V1_0),
    until: None,
};

impl Instruction {
    /// Whether its first operand is a result type.
    pub fn has_result_type(&self) -> bool {
        self.operands.first().is_some_and(|o| o.kind == Kind::IdResultType)
    }

    /// Whether it makes a result id.
    pub fn has_result(&self) -> bool {
        self.operands.get(usize::from(self.has_result_type())).is_some_and(|o| o.kind == Kind::IdResult)
    }
}

/// One named value of an operand kind.
#[derive(Debug)]
pub struct Enumerant {
    /// Its name.
    pub name: &'static str,
    /// Other names that mean the same.
    pub aliases: &'static [&'static str],
    /// Its number, or its bits in a mask.
    pub value: u32,
    /// Operands that follow when it is used.
    pub parameters: &'static [Operand],
    /// Any one of these enables it; empty if none is needed. For a capability: those it declares implicitly.
    pub capabilities: &'static [Capability],
    /// Any one of these enables it before `since`.
    pub extensions: &'static [&'static str],
    /// First version that has it; `None` if only extensions and capabilities bring it.
    pub since: Option<Version>,
    /// Last version that has it.
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

/// One instruction of an extended set.
#[derive(Debug)]
pub struct ExtendedInstruction {
    /// Its name.
    pub name: &'static str,
    /// Its number in the set.
    pub number: u32,
    /// Operands after the number.
    pub operands: &'static [Operand],
    /// Any one of these enables it; empty if none is needed.
    pub capabilities: &'static [Capability],
}

/// What an operand kind is made of.
#[derive(Clone, Copy, Debug)]
pub enum Category {
    /// A word of named bits.
    Mask(&'static [Enumerant]),
    /// A word with one of several named values.
    Value(&'static [Enumerant]),
    /// An id.
    Id,
    /// A literal of one or more words.
    Literal,
    /// Several kinds in a row.
    Composite(&'static [Kind]),
}

/// One operand kind.
#[derive(Debug)]
pub struct KindInfo {
    /// Which one.
    pub kind: Kind,
    /// Its name.
    pub name: &'static str,
    /// What it is made of.
    pub category: Category,
}

impl Kind {
    /// The kind's row.
    pub fn info(self) -> &'static KindInfo {
        &KINDS[self as usize]
    }

    /// The named values of the kind, in the order of the numbers; empty for ids, literals and pairs.
    pub fn enumerants(self) -> &'static [Enumerant] {
        match self.info().category {
            Category::Mask(rows) | Category::Value(rows) => rows,
            Category::Id | Category::Literal | Category::Composite(_) => &[],
        }
    }

    /// The row with exactly this value.
    pub fn enumerant(self, value: u32) -> Option<&'static Enumerant> {
        let rows = self.enumerants();
        // Most kinds begin with all numbers from zero on.
        if let Some(row) = rows.get(value as usize).filter(|row| row.value == value) {
            return Some(row);
        }
        rows.binary_search_by_key(&value, |e| e.value).ok().map(|i| &rows[i])
    }

    /// The row of that name or alias.
    pub fn enumerant_named(self, name: &str) -> Option<&'static Enumerant> {
        static BY_NAME: LazyLock<Vec<ByName<Enumerant>>> = LazyLock::new(|| {
            KINDS.iter().map(|k| by_name(k.kind.enumerants().iter(), |e| e.name, |e| e.aliases)).collect()
        });
        BY_NAME[self as usize].get(name).copied()
    }
}

/// Rows by their names and aliases.
type ByName<T> = HashMap<&'static str, &'static T, Names>;

fn by_name<T>(
    rows: impl Iterator<Item = &'static T>,
    name: impl Fn(&'static T) -> &'static str,
    aliases: impl Fn(&'static T) -> &'static [&'static str],
) -> ByName<T> {
    let mut map = HashMap::with_hasher(Names);
    for row in rows {
        map.insert(name(row), row);
        map.extend(aliases(row).iter().map(|alias| (*alias, row)));
    }
    map
}

/// No opcode of the grammar is as large.
const OPCODES: usize = 1 << 13;

/// Row in [`INSTRUCTIONS`] plus one, by opcode; 0 where there is none.
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
    /// The instruction's row.
    pub fn info(self) -> &'static Instruction {
        &INSTRUCTIONS[usize::from(ROW_BY_OPCODE[self as usize]) - 1]
    }

    /// The instruction's name with `Op` in front.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The instruction with that opcode.
    pub fn from_opcode(opcode: u16) -> Option<Op> {
        instruction(opcode).map(|i| i.op)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The row of the instruction with that opcode.
pub fn instruction(opcode: u16) -> Option<&'static Instruction> {
    let row = *ROW_BY_OPCODE.get(usize::from(opcode))?;
    INSTRUCTIONS.get(usize::from(row).checked_sub(1)?)
}

/// The row of the instruction of that name or alias, `Op` included.
pub fn instruction_named(name: &str) -> Option<&'static Instruction> {
    static BY_NAME: LazyLock<ByName<Instruction>> =
        LazyLock::new(|| by_name(INSTRUCTIONS.iter(), |i| i.name, |i| i.aliases));
    BY_NAME.get(name).copied()
}

/// A set of extended instructions, as `OpExtInstImport` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExtendedSet {
    /// `GLSL.std.450`.
    Glsl,
    /// `OpenCL.std`.
    OpenCl,
    /// A set that the tables do not describe.
    Unknown,
}

impl ExtendedSet {
    /// The set that an import's name means.
    pub fn from_name(name: &str) -> ExtendedSet {
        match name {
            "GLSL.std.450" => ExtendedSet::Glsl,
            "OpenCL.std" => ExtendedSet::OpenCl,
            _ => ExtendedSet::Unknown,
        }
    }

    /// Its instructions, in the order of the numbers; empty for [`ExtendedSet::Unknown`].
    pub fn instructions(self) -> &'static [ExtendedInstruction] {
        match self {
            ExtendedSet::Glsl => GLSL_STD450,
            ExtendedSet::OpenCl => OPEN_CL_STD,
            ExtendedSet::Unknown => &[],
        }
    }

    /// The instruction with that number.
    pub fn instruction(self, number: u32) -> Option<&'static ExtendedInstruction> {
        let rows = self.instructions();
        rows.binary_search_by_key(&number, |i| i.number).ok().map(|i| &rows[i])
    }

    /// The instruction of that name.
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

/// One way in which a Vulkan device can allow a capability or a SPIR-V extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Enabling {
    /// Vulkan 1.N.
    Version(u32),
    /// A Vulkan extension.
    Extension(&'static str),
    /// A feature bit.
    Feature {
        /// The structure it is queried through.
        structure: &'static str,
        /// Its member of the structure.
        member: &'static str,
        /// The member's name, made unique where two structures use one name for different things.
        feature: &'static str,
        /// Versions (`VK_VERSION_1_N`) and extensions, any one of which brings the structure.
        requires: &'static [&'static str],
    },
    /// A property with a value.
    Property {
        /// The structure it is queried through.
        structure: &'static str,
        /// Its member of the structure.
        member: &'static str,
        /// The registry's name of the value.
        value: &'static str,
        /// The bits that the property must have.
        bits: u64,
        /// Versions (`VK_VERSION_1_N`) and extensions, any one of which brings the structure.
        requires: &'static [&'static str],
    },
}

/// What allows a capability.
#[derive(Debug)]
pub struct CapabilityEnabling {
    /// The capability's name.
    pub name: &'static str,
    /// The capability; `None` where the grammar does not know the name.
    pub capability: Option<Capability>,
    /// Any one of these allows it.
    pub any_of: &'static [Enabling],
}

/// What allows a SPIR-V extension.
#[derive(Debug)]
pub struct ExtensionEnabling {
    /// The extension's name.
    pub name: &'static str,
    /// Any one of these allows it.
    pub any_of: &'static [Enabling],
}

impl Capability {
    /// What allows it on a Vulkan device; `None` where Vulkan does not list it.
    pub fn enabling(self) -> Option<&'static [Enabling]> {
        let row = CAPABILITY_ENABLING.iter().find(|row| row.capability == Some(self));
        row.map(|row| row.any_of)
    }
}

/// What allows a SPIR-V extension on a Vulkan device; `None` where Vulkan does not list it.
pub fn extension_enabling(name: &str) -> Option<&'static [Enabling]> {
    let row = EXTENSION_ENABLING.binary_search_by_key(&name, |row| row.name).ok();
    row.map(|row| EXTENSION_ENABLING[row].any_of)
}

/// An enumeration of one operand kind's values, with conversions from and to words.
macro_rules! value_enum {
    ($kind:ident $($name:ident = $value:literal,)*) => {
        #[doc = concat!("A value of the operand kind `", stringify!($kind), "`.")]
        #[expect(missing_docs, reason = "the names are the specification's")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum $kind { $($name = $value,)* }

        impl $kind {
            /// The value that a word stands for.
            pub fn from_word(word: u32) -> Option<Self> {
                match word {
                    $($value => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Its word.
            pub const fn word(self) -> u32 {
                self as u32
            }

            /// The specification's name.
            pub fn name(self) -> &'static str {
                Kind::$kind.enumerant(self.word()).map_or(stringify!($kind), |e| e.name)
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

/// A set of one operand kind's bits.
macro_rules! mask_enum {
    ($kind:ident $($name:ident = $value:literal,)*) => {
        #[doc = concat!("A set of bits of the operand kind `", stringify!($kind), "`.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $kind(pub u32);

        #[expect(missing_docs, reason = "the names are the specification's")]
        impl $kind { $(pub const $name: $kind = $kind($value);)* }

        impl $kind {
            /// Whether all bits of `other` are set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// Whether any bit of `other` is set.
            pub const fn intersects(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }
        }
    };
}

/// An enumeration of an extended set's instructions.
macro_rules! extended_enum {
    ($kind:ident $set:literal $($name:ident = $value:literal,)*) => {
        #[doc = concat!("An instruction of the extended set `", $set, "`.")]
        #[expect(missing_docs, reason = "the names are the specification's")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum $kind { $($name = $value,)* }

        impl $kind {
            /// The instruction with that number.
            pub fn from_word(word: u32) -> Option<Self> {
                match word {
                    $($value => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Its number.
            pub const fn word(self) -> u32 {
                self as u32
            }
        }
    };
}

pub(crate) use {extended_enum, mask_enum, value_enum};
