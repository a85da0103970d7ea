//! Lowering of kernels with `SPV_INTEL_bindless_images` to compute shaders in core SPIR-V.
//!
//! * Images, samplers and sampled images become descriptor numbers, which can be selected, passed
//!   and stored as in the kernel. A handle is converted by a function that compares it with all
//!   known handles.
//! * An instruction on an image becomes a call of a function that selects the descriptor: from an
//!   array with an index decorated `NonUniform`, or by a switch for devices that cannot index
//!   arrays of images ([`DescriptorIndexing`]).
//! * A read of an image that is not written becomes a fetch. Texels have the component type of
//!   their format.
//! * Pointer arguments become storage buffers, values become push constants, as the [`KernelCall`]
//!   determines.
//! * Built-ins have 32 bits in Vulkan, and are extended. `ContractionOff` becomes `NoContraction`.
//!
//! The behaviour of an unknown handle is undefined; here it selects the first descriptor, and
//! callers must not pass one. Kernels with unstructured control flow, that pass pointers on, or
//! with instructions specific to OpenCL are rejected with an error that names the instruction.

mod builder;
mod descriptors;
mod function_body;
mod image_functions;
mod kernel_interface;

use super::{LowerError, entry_point};
use assay_spirv::MAX_ID;
use assay_spirv::Module;
use assay_spirv::grammar::Version;
use assay_spirv::kernel_call::KernelCall;
use assay_spirv::module::{Section, Type};
use assay_spirv::reflect::Modes;
use assay_spirv::tables::{AddressingModel, Capability, ExecutionMode, ExecutionModel, Op};
use builder::Builder;
use descriptors::Descriptors;
use kernel_interface::{BuiltInVariable, PointerOrigin};
use std::collections::{BTreeMap, BTreeSet};

/// Selection of a descriptor in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DescriptorIndexing {
    /// By a non-uniform index into a run-time array.
    Runtime,
    /// By a non-uniform index into an array of fixed length.
    NonUniform,
    /// By a switch over constant indices, which every device supports.
    Switch,
}

impl DescriptorIndexing {
    /// Returns true if arrays are indexed with a variable.
    fn indexes(self) -> bool {
        match self {
            DescriptorIndexing::Runtime | DescriptorIndexing::NonUniform => true,
            DescriptorIndexing::Switch => false,
        }
    }
}

/// Lowers a kernel for a call.
///
/// # Errors
/// The module does not use handles, is not a kernel, does not have exactly one entry point, or has
/// no `LocalSize`; the call does not match it, or assigns descriptors of several types to one
/// binding; or the kernel uses something that this lowering does not support.
pub fn lower(module: &Module, call: &KernelCall, indexing: DescriptorIndexing) -> Result<Vec<u32>, LowerError> {
    let declared =
        module.section(Section::Capabilities).any(|i| i.operand(0) == Some(Capability::BindlessImagesINTEL.word()));
    if !declared {
        return Err(LowerError::UnusedExtension(Capability::BindlessImagesINTEL));
    }
    if module.header().bound > MAX_ID {
        return Err(LowerError::Unsupported { what: format!("an id bound above {MAX_ID}"), at: 3 });
    }
    call.check().map_err(|error| LowerError::InvalidCall(error.to_string()))?;
    let entry = entry_point(module)?;
    if entry.operand(0) != Some(ExecutionModel::Kernel.word()) {
        return Err(LowerError::at(entry, "handles outside kernels"));
    }
    let model = module.section(Section::MemoryModel).next();
    let model = model.and_then(|i| i.operand(0)).and_then(AddressingModel::from_word);
    let width = match model {
        Some(AddressingModel::Physical32) => 32,
        Some(AddressingModel::Physical64) => 64,
        _ => return Err(LowerError::at(entry, "a kernel without addressing model Physical32 or Physical64")),
    };
    let function = entry.operand(1).unwrap_or_default();
    let mut pass = Pass {
        builder: Builder::new(module),
        descriptors: Descriptors::new(call, indexing, width)?,
        call,
        function,
        contracts: true,
        origins: BTreeMap::new(),
        built: BTreeMap::new(),
        values: Vec::new(),
        push: None,
        laid_out: BTreeSet::new(),
    };
    pass.modes()?;
    pass.globals()?;
    pass.parameters()?;
    for function in module.functions() {
        pass.function(function)?;
    }
    pass.annotations()?;
    let name = module.string_at(entry, 2);
    // The first version with NonUniform.
    let version = Version { major: 1, minor: 5 };
    Ok(pass.builder.finish(version, &name, function, ExecutionModel::GLCompute.word()))
}

/// State of the lowering of a kernel.
struct Pass<'a> {
    builder: Builder<'a>,
    descriptors: Descriptors,
    call: &'a KernelCall,
    /// Raw id of the kernel's function.
    function: u32,
    /// Set if sums and products may be contracted.
    contracts: bool,
    /// Origins of the kernel's pointers.
    origins: BTreeMap<u32, PointerOrigin>,
    /// Variables that are built-ins.
    built: BTreeMap<u32, BuiltInVariable>,
    /// Parameters that are values, as members of the push constants.
    values: Vec<kernel_interface::ValueParameter>,
    /// The push constant variable.
    push: Option<u32>,
    /// Types that have been decorated with a layout.
    laid_out: BTreeSet<u32>,
}

impl Pass<'_> {
    /// Converts the execution modes. Capabilities are not converted, but declared for the features
    /// in use.
    fn modes(&mut self) -> Result<(), LowerError> {
        let module = self.builder.module;
        let modes = Modes::new(module);
        let Some(size) = modes.workgroup_size(module, self.function).filter(|size| size.spec_ids == [None; 3]) else {
            let entry = entry_point(module)?;
            return Err(LowerError::at(entry, "a kernel without LocalSize"));
        };
        let [x, y, z] = size.size;
        self.builder.mode(&[self.function, ExecutionMode::LocalSize.word(), x, y, z]);
        for mode in modes.of(self.function) {
            match mode.mode {
                Some(ExecutionMode::LocalSize | ExecutionMode::VecTypeHint | ExecutionMode::LocalSizeHint) => {}
                Some(ExecutionMode::ContractionOff) => self.contracts = false,
                other => {
                    let what = other.map_or("an unknown execution mode", ExecutionMode::name);
                    return Err(LowerError::Unsupported { what: format!("execution mode {what}"), at: mode.at });
                }
            }
        }
        Ok(())
    }

    /// Returns an integer as an index of 32 bits.
    fn index(&mut self, code: &mut builder::Code, word: u32) -> u32 {
        let module = self.builder.module;
        let now = self.builder.resolve(word);
        match module.type_of(word).map(|ty| module.ty(ty)) {
            Some(Type::Int { width: 64, .. }) => match module.constant_int(word) {
                Some(value) if is_plain(module, word) => self.builder.number(value as u32),
                _ => {
                    let uint = self.builder.uint(32);
                    code.op(&mut self.builder, Op::UConvert, uint, &[now])
                }
            },
            _ => now,
        }
    }
}

/// Returns true for a constant that cannot be specialised.
fn is_plain(module: &Module, word: u32) -> bool {
    module.definition_of(word).is_some_and(|i| matches!(i.op, Some(Op::Constant | Op::ConstantNull)))
}
