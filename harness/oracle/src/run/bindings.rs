//! Resources of a dispatch, as what the shader's pointers and handles name.

use super::kernel;
use crate::dispatch::{Image, Slot};
use assay_texture::Sampler;
use std::collections::BTreeSet;

/// Names of the memory objects of a run, and the resources behind them.
#[derive(Debug, Default)]
pub(crate) struct Bindings<'a> {
    /// Indices in `objects` by number; `u32::MAX` where nothing is bound.
    pub(crate) numbers: Vec<u32>,
    /// The images among the objects.
    pub(crate) images: Vec<Option<&'a Image>>,
    /// The objects that are tile attachments.
    pub(crate) attachments: BTreeSet<usize>,
    /// The samplers among the objects, alone or combined with an image.
    pub(crate) samplers: Vec<Option<&'a Sampler>>,
    /// The objects that a kernel's handles name.
    pub(crate) handles: kernel::Handles,
    /// Buffers with device addresses: first address, size in bytes, number.
    pub(crate) addresses: Vec<(u64, u64, u64)>,
    /// Buffers that are only reached by address: their slots and numbers.
    pub(crate) pointed: Vec<(Slot, u64)>,
}
