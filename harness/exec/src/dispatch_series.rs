//! Repeated dispatches of several modules over the same descriptors.

use crate::{Descriptor, DispatchOutput, TargetError};
use assay_oracle::Dispatch;

/// A module of a series; its entry point is `main`.
#[derive(Clone, Copy, Debug)]
pub struct SeriesModule<'a> {
    /// SPIR-V words.
    pub words: &'a [u32],
    /// Size of its push constants in bytes.
    pub push_constants: u32,
}

/// Modules and descriptors whose pipelines and memory exist once, for any number of dispatches.
#[derive(Clone, Copy, Debug)]
pub struct SeriesRequest<'a> {
    /// Purpose of the series, for errors.
    pub during: &'static str,
    /// The modules.
    pub modules: &'a [SeriesModule<'a>],
    /// Descriptors that all modules share.
    pub descriptors: &'a [Descriptor],
    /// A dispatch whose contents have the sizes of all others.
    pub dispatch: &'a Dispatch,
}

/// A prepared series.
pub trait DispatchSeries {
    /// Runs the module of that index with the contents of a dispatch.
    ///
    /// # Errors
    /// As [`Target::run`](crate::Target::run).
    fn run(&mut self, module: usize, dispatch: &Dispatch) -> Result<DispatchOutput, TargetError>;
}

/// Work with a prepared series.
pub type SeriesWork<'a> = dyn FnMut(&mut dyn DispatchSeries) -> Result<(), TargetError> + 'a;
