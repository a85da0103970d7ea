//! A shader, ready to be interpreted.

use crate::dispatch::{Dispatch, Limits, Slot, SpecValues};
use crate::error::{Place, ProgramError, RunError};
use crate::inst::{Function, Inst, Reg};
use crate::outcome::Outcome;
use crate::site::Site;
use crate::ty::{Fmt, Kind, Leaf};
use assay_precision::{FastMath, Rules};
use assay_spirv::Module;
use assay_spirv::module::Index;
use assay_spirv::tables::{BuiltIn, Capability, Dim, ImageFormat};
use std::collections::{BTreeMap, BTreeSet};

/// A compute entry point or a kernel, specialised and translated for the interpreter.
#[derive(Debug)]
pub struct Program {
    pub(crate) name: String,
    pub(crate) size: [u32; 3],
    /// What each register is.
    pub(crate) kinds: Vec<Kind>,
    pub(crate) code: Vec<Inst>,
    /// Where each instruction of `code` comes from.
    pub(crate) at: Vec<Place>,
    /// What is done once: constants.
    pub(crate) setup: Vec<Inst>,
    pub(crate) setup_at: Vec<Place>,
    /// What every workgroup begins with: private variables.
    pub(crate) fresh: Vec<Inst>,
    pub(crate) functions: Vec<Function>,
    pub(crate) entry: u32,
    /// Registers of variables of invocations: first, how many.
    pub(crate) locals: Vec<(Reg, u32)>,
    pub(crate) objects: Vec<Object>,
    pub(crate) workgroup_bytes: u64,
    /// Workgroup memory that begins as zero: offset and bytes.
    pub(crate) zeroed: Vec<(u64, u64)>,
    pub(crate) builtins: Vec<(BuiltIn, Reg, u32)>,
    pub(crate) sites: Vec<Site>,
    /// Whether it is a translation of WGSL, and means what WGSL says: see [`Program::of_wgsl`].
    pub(crate) wgsl: bool,
    /// Pointer registers into values that the translation of WGSL keeps in memory to index them.
    pub(crate) kept: BTreeSet<Reg>,
    /// The flags that hold for bit-preserving operations, by format.
    pub(crate) copied: Vec<(Fmt, FastMath)>,
    /// Whether subgroups may have varying sizes, and must be full if they can be: the module is one of SPIR-V 1.6 or later.
    pub(crate) varies: bool,
    /// `MaximallyReconvergesKHR`: who runs a subgroup instruction together follows from the structure.
    pub(crate) reconverges: bool,
    /// Whether it has instructions that several invocations execute together.
    pub(crate) tangled: bool,
    /// Registers of what is decorated `NonUniform`.
    pub(crate) non_uniform: BTreeSet<Reg>,
    /// Registers of pointers into arrays of push constants, at indices that are no constants.
    pub(crate) pushed: BTreeSet<Reg>,
    /// What accesses to images without a format take their texels for, by instruction.
    pub(crate) unformatted: BTreeMap<Index, Numbers>,
    /// `TileShadingQCOM`.
    pub(crate) tiled: bool,
    /// `TileShadingRateQCOM`.
    pub(crate) rate: Option<[u32; 3]>,
    /// Of a kernel, its parameters.
    pub(crate) parameters: Option<Vec<Parameter>>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) reg: Reg,
    /// The scalars of a value, as they stand in memory; `None` of a pointer.
    pub(crate) leaves: Option<Vec<Leaf>>,
}

/// Memory that a program names, by the numbers that pointers count it with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pub(crate) kind: ObjectKind,
    /// Its first number, and how many it has: descriptors of an array.
    pub(crate) first: u64,
    pub(crate) count: u64,
    /// Whether the shader may write it.
    pub(crate) writable: bool,
    /// Whether its variable is decorated `Aliased`.
    pub(crate) aliased: bool,
    /// Whether it is a tile attachment.
    pub(crate) tile: bool,
    /// How one of its descriptors may be chosen, if it has descriptors.
    pub(crate) choice: Option<Choice>,
    /// What an image type says of the view that is bound.
    pub(crate) image: Option<(Dim, ImageFormat)>,
}

/// How a descriptor of an array may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// What the descriptors are.
    pub(crate) of: Descriptors,
    /// Whether the capability is declared by which invocations of a subgroup may choose different ones.
    pub(crate) allowed: bool,
}

/// Kinds of descriptors that have a capability for choosing among them non-uniformly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Descriptors {
    UniformBuffers,
    SampledImages,
    StorageBuffers,
    StorageImages,
    UniformTexelBuffers,
    StorageTexelBuffers,
}

impl Descriptors {
    /// The number of the rule that wants the capability.
    pub(crate) const fn rule(self) -> &'static str {
        match self {
            Descriptors::UniformBuffers => "10134",
            Descriptors::SampledImages => "10135",
            Descriptors::StorageBuffers => "10136",
            Descriptors::StorageImages => "10137",
            Descriptors::UniformTexelBuffers => "10139",
            Descriptors::StorageTexelBuffers => "10140",
        }
    }

    /// The same where a subgroup is one invocation.
    pub(crate) const fn rule_alone(self) -> &'static str {
        match self {
            Descriptors::UniformBuffers => "10141",
            Descriptors::SampledImages => "10142",
            Descriptors::StorageBuffers => "10143",
            Descriptors::StorageImages => "10144",
            Descriptors::UniformTexelBuffers => "10146",
            Descriptors::StorageTexelBuffers => "10147",
        }
    }

    /// The capability.
    pub(crate) const fn capability(self) -> Capability {
        match self {
            Descriptors::UniformBuffers => Capability::UniformBufferArrayNonUniformIndexing,
            Descriptors::SampledImages => Capability::SampledImageArrayNonUniformIndexing,
            Descriptors::StorageBuffers => Capability::StorageBufferArrayNonUniformIndexing,
            Descriptors::StorageImages => Capability::StorageImageArrayNonUniformIndexing,
            Descriptors::UniformTexelBuffers => Capability::UniformTexelBufferArrayNonUniformIndexing,
            Descriptors::StorageTexelBuffers => Capability::StorageTexelBufferArrayNonUniformIndexing,
        }
    }
}

/// What a shader takes texels for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    Float,
    /// Integers, by their bits in the shader.
    Int {
        wide: bool,
        signed: bool,
    },
}

impl std::fmt::Display for Numbers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Numbers::Float => "floats",
            Numbers::Int { wide: false, signed: false } => "unsigned integers",
            Numbers::Int { wide: false, signed: true } => "signed integers",
            Numbers::Int { wide: true, signed: false } => "unsigned integers of 64 bits",
            Numbers::Int { wide: true, signed: true } => "signed integers of 64 bits",
        })
    }
}

/// What memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Push,
    Workgroup,
    Binding(Slot),
}

impl Program {
    /// Translates the compute entry point or kernel `entry` of a module, with these specialisation constants.
    ///
    /// # Errors
    /// There is no such entry point, the module holds what the interpreter does not implement (named with its place),
    /// or what no valid module has.
    pub fn new(module: &Module, entry: &str, spec: &SpecValues) -> Result<Program, ProgramError> {
        Program::under(Rules::Vulkan, module, entry, spec)
    }

    /// The same, judged by the accuracy rules of WGSL, if these are given, wherever an instruction is the counterpart of an expression of
    /// WGSL. All else means what SPIR-V says.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn under(rules: Rules, module: &Module, entry: &str, spec: &SpecValues) -> Result<Program, ProgramError> {
        crate::decode::program(rules, false, module, entry, spec)
    }

    /// The same of a module that is a translation of WGSL as it is written. Beside WGSL's accuracy rules, what WGSL says holds where SPIR-V
    /// says nothing or less:
    ///
    /// * "The number of bits to shift is the value of e2, modulo the bit width of e1";
    /// * `textureStore` of integers takes the nearest that the format has ("Channel Formats"), and "will not be executed" outside a texture,
    ///   where `textureLoad` gives one of several values;
    /// * an index outside a value gives an "indeterminate value", which may decide a branch;
    /// * floats that `bitcast`, `transpose` and copies between invocations pass on may be flushed, and are assumed to be finite ("Differences
    ///   from IEEE-754").
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn of_wgsl(module: &Module, entry: &str, spec: &SpecValues) -> Result<Program, ProgramError> {
        crate::decode::program(Rules::Wgsl, true, module, entry, spec)
    }

    /// The entry point's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The size of a workgroup, specialised.
    pub fn workgroup_size(&self) -> [u32; 3] {
        self.size
    }

    /// The block of texels of an invocation, where the entry point has a `TileShadingRateQCOM`.
    pub fn tile_shading_rate(&self) -> Option<[u32; 3]> {
        self.rate
    }

    /// The descriptors that the entry point names: each binding's first, and how many it may have.
    pub fn bindings(&self) -> impl Iterator<Item = (Slot, u64)> {
        self.objects.iter().filter_map(|object| match object.kind {
            ObjectKind::Binding(slot) => Some((slot, object.count)),
            ObjectKind::Push | ObjectKind::Workgroup => None,
        })
    }

    /// The sizes that the subgroups of a dispatch may have where their layout is not known: Vulkan, "Varying Subgroup Size". All
    /// of a dispatch have the same.
    pub fn subgroup_sizes(&self, dispatch: &Dispatch) -> Vec<u32> {
        match dispatch.subgroup_sizes {
            Some([least, greatest]) if self.varies => {
                let usual = dispatch.subgroup_size;
                let may = |size: &u32| (least..=greatest).contains(size) || *size == usual;
                (0..=7).map(|power| 1 << power).filter(may).collect()
            }
            _ => vec![dispatch.subgroup_size],
        }
    }

    /// Whether subgroups must be full in workgroups of that size, where they have `subgroup_size` invocations: Vulkan, "Full Subgroups".
    pub fn needs_full_subgroups(&self, workgroup: [u32; 3], subgroup_size: u32) -> bool {
        self.varies && workgroup[0].is_multiple_of(subgroup_size)
    }

    /// Interprets a dispatch.
    ///
    /// # Errors
    /// Nothing is bound where the shader reads or writes, or the dispatch exceeds a limit. Undefined behaviour of the
    /// shader is no error but in the outcome.
    pub fn run(&self, dispatch: &Dispatch, limits: &Limits) -> Result<Outcome, RunError> {
        crate::run::run(self, dispatch, limits)
    }
}
