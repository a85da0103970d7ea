//! Kernels with `SPV_INTEL_bindless_images` in core SPIR-V, as compute shaders of Vulkan.
//!
//! * Images, samplers and sampled images become numbers of descriptors, so that they may be chosen, passed and kept in variables
//!   as in the kernel. A handle is converted by a function that compares it with all handles that there are.
//! * What uses an image becomes a call of a function that chooses the descriptor: from an array that is indexed and decorated
//!   `NonUniform`, or with a case for each where a device cannot index arrays of images ([`Indexing`]).
//! * A read of an image that is not written becomes a fetch; texels have the components' type of their format.
//! * Pointer arguments become storage buffers, values push constants, as the caller says ([`KernelCall`]).
//! * Built-ins have 32 bits in Vulkan, and are widened. `ContractionOff` becomes `NoContraction`.
//!
//! A handle that names nothing is undefined: it is taken for the first here, and is never to be sent. Kernels whose control flow is not
//! structured, that pass pointers on, or use instructions of OpenCL alone are refused by name.

mod body;
mod builder;
mod images;
mod interface;
mod uses;

use super::{LowerError, entry_point};
use crate::Module;
use crate::grammar::Version;
use crate::kernel::KernelCall;
use crate::module::{Section, Type};
use crate::reflect::Modes;
use crate::tables::{AddressingModel, Capability, ExecutionMode, ExecutionModel, Op};
use crate::words::MAX_ID;
use builder::Builder;
use images::Images;
use interface::{Built, Origin};
use std::collections::{BTreeMap, BTreeSet};

/// How a descriptor of an array is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Indexing {
    /// By an index that may differ between invocations, in an array that is as long as the layout says.
    Runtime,
    /// By an index that may differ between invocations, in an array of fixed length.
    NonUniform,
    /// By a case for each: every index is a constant, which every device has.
    Switch,
}

impl Indexing {
    /// Whether arrays are indexed.
    fn indexes(self) -> bool {
        match self {
            Indexing::Runtime | Indexing::NonUniform => true,
            Indexing::Switch => false,
        }
    }
}

/// Lowers a kernel that is called like that.
///
/// # Errors
/// The module is no kernel with handles, has several entry points or no `LocalSize`; the call does not fit it, or gives descriptors
/// of several types one binding; or it does what this lowering does not rewrite.
pub fn lower(module: &Module, call: &KernelCall, how: Indexing) -> Result<Vec<u32>, LowerError> {
    let declared =
        module.section(Section::Capabilities).any(|i| i.operand(0) == Some(Capability::BindlessImagesINTEL.word()));
    if !declared {
        return Err(LowerError::NothingToDo(Capability::BindlessImagesINTEL));
    }
    if module.header().bound > MAX_ID {
        return Err(LowerError::NotLowered { what: format!("an id bound above {MAX_ID}"), at: 3 });
    }
    call.check().map_err(|error| LowerError::Call(error.to_string()))?;
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
        images: Images::new(call, how, width)?,
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
    // The first version that has NonUniform.
    let version = Version { major: 1, minor: 5 };
    Ok(pass.builder.finish(version, &name, function, ExecutionModel::GLCompute.word()))
}

/// A kernel that is being lowered.
struct Pass<'a> {
    builder: Builder<'a>,
    images: Images,
    call: &'a KernelCall,
    /// The word of the kernel's function.
    function: u32,
    /// Whether sums and products may be contracted.
    contracts: bool,
    /// Where pointers of the kernel come from.
    origins: BTreeMap<u32, Origin>,
    /// Variables that are built-ins.
    built: BTreeMap<u32, Built>,
    /// Parameters that are values, as members of the push constants.
    values: Vec<interface::Value>,
    /// The variable of push constants.
    push: Option<u32>,
    /// Types that have their layout.
    laid_out: BTreeSet<u32>,
}

impl Pass<'_> {
    /// Execution modes; what else the module declares of capabilities follows from what it uses.
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
                    return Err(LowerError::NotLowered { what: format!("execution mode {what}"), at: mode.at });
                }
            }
        }
        Ok(())
    }

    /// An integer as an index of 32 bits.
    fn index(&mut self, code: &mut builder::Code, word: u32) -> u32 {
        let module = self.builder.module;
        let now = self.builder.now(word);
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

/// Whether a constant has the value that it says, whatever is specialised.
fn is_plain(module: &Module, word: u32) -> bool {
    module.definition_of_word(word).is_some_and(|i| matches!(i.op, Some(Op::Constant | Op::ConstantNull)))
}
