//! Dispatch-wise interface: runs dispatches of a shader.

use crate::{
    AllocatedDispatch, DispatchOutput, DispatchRequest, SeriesRequest, SeriesWork, TargetError, TilePass,
    TilePassOutput,
};
use assay_events::DeviceInfo;
use assay_precision::Specification;
use assay_spirv_rules::requirements::DeviceCaps;
use std::ops::Deref;
use std::time::Duration;

/// Returns the longest time that a driver may take to compile a shader, where a dispatch may take
/// `dispatch`. No specification limits the former: some drivers take minutes for a long shader.
pub fn compile_limit(dispatch: Duration) -> Duration {
    5 * dispatch
}

/// An implementation that runs dispatches.
pub trait Target {
    /// Returns a description of the device.
    fn info(&self) -> &DeviceInfo;

    /// Returns the specification whose accuracy rules apply.
    fn rules(&self) -> Specification {
        if self.info().api == DeviceInfo::API_WGPU { Specification::Wgsl } else { Specification::Vulkan }
    }

    /// Returns the device's features and limits.
    fn capabilities(&self) -> &DeviceCaps;

    /// Announces that the following dispatches belong to a round. `excuse` is the reason, as a clause, why
    /// the end of the driver would not be a fault of the device: `the shader may have undefined behaviour
    /// at a.comp:7`.
    fn begin_round(&self, _round: u32, _excuse: Option<&str>) {}

    /// Allocates the memory of a dispatch with device addresses, in the sizes of its contents.
    /// Words that hold addresses need not be valid yet. The result goes into
    /// [`DispatchRequest::allocated`] of the same dispatch.
    ///
    /// # Errors
    /// [`TargetError::Unsupported`] if device addresses are not supported; otherwise as
    /// [`Target::run`].
    fn allocate(&self, _request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        Err(TargetError::Unsupported("device addresses of buffers are not supported".to_owned()))
    }

    /// Clears workgroup memory as far as possible. Otherwise a dispatch may find data of earlier
    /// dispatches there, which another process would not reproduce.
    fn clear_workgroup_memory(&self) {}

    /// Runs a dispatch of a legal module that the device supports.
    ///
    /// # Errors
    /// The dispatch failed, lost the device, or exceeded the time limit; or the driver compiled the
    /// shader for longer than [`compile_limit`].
    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError>;

    /// Prepares a series of dispatches and calls `work` with it once.
    ///
    /// # Errors
    /// As [`Target::run`], or the error of `work`; [`TargetError::Unsupported`] if the target has
    /// no series.
    fn run_series(&self, series: &SeriesRequest<'_>, _work: &mut SeriesWork<'_>) -> Result<(), TargetError> {
        Err(TargetError::Unsupported(format!("{} requires a Vulkan device", series.during)))
    }

    /// Runs a render pass with tile shading (`VK_QCOM_tile_shading`).
    ///
    /// # Errors
    /// As [`Target::run`]; [`TargetError::Unsupported`] if the target has no render passes.
    fn run_tile_pass(&self, _pass: &TilePass<'_>) -> Result<TilePassOutput, TargetError> {
        Err(TargetError::Unsupported(format!("{} requires a Vulkan device", TilePass::DURING)))
    }
}

/// References and boxes.
impl<P: Deref> Target for P
where
    P::Target: Target,
{
    fn info(&self) -> &DeviceInfo {
        (**self).info()
    }

    fn capabilities(&self) -> &DeviceCaps {
        (**self).capabilities()
    }

    fn begin_round(&self, round: u32, excuse: Option<&str>) {
        (**self).begin_round(round, excuse);
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        (**self).allocate(request)
    }

    fn clear_workgroup_memory(&self) {
        (**self).clear_workgroup_memory();
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        (**self).run(request)
    }

    fn run_series(&self, series: &SeriesRequest<'_>, work: &mut SeriesWork<'_>) -> Result<(), TargetError> {
        (**self).run_series(series, work)
    }

    fn run_tile_pass(&self, pass: &TilePass<'_>) -> Result<TilePassOutput, TargetError> {
        (**self).run_tile_pass(pass)
    }
}
