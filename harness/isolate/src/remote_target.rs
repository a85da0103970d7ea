//! The target of a device on another machine.

use crate::{
    remote_device::{RemoteDevice, RemoteObject},
    target_call::{SentPass, SentRequest, TargetCall},
};
use assay_events::DeviceInfo;
use assay_exec::{
    AllocatedDispatch, DispatchOutput, DispatchRequest, DispatchSeries, SeriesRequest, SeriesWork, SubgroupControl,
    Target, TargetError, TilePass, TilePassOutput,
};
use assay_oracle::Dispatch;
use assay_spirv_rules::requirements::DeviceCaps;
use std::sync::{Mutex, PoisonError};

/// The device for one case. Its worker announces the calls into the driver, as
/// [`AnnouncedTarget`](assay_exec::AnnouncedTarget) does.
pub struct RemoteTarget<'a, D> {
    device: &'a RemoteDevice,
    case: &'a str,
    /// Describes a dispatch, given its round.
    describe: D,
    /// The current round, and a description of undefined behaviour that it may have.
    round: Mutex<(u32, Option<String>)>,
}

impl<'a, D: Fn(u32) -> String> RemoteTarget<'a, D> {
    /// Returns the target for a case. `describe` is called before each dispatch of [`Target::run`] with its
    /// round, and returns its description.
    pub fn new(device: &'a RemoteDevice, case: &'a str, describe: D) -> Self {
        RemoteTarget { device, case, describe, round: Mutex::default() }
    }
}

impl<D: Fn(u32) -> String> Target for RemoteTarget<'_, D> {
    fn info(&self) -> &DeviceInfo {
        self.device.description()
    }

    fn capabilities(&self) -> &DeviceCaps {
        self.device.capabilities()
    }

    fn begin_round(&self, round: u32, excuse: Option<&str>) {
        *self.round.lock().unwrap_or_else(PoisonError::into_inner) = (round, excuse.map(str::to_owned));
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        let object = self.device.object();
        let call = TargetCall::Allocate { memory: object.number(), request: SentRequest::of(request) };
        let addresses = self.device.call_target(self.case, &call)?;
        Ok(AllocatedDispatch::with_memory(addresses, object))
    }

    /// Failures show in the next dispatch.
    fn clear_workgroup_memory(&self) {
        let _cleared: Result<(), TargetError> = self.device.call_target(self.case, &TargetCall::ClearWorkgroupMemory);
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        let (round, excuse) = self.round.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let object = request.allocated.and_then(AllocatedDispatch::memory::<RemoteObject>);
        let (memory, request) = (object.map(RemoteObject::number), SentRequest::of(request));
        let call = TargetCall::Run { doing: (self.describe)(round), excuse, memory, request };
        self.device.call_target(self.case, &call)
    }

    /// Runs each dispatch of the series by itself.
    fn run_series(&self, series: &SeriesRequest<'_>, work: &mut SeriesWork<'_>) -> Result<(), TargetError> {
        work(&mut SingleDispatches { target: self, series })
    }

    fn run_tile_pass(&self, pass: &TilePass<'_>) -> Result<TilePassOutput, TargetError> {
        self.device.call_target(self.case, &TargetCall::TilePass(SentPass::of(pass)))
    }
}

/// A series whose dispatches run by themselves.
struct SingleDispatches<'a, D> {
    target: &'a RemoteTarget<'a, D>,
    series: &'a SeriesRequest<'a>,
}

impl<D: Fn(u32) -> String> DispatchSeries for SingleDispatches<'_, D> {
    fn run(&mut self, module: usize, dispatch: &Dispatch) -> Result<DispatchOutput, TargetError> {
        self.target.run(&DispatchRequest {
            wgsl: None,
            words: self.series.modules[module].words,
            entry: "main",
            specs: &[],
            subgroup_control: SubgroupControl::default(),
            descriptors: self.series.descriptors,
            dispatch,
            allocated: None,
        })
    }
}
