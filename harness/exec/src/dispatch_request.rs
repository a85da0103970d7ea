//! One dispatch of a module: what a target is given, and what it returns.

use crate::{Descriptor, SpecValue, SubgroupControl};
use assay_oracle::{Dispatch, Slot};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// A shader in WGSL, with values for its `override`s.
#[derive(Clone, Copy, Debug)]
pub struct Wgsl<'a> {
    /// WGSL text.
    pub text: &'a str,
    /// Values by the number of the `@id`, or else by the identifier.
    pub overrides: &'a [(String, f64)],
}

/// One dispatch of a module.
#[derive(Clone, Copy, Debug)]
pub struct DispatchRequest<'a> {
    /// WGSL text of the shader, for targets that take WGSL; `None` if it was written in another
    /// language.
    pub wgsl: Option<Wgsl<'a>>,
    /// SPIR-V words of the module.
    pub words: &'a [u32],
    /// Name of the entry point.
    pub entry: &'a str,
    /// Values of specialisation constants.
    pub specs: &'a [SpecValue],
    /// Subgroup options of the pipeline.
    pub subgroup_control: SubgroupControl,
    /// Descriptors that the shader uses.
    pub descriptors: &'a [Descriptor],
    /// Contents of the bindings, and the number of workgroups.
    pub dispatch: &'a Dispatch,
    /// Memory from [`Target::allocate`](crate::Target::allocate), if the contents include its device
    /// addresses.
    pub allocated: Option<&'a AllocatedDispatch>,
}

/// Memory that a target has allocated for a dispatch, so that the device addresses of its buffers
/// are known beforehand.
pub struct AllocatedDispatch {
    /// Device address of every buffer without a descriptor.
    pub addresses: BTreeMap<Slot, u64>,
    /// State of the target that allocated it.
    memory: Option<Box<dyn Any + Send + Sync>>,
}

impl AllocatedDispatch {
    /// Returns a value with these addresses, for targets that keep no other state for the memory.
    pub fn at(addresses: BTreeMap<Slot, u64>) -> AllocatedDispatch {
        AllocatedDispatch { addresses, memory: None }
    }

    /// Returns a value with these addresses and the target's own state.
    pub fn with_memory(addresses: BTreeMap<Slot, u64>, memory: impl Any + Send + Sync) -> AllocatedDispatch {
        AllocatedDispatch { addresses, memory: Some(Box::new(memory)) }
    }

    /// Returns the state that a target has kept; `None` if another target allocated the memory.
    pub fn memory<M: Any>(&self) -> Option<&M> {
        self.memory.as_ref()?.downcast_ref()
    }
}

impl fmt::Debug for AllocatedDispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AllocatedDispatch").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

/// Output of a dispatch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DispatchOutput {
    /// Contents of every storage buffer, storage image and storage texel buffer; images as in
    /// [`assay_oracle::Image::data`].
    pub memory: BTreeMap<Slot, Vec<u8>>,
    /// Time that the driver took to compile the shader; zero if it had compiled it before.
    pub compile: Duration,
    /// Time that the dispatch took, including copies.
    pub duration: Duration,
}
