//! Dispatch-wise interface on Vulkan.

use crate::device_info::device_info;
use crate::exec_error::exec_error;
use crate::pipeline_cache::PipelineCache;
use crate::resources::{resources, robustness_features, slot_of, spec_constant};
use crate::tile_pass;
use crate::workgroup_memory::{CLEARING_GROUPS, clearing_module};
use assay_events::DeviceInfo;
use assay_exec::{
    AllocatedDispatch, Descriptor, DispatchOutput, DispatchRequest, DispatchSeries, ExecError, SeriesModule,
    SeriesRequest, SeriesWork, SubgroupControl, Target, TargetError, TilePass, TilePassOutput, compile_limit,
};
use assay_oracle::{Dispatch, Resource as Bound};
use assay_spirv_rules::requirements::DeviceCaps;
use assay_vulkan::{
    BindingLayout, Bindings, Device, DeviceOptions, DispatchSlot, Error, PhysicalDevice, Pipeline, PipelineDesc,
    Resource, ResourceSpec, Severity, SpecConstant,
};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A Vulkan device, which several threads may use at once.
pub struct VulkanTarget {
    physical: PhysicalDevice,
    /// Open devices by the features enabled besides the default ones. Cleared after a lost device
    /// or a timeout, so that devices are opened again.
    devices: Mutex<BTreeMap<BTreeSet<String>, Device>>,
    pipelines: Mutex<PipelineCache>,
    info: DeviceInfo,
    caps: DeviceCaps,
    time_limit: Duration,
    validation: bool,
}

/// Memory of a dispatch on a Vulkan device.
struct DeviceMemory {
    device: Device,
    resources: Vec<ResourceSpec>,
    slot: DispatchSlot,
}

const PIPELINE: &str = "building the pipeline";
const COMPILING: &str = "compiling the shader";

impl VulkanTarget {
    /// Opens a device. It is opened again after a dispatch that loses it or does not finish.
    ///
    /// # Errors
    /// The device cannot be opened.
    pub fn new(physical: &PhysicalDevice, time_limit: Duration, validation: bool) -> Result<VulkanTarget, Error> {
        let device = Device::open(physical, &DeviceOptions::default())?;
        let (info, caps) = (device_info(physical), device.capabilities().device_caps());
        let (physical, devices) = (physical.clone(), Mutex::new([(BTreeSet::new(), device)].into()));
        Ok(VulkanTarget { physical, devices, pipelines: Mutex::default(), info, caps, time_limit, validation })
    }

    /// Returns the device with these features enabled besides the default ones.
    fn device(&self, with: BTreeSet<String>) -> Result<Device, Error> {
        let mut devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        match devices.entry(with) {
            Entry::Occupied(device) => Ok(device.get().clone()),
            Entry::Vacant(place) => {
                let options = DeviceOptions { with: place.key().clone(), ..DeviceOptions::default() };
                let opened = Device::open(&self.physical, &options)?;
                Ok(place.insert(opened).clone())
            }
        }
    }

    /// Returns the first error that the validation layer has reported.
    fn validation_errors(&self, device: &Device) -> Result<(), Error> {
        if !self.validation {
            return Ok(());
        }
        let messages = device.take_validation_messages();
        match messages.iter().find(|message| message.severity == Severity::Error) {
            Some(message) => Err(Error::Invalid { what: format!("error of the validation layer: {message}") }),
            None => Ok(()),
        }
    }

    fn target_error(&self, error: Error, during: &'static str) -> TargetError {
        if let Error::NotSupported { .. } = error {
            return TargetError::Unsupported(error.to_string());
        }
        if matches!(error, Error::DeviceLost { .. } | Error::Timeout { .. }) {
            self.devices.lock().unwrap_or_else(PoisonError::into_inner).clear();
            self.pipelines().clear();
        }
        TargetError::Failed(match exec_error(error, during) {
            // A driver that rejects a legal module is at fault.
            ExecError::Internal(what) if during == PIPELINE => ExecError::Pipeline(what),
            other => other,
        })
    }

    fn compute(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, (Error, &'static str)> {
        let resources = resources(request.descriptors, request.dispatch);
        let layout = BindingLayout::of(&resources).map_err(|error| (error, "laying out bindings"))?;
        let mut made = None;
        let mut kept = request
            .allocated
            .and_then(AllocatedDispatch::memory::<Mutex<DeviceMemory>>)
            .map(|memory| memory.lock().unwrap_or_else(PoisonError::into_inner));
        let memory = match &mut kept {
            Some(held) => &mut **held,
            None => made.insert(self.allocate(request.descriptors, request.dispatch, resources)?),
        };
        let specialization: Vec<SpecConstant> =
            request.specs.iter().map(|spec| spec_constant(spec.id, spec.width, spec.bits)).collect();
        let description = PipelineDesc {
            entry: request.entry,
            bindings: Bindings::Listed(&layout),
            push_constants: request.dispatch.push_constants.len() as u32,
            specialization: &specialization,
            subgroup_size: request.subgroup_control.size,
            full_subgroups: request.subgroup_control.full,
            ..PipelineDesc::new(request.words, 0)
        };
        let started = Instant::now();
        let known = self.pipelines().get(&memory.device, &description);
        let pipeline = known.map_or_else(|| self.new_pipeline(&memory.device, &description, &layout), Ok)?;
        memory
            .slot
            .compile(&pipeline, &request.dispatch.push_constants, compile_limit(self.time_limit))
            .map_err(|error| (error, COMPILING))?;
        let compile = started.elapsed();
        let run = |memory: &mut DeviceMemory| {
            let output = memory.run(&pipeline, request.descriptors, request.dispatch, self.time_limit)?;
            self.validation_errors(&memory.device)?;
            Ok(DispatchOutput { compile, ..output })
        };
        run(memory).map_err(|error| (error, "running the shader"))
    }

    fn new_pipeline(
        &self,
        device: &Device,
        description: &PipelineDesc<'_>,
        bindings: &[BindingLayout],
    ) -> Result<Pipeline, (Error, &'static str)> {
        let pipeline = device.pipeline(description).map_err(|error| match self.validation_errors(device) {
            Ok(()) => (error, PIPELINE),
            // An invalid module need not compile.
            Err(objection) => (objection, COMPILING),
        })?;
        self.pipelines().keep(description, bindings, &pipeline);
        Ok(pipeline)
    }

    fn pipelines(&self) -> MutexGuard<'_, PipelineCache> {
        self.pipelines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates the memory of a dispatch on a device with the features that it requires.
    fn allocate(
        &self,
        descriptors: &[Descriptor],
        dispatch: &Dispatch,
        resources: Vec<ResourceSpec>,
    ) -> Result<DeviceMemory, (Error, &'static str)> {
        let features = robustness_features(descriptors, dispatch.robustness);
        let device = self.device(features).map_err(|error| (error, "opening the device"))?;
        let slot = device.dispatch_slot_of(&resources).map_err(|error| (error, "allocating buffers"))?;
        Ok(DeviceMemory { device, resources, slot })
    }
}

impl DeviceMemory {
    /// Runs a pipeline with the contents of a dispatch, and reads back what it may have written.
    fn run(
        &mut self,
        pipeline: &Pipeline,
        descriptors: &[Descriptor],
        dispatch: &Dispatch,
        limit: Duration,
    ) -> Result<DispatchOutput, Error> {
        for (i, spec) in self.resources.iter().enumerate() {
            let Some(data) = dispatch.bindings.get(&slot_of(spec)).and_then(Bound::bytes) else { continue };
            self.slot.write::<u8>(i)?.copy_from_slice(data);
        }
        let commands =
            assay_vulkan::Dispatch { groups: dispatch.groups, push_constants: &dispatch.push_constants, clear: None };
        self.slot.submit(pipeline, &commands)?;
        let timing = self.slot.wait(limit)?;
        let mut output = DispatchOutput { duration: timing.wall, ..DispatchOutput::default() };
        for (i, spec) in self.resources.iter().enumerate() {
            let slot = slot_of(spec);
            if descriptors.iter().any(|d| d.slot == slot && d.is_read_back()) {
                output.memory.insert(slot, self.slot.read::<u8>(i)?.to_vec());
            }
        }
        Ok(output)
    }
}

/// A series of dispatches on a device.
struct VulkanSeries<'a> {
    target: &'a VulkanTarget,
    request: &'a SeriesRequest<'a>,
    pipelines: Vec<Pipeline>,
    memory: DeviceMemory,
}

impl DispatchSeries for VulkanSeries<'_> {
    fn run(&mut self, module: usize, dispatch: &Dispatch) -> Result<DispatchOutput, TargetError> {
        let ran = self.memory.run(&self.pipelines[module], self.request.descriptors, dispatch, self.target.time_limit);
        ran.map_err(|error| self.target.target_error(error, self.request.during))
    }
}

impl Target for VulkanTarget {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn capabilities(&self) -> &DeviceCaps {
        &self.caps
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        let resources = resources(request.descriptors, request.dispatch);
        let made = self.allocate(request.descriptors, request.dispatch, resources);
        let made = made.map_err(|(error, during)| self.target_error(error, during))?;
        let addressed =
            made.resources.iter().enumerate().filter(|(_, spec)| matches!(spec.resource, Resource::Addressed { .. }));
        let addresses =
            addressed.map(|(i, spec)| Ok((slot_of(spec), made.slot.address(i)?))).collect::<Result<_, Error>>();
        let addresses = addresses.map_err(|error| self.target_error(error, "querying addresses"))?;
        Ok(AllocatedDispatch::with_memory(addresses, Mutex::new(made)))
    }

    fn clear_workgroup_memory(&self) {
        let (words, dispatch) =
            (clearing_module(), Dispatch { groups: [CLEARING_GROUPS, 1, 1], ..Dispatch::default() });
        let request = DispatchRequest {
            wgsl: None,
            words: &words,
            entry: "main",
            specs: &[],
            subgroup_control: SubgroupControl::default(),
            descriptors: &[],
            dispatch: &dispatch,
            allocated: None,
        };
        // Failures show in the next dispatch.
        let _cleared = self.compute(&request);
    }

    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError> {
        self.compute(request).map_err(|(error, during)| self.target_error(error, during))
    }

    fn run_series(&self, series: &SeriesRequest<'_>, work: &mut SeriesWork<'_>) -> Result<(), TargetError> {
        let failed = |error| self.target_error(error, series.during);
        let resources = resources(series.descriptors, series.dispatch);
        let layout = BindingLayout::of(&resources).map_err(failed)?;
        let memory = self.allocate(series.descriptors, series.dispatch, resources);
        let memory = memory.map_err(|(error, _)| failed(error))?;
        let pipeline = |module: &SeriesModule<'_>| {
            memory.device.pipeline(&PipelineDesc {
                bindings: Bindings::Listed(&layout),
                push_constants: module.push_constants,
                ..PipelineDesc::new(module.words, 0)
            })
        };
        let pipelines = series.modules.iter().map(pipeline).collect::<Result<_, _>>().map_err(failed)?;
        let device = memory.device.clone();
        work(&mut VulkanSeries { target: self, request: series, pipelines, memory })?;
        self.validation_errors(&device).map_err(failed)
    }

    fn run_tile_pass(&self, pass: &TilePass<'_>) -> Result<TilePassOutput, TargetError> {
        let run = || {
            let device = self.device(BTreeSet::new())?;
            let output = tile_pass::run(&device, pass, self.time_limit)?;
            self.validation_errors(&device)?;
            Ok(output)
        };
        run().map_err(|error| self.target_error(error, TilePass::DURING))
    }
}
