//! Programs: shaders translated for the interpreter.

use crate::control_flow::Function;
use crate::dispatch::{Dispatch, Limits, Slot, SpecValues};
use crate::error::{Place, ProgramError, RunError};
use crate::float_op::FloatOp;
use crate::inst::{Inst, Reg};
use crate::outcome::Outcome;
use crate::possible_values::PossibleValues;
use crate::ty::{Fmt, Kind, Leaf};
use assay_precision::{FastMath, Specification};
use assay_spirv::Module;
use assay_spirv::module::InstructionIndex;
use assay_spirv::tables::{BuiltIn, Capability, Dim, ImageFormat};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A compute entry point or a kernel, specialised and translated for the interpreter.
#[derive(Debug)]
pub struct Program {
    pub(crate) name: String,
    pub(crate) size: [u32; 3],
    /// The kind of each register.
    pub(crate) kinds: Vec<Kind>,
    pub(crate) code: Vec<Inst>,
    /// The place in the module of each instruction of `code`.
    pub(crate) at: Vec<Place>,
    /// Instructions executed once: constants.
    pub(crate) setup: Vec<Inst>,
    pub(crate) setup_at: Vec<Place>,
    /// Instructions that every workgroup begins with: private variables.
    pub(crate) fresh: Vec<Inst>,
    pub(crate) functions: Vec<Function>,
    pub(crate) entry: u32,
    /// Registers of invocation-local variables: first register, and number of registers.
    pub(crate) locals: Vec<(Reg, u32)>,
    pub(crate) objects: Vec<Object>,
    pub(crate) workgroup_bytes: u64,
    /// Workgroup memory that is initialised to zero: offset and size in bytes.
    pub(crate) zeroed: Vec<(u64, u64)>,
    pub(crate) builtins: Vec<(BuiltIn, Reg, u32)>,
    pub(crate) float_ops: Vec<FloatOp>,
    /// Set if the module is a translation of WGSL with the semantics of WGSL: see
    /// [`Program::of_wgsl`].
    pub(crate) wgsl: bool,
    /// Registers of pointers into values that the translation of WGSL keeps in memory to index
    /// them.
    pub(crate) kept: BTreeSet<Reg>,
    /// The flags of bit-preserving operations, by format.
    pub(crate) copied: Vec<(Fmt, FastMath)>,
    /// The flags of `OpBitcast`, by format.
    pub(crate) cast: Vec<(Fmt, FastMath)>,
    /// Set for SPIR-V 1.6 and later: subgroups may have varying sizes, and must be full if they can
    /// be.
    pub(crate) varies: bool,
    /// `MaximallyReconvergesKHR`: the structure determines the invocations that execute a subgroup
    /// instruction together.
    pub(crate) reconverges: bool,
    /// `Shader64BitIndexingEXT`: offsets are calculated with 64 bits.
    pub(crate) wide_offsets: bool,
    /// Set if it has instructions that several invocations execute together.
    pub(crate) tangled: bool,
    /// Registers decorated `NonUniform`.
    pub(crate) non_uniform: BTreeSet<Reg>,
    /// Registers of pointers into arrays of push constants, with indices that are not constant.
    pub(crate) pushed: BTreeSet<Reg>,
    /// The texel types that accesses to images without a format expect, by instruction.
    pub(crate) unformatted: BTreeMap<InstructionIndex, Numbers>,
    /// `TileShadingQCOM`.
    pub(crate) tiled: bool,
    /// `TileShadingRateQCOM`.
    pub(crate) rate: Option<[u32; 3]>,
    /// The parameters of a kernel; `None` for a shader.
    pub(crate) parameters: Option<Vec<Parameter>>,
    /// Registers whose values live from one block to another, in several functions or from one call to
    /// the next, ascending.
    pub(crate) carried: Vec<Reg>,
    /// Bits of integer and boolean constants.
    pub(crate) constants: HashMap<Reg, u64>,
    /// Bits that registers may have.
    pub(crate) possible: PossibleValues,
}

/// A parameter of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) reg: Reg,
    /// The scalars of a value with their layout in memory; `None` for a pointer.
    pub(crate) leaves: Option<Vec<Leaf>>,
}

/// A memory object of the program, with the numbers that pointers refer to it by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pub(crate) kind: ObjectKind,
    /// Its first number, and how many numbers it has, one for each descriptor of an array.
    pub(crate) first: u64,
    pub(crate) count: u64,
    /// Set if the shader may write it.
    pub(crate) writable: bool,
    /// Set if its variable is decorated `Aliased`.
    pub(crate) aliased: bool,
    /// Set if it is a tile attachment.
    pub(crate) tile: bool,
    /// The rule for selecting one of its descriptors, if it has descriptors.
    pub(crate) choice: Option<Choice>,
    /// The image that the type requires.
    pub(crate) image: Option<DeclaredImage>,
}

/// Properties of a bound image that an image type determines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeclaredImage {
    pub(crate) dim: Dim,
    pub(crate) format: ImageFormat,
    pub(crate) multisampled: bool,
}

/// The rule for selecting a descriptor of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The kind of the descriptors.
    pub(crate) of: Descriptors,
    /// Set if the capability is declared that allows invocations of a subgroup to select different
    /// ones.
    pub(crate) allowed: bool,
}

/// Kinds of descriptors with a capability for non-uniform selection.
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
    /// The number of the rule that requires the capability.
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

    /// The number of the rule for subgroups of one invocation.
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

    /// The capability for non-uniform selection.
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

/// The texel type that a shader expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    Float,
    /// Integers. `wide`: of 64 bits.
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

/// The kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Push,
    Workgroup,
    Binding(Slot),
}

impl Program {
    /// Translates the compute entry point or kernel `entry` of a module, with these specialisation
    /// constants.
    ///
    /// # Errors
    /// There is no such entry point, or the module has a feature that the interpreter does not
    /// implement (named with its place), or the module is not valid.
    pub fn new(module: &Module, entry: &str, spec: &SpecValues) -> Result<Program, ProgramError> {
        Program::under(Specification::Vulkan, module, entry, spec)
    }

    /// Translates an entry point like [`Program::new`]. With WGSL's rules, the accuracy of WGSL
    /// applies to every instruction with a counterpart among WGSL's expressions. Everything else
    /// has the meaning of SPIR-V.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn under(
        specification: Specification,
        module: &Module,
        entry: &str,
        spec: &SpecValues,
    ) -> Result<Program, ProgramError> {
        crate::decode::program(specification, false, module, entry, spec)
    }

    /// Translates an entry point of a module that is itself a translation of WGSL. In addition to
    /// WGSL's accuracy, the semantics of WGSL apply where those of SPIR-V are absent or weaker:
    ///
    /// * "The number of bits to shift is the value of e2, modulo the bit width of e1";
    /// * `textureStore` of integers stores the nearest value of the format ("Channel Formats"), and
    ///   "will not be executed" outside a texture, where `textureLoad` returns one of several
    ///   values;
    /// * an index out of bounds of a value gives an "indeterminate value", which may decide a
    ///   branch;
    /// * floats that `bitcast`, `transpose` and copies between invocations pass on may be flushed,
    ///   and are assumed to be finite ("Differences from IEEE-754").
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn of_wgsl(module: &Module, entry: &str, spec: &SpecValues) -> Result<Program, ProgramError> {
        crate::decode::program(Specification::Wgsl, true, module, entry, spec)
    }

    /// The entry point's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The size of a workgroup, specialised.
    pub fn workgroup_size(&self) -> [u32; 3] {
        self.size
    }

    /// The block of texels of an invocation, if the entry point has a `TileShadingRateQCOM`.
    pub fn tile_shading_rate(&self) -> Option<[u32; 3]> {
        self.rate
    }

    /// The descriptors of the entry point: the first of each binding, and the number that it may
    /// have.
    pub fn bindings(&self) -> impl Iterator<Item = (Slot, u64)> {
        self.objects.iter().filter_map(|object| match object.kind {
            ObjectKind::Binding(slot) => Some((slot, object.count)),
            ObjectKind::Push | ObjectKind::Workgroup => None,
        })
    }

    /// The sizes that the subgroups of a dispatch may have if their layout is unknown: Vulkan,
    /// "Varying Subgroup Size". All subgroups of a dispatch have the same size.
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

    /// Returns true if it has subgroup instructions or built-ins, so that results may depend on the
    /// subgroup layout.
    pub fn uses_subgroups(&self) -> bool {
        let is_laid_out = |builtin: &BuiltIn| {
            matches!(
                builtin,
                BuiltIn::NumSubgroups
                    | BuiltIn::SubgroupId
                    | BuiltIn::SubgroupLocalInvocationId
                    | BuiltIn::SubgroupEqMask
                    | BuiltIn::SubgroupGeMask
                    | BuiltIn::SubgroupGtMask
                    | BuiltIn::SubgroupLeMask
                    | BuiltIn::SubgroupLtMask
            )
        };
        self.code.iter().any(|inst| matches!(inst, Inst::Subgroup { .. }))
            || self.builtins.iter().any(|(builtin, ..)| is_laid_out(builtin))
    }

    /// Returns true if the invocations of a workgroup can be interpreted one without the others: no
    /// barrier waits for them or orders their accesses, no operation takes values of several, and they
    /// are those of a plain compute shader. Memory that they share is accessed by atomics, or by one of
    /// them alone: anything else is a data race.
    pub fn has_independent_invocations(&self) -> bool {
        let communicates = |inst: &Inst| matches!(inst, Inst::Barrier { .. } | Inst::Fence { .. });
        let is_plain = self.rate.is_none() && !self.tiled && self.parameters.is_none();
        is_plain && !self.uses_subgroups() && !self.code.iter().any(communicates)
    }

    /// Returns true if subgroups may have another size than the device's usual one: Vulkan,
    /// "Varying Subgroup Size".
    pub fn varies_subgroup_size(&self) -> bool {
        self.varies
    }

    /// Returns true if subgroups of `subgroup_size` invocations must be full in workgroups of that
    /// size: Vulkan, "Full Subgroups".
    pub fn needs_full_subgroups(&self, workgroup: [u32; 3], subgroup_size: u32) -> bool {
        self.varies && workgroup[0].is_multiple_of(subgroup_size)
    }

    /// Interprets a dispatch.
    ///
    /// # Errors
    /// Nothing is bound to a descriptor that the shader uses, or the dispatch exceeds a limit.
    /// Undefined behaviour of the shader is not an error; it is reported in the outcome.
    pub fn run(&self, dispatch: &Dispatch, limits: &Limits) -> Result<Outcome, RunError> {
        crate::run::run(self, dispatch, limits)
    }
}
