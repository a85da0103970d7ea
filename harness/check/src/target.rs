//! Targets: implementations that run dispatches, a Vulkan device or a substitute in tests.

use crate::Wgsl;
use crate::compare::bytes_of;
use crate::dispatch_setup::{Descriptor, SpecValue};
use crate::subgroup_control::SubgroupControl;
use assay_events::DeviceInfo;
use assay_oracle::{Dispatch, Resource as Bound, Robustness, Slot};
use assay_precision::Specification;
use assay_runner::{ExecError, device_info};
use assay_spirv::reflect::DescriptorKind;
use assay_spirv::requirements::DeviceCaps;
use assay_vulkan::{
    BindingLayout, Bindings, BufferSpec, Device, DeviceOptions, Error, PhysicalDevice, PipelineDesc, Resource,
    ResourceSpec, SamplerSpec, Severity, SpecConstant,
};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

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
    /// Memory from [`Target::allocate`], if the contents include its device addresses.
    pub allocated: Option<&'a AllocatedDispatch>,
}

/// Memory that a target has allocated for a dispatch, so that the device addresses of its buffers
/// are known beforehand.
pub struct AllocatedDispatch {
    /// Device address of every buffer without a descriptor.
    pub addresses: BTreeMap<Slot, u64>,
    memory: Option<Mutex<DeviceMemory>>,
}

/// Memory of a dispatch on a Vulkan device.
struct DeviceMemory {
    device: Device,
    slot: assay_vulkan::DispatchSlot,
}

impl AllocatedDispatch {
    /// Returns a value with these addresses, for targets that keep no other state for the memory.
    pub fn at(addresses: BTreeMap<Slot, u64>) -> AllocatedDispatch {
        AllocatedDispatch { addresses, memory: None }
    }
}

impl fmt::Debug for AllocatedDispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AllocatedDispatch").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

/// Output of a dispatch.
#[derive(Clone, Debug, Default)]
pub struct DispatchOutput {
    /// Contents of every storage buffer, storage image and storage texel buffer; images as in
    /// [`assay_oracle::Image::data`].
    pub memory: BTreeMap<Slot, Vec<u8>>,
    /// Time that the dispatch took, including copies.
    pub duration: Duration,
}

/// Reason why a dispatch has no output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The device lacks something that the dispatch requires.
    #[error("{0}")]
    Unsupported(String),
    /// The dispatch failed.
    #[error(transparent)]
    Failed(#[from] ExecError),
}

/// Work on an open device, which must finish within the time limit.
pub type DeviceWork<'a> = dyn FnMut(&Device, Duration) -> Result<(), Error> + 'a;

/// Value of [`DeviceInfo::api`] for dispatches through wgpu.
pub(crate) const WGPU: &str = "wgpu";

/// Smallest workgroup memory of any device (`maxComputeSharedMemorySize`), in words.
const WORKGROUP_MEMORY_WORDS: u32 = 16384 / 4;

/// Number of workgroups for clearing, large enough to reach all processors of most devices.
const CLEARING_GROUPS: u32 = 256;

/// Returns a module that stores zeros to the workgroup memory of workgroups with 64 invocations.
/// The stores are `Volatile`, because nothing reads them.
fn clearing_module() -> Vec<u32> {
    let places: Vec<u32> = (0..WORKGROUP_MEMORY_WORDS / 64).map(|n| n * 64).collect();
    let constants: String = places.iter().map(|n| format!("%n{n} = OpConstant %uint {n}\n")).collect();
    let store = |n: &u32| {
        format!(
            "%k{n} = OpIAdd %uint %i %n{n}\n%p{n} = OpAccessChain %word %shared %k{n}\nOpStore %p{n} %n0 Volatile\n"
        )
    };
    let stores: String = places.iter().map(store).collect();
    let text = format!(
        "; Version: 1.0
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %at
        OpExecutionMode %main LocalSize 64 1 1
        OpDecorate %at BuiltIn LocalInvocationIndex
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %uint = OpTypeInt 32 0
        %length = OpConstant %uint {WORKGROUP_MEMORY_WORDS}
        {constants}
        %words = OpTypeArray %uint %length
        %all = OpTypePointer Workgroup %words
        %word = OpTypePointer Workgroup %uint
        %input = OpTypePointer Input %uint
        %shared = OpVariable %all Workgroup
        %at = OpVariable %input Input
        %main = OpFunction %void None %fn
        %entry = OpLabel
        %i = OpLoad %uint %at
        {stores}
        OpReturn
        OpFunctionEnd"
    );
    assay_spirv::assemble(&text).unwrap_or_default()
}

/// An implementation that runs dispatches.
pub trait Target {
    /// Returns a description of the device.
    fn info(&self) -> &DeviceInfo;

    /// Returns the specification whose accuracy rules apply.
    fn rules(&self) -> Specification {
        if self.info().api == WGPU { Specification::Wgsl } else { Specification::Vulkan }
    }

    /// Returns the device's features and limits.
    fn capabilities(&self) -> &DeviceCaps;

    /// Announces that the following dispatches belong to a round.
    fn begin_round(&self, _round: u32) {}

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
    /// The dispatch failed, lost the device, or exceeded the time limit.
    fn run(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, TargetError>;

    /// Runs work on the Vulkan device for purposes other than a dispatch; `during` names the
    /// purpose in errors.
    ///
    /// # Errors
    /// As [`Target::run`]; [`TargetError::Unsupported`] if the target is not a Vulkan device.
    fn with_device(&self, during: &'static str, _work: &mut DeviceWork<'_>) -> Result<(), TargetError> {
        Err(TargetError::Unsupported(format!("{during} requires a Vulkan device")))
    }
}

/// A Vulkan device, which several threads may use at once.
pub struct VulkanTarget {
    physical: PhysicalDevice,
    /// Open devices by the features enabled besides the default ones. Cleared after a lost device
    /// or a timeout, so that devices are opened again.
    devices: Mutex<BTreeMap<BTreeSet<String>, Device>>,
    info: DeviceInfo,
    caps: DeviceCaps,
    time_limit: Duration,
    validation: bool,
}

impl VulkanTarget {
    /// Opens a device. It is opened again after a dispatch that loses it or does not finish.
    ///
    /// # Errors
    /// The device cannot be opened.
    pub fn new(physical: &PhysicalDevice, time_limit: Duration, validation: bool) -> Result<VulkanTarget, Error> {
        let device = Device::open(physical, &DeviceOptions::default())?;
        let (info, caps) = (device_info(physical), device.capabilities().device_caps());
        let (physical, devices) = (physical.clone(), Mutex::new([(BTreeSet::new(), device)].into()));
        Ok(VulkanTarget { physical, devices, info, caps, time_limit, validation })
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
        }
        TargetError::Failed(match ExecError::new(error, during) {
            // A driver that rejects a legal module is at fault.
            ExecError::Internal(what) if during == PIPELINE => ExecError::Pipeline(what),
            other => other,
        })
    }

    fn compute(&self, request: &DispatchRequest<'_>) -> Result<DispatchOutput, (Error, &'static str)> {
        let (resources, contents) = resources(request);
        let layout = BindingLayout::of(&resources).map_err(|error| (error, "laying out bindings"))?;
        let mut made = None;
        let mut kept =
            request.allocated.and_then(|p| p.memory.as_ref()).map(|m| m.lock().unwrap_or_else(PoisonError::into_inner));
        let DeviceMemory { device, slot } = match &mut kept {
            Some(held) => &mut **held,
            None => made.insert(self.allocate(request, &resources)?),
        };
        let specialization: Vec<SpecConstant> = request.specs.iter().map(spec_constant).collect();
        let description = PipelineDesc {
            entry: request.entry,
            bindings: Bindings::Listed(&layout),
            push_constants: request.dispatch.push_constants.len() as u32,
            specialization: &specialization,
            subgroup_size: request.subgroup_control.size,
            full_subgroups: request.subgroup_control.full,
            ..PipelineDesc::new(request.words, 0)
        };
        let pipeline = device.pipeline(&description).map_err(|error| match self.validation_errors(device) {
            Ok(()) => (error, PIPELINE),
            // An invalid module need not compile.
            Err(objection) => (objection, "compiling the shader"),
        })?;
        let running = |error| (error, "running the shader");
        for (i, data) in contents.iter().enumerate() {
            let Some(data) = data else { continue };
            slot.write::<u8>(i).map_err(running)?.copy_from_slice(data);
        }
        let dispatch = assay_vulkan::Dispatch {
            groups: request.dispatch.groups,
            push_constants: &request.dispatch.push_constants,
            clear: None,
        };
        slot.submit(&pipeline, &dispatch).map_err(running)?;
        let timing = slot.wait(self.time_limit).map_err(running)?;
        let mut output = DispatchOutput { memory: BTreeMap::new(), duration: timing.wall };
        for (i, spec) in resources.iter().enumerate() {
            let back = |d: &Descriptor| d.slot == slot_of(spec) && d.is_read_back();
            if request.descriptors.iter().any(back) {
                let memory = slot.read::<u8>(i).map_err(running)?.to_vec();
                output.memory.insert(slot_of(spec), memory);
            }
        }
        self.validation_errors(device).map_err(running)?;
        Ok(output)
    }

    /// Allocates the memory of a dispatch on a device with the features that it requires.
    fn allocate(
        &self,
        request: &DispatchRequest<'_>,
        resources: &[ResourceSpec],
    ) -> Result<DeviceMemory, (Error, &'static str)> {
        let device = self.device(robustness_features(request)).map_err(|error| (error, "opening the device"))?;
        let slot = device.dispatch_slot_of(resources).map_err(|error| (error, "allocating buffers"))?;
        Ok(DeviceMemory { device, slot })
    }
}

/// Returns the resources that a dispatch binds, and their contents.
fn resources<'a>(request: &DispatchRequest<'a>) -> (Vec<ResourceSpec>, Vec<Option<&'a [u8]>>) {
    let (mut resources, mut contents) = (Vec::new(), Vec::new());
    for descriptor in request.descriptors {
        let bound = request.dispatch.bindings.get(&descriptor.slot);
        let sampler = match bound {
            Some(Bound::CombinedImageSampler(_, sampler) | Bound::Sampler(sampler)) => Some(*sampler),
            _ => None,
        };
        let data = bound.and_then(bytes_of);
        let bytes = data.map_or(0, <[u8]>::len);
        let resource = match (&descriptor.texels, descriptor.kind) {
            (None, DescriptorKind::Sampler) => Resource::Sampler(sampler.unwrap_or(SamplerSpec::NEAREST)),
            _ if data.is_none() => continue,
            _ if descriptor.is_addressed() => Resource::Addressed { bytes },
            (Some(texels), kind) => texels.resource(kind, sampler),
            (None, DescriptorKind::UniformBuffer) => Resource::UniformBuffer { bytes },
            (None, _) => Resource::StorageBuffer(BufferSpec::in_out(bytes)),
        };
        let Slot { set, binding, element } = descriptor.slot;
        resources.push(ResourceSpec { set, binding, element, resource });
        contents.push(data);
    }
    (resources, contents)
}

const PIPELINE: &str = "building the pipeline";

impl Target for VulkanTarget {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn capabilities(&self) -> &DeviceCaps {
        &self.caps
    }

    fn allocate(&self, request: &DispatchRequest<'_>) -> Result<AllocatedDispatch, TargetError> {
        let (resources, _) = resources(request);
        let made = self.allocate(request, &resources).map_err(|(error, during)| self.target_error(error, during))?;
        let pointed =
            resources.iter().enumerate().filter(|(_, spec)| matches!(spec.resource, Resource::Addressed { .. }));
        let addresses =
            pointed.map(|(i, spec)| Ok((slot_of(spec), made.slot.address(i)?))).collect::<Result<_, Error>>();
        let addresses = addresses.map_err(|error| self.target_error(error, "querying addresses"))?;
        Ok(AllocatedDispatch { addresses, memory: Some(Mutex::new(made)) })
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

    fn with_device(&self, during: &'static str, work: &mut DeviceWork<'_>) -> Result<(), TargetError> {
        let mut with = || {
            let device = self.device(BTreeSet::new())?;
            work(&device, self.time_limit)?;
            self.validation_errors(&device)
        };
        with().map_err(|error| self.target_error(error, during))
    }
}

/// Returns the features that a dispatch requires for its robustness, given the kinds of its resources.
fn robustness_features(request: &DispatchRequest<'_>) -> BTreeSet<String> {
    use DescriptorKind as K;
    let image = |d: &Descriptor| matches!(d.kind, K::StorageImage | K::SampledImage | K::CombinedImageSampler);
    let (any_image, any_buffer) =
        (request.descriptors.iter().any(image), request.descriptors.iter().any(|d| !image(d)));
    let names: &[(&str, bool)] = match request.dispatch.robustness {
        Robustness::None => &[],
        Robustness::Access => &[("robustBufferAccess", any_buffer), ("robustImageAccess", any_image)],
        // The features of version 2 require those of version 1.
        Robustness::Access2 => &[
            ("robustBufferAccess", any_buffer),
            ("robustBufferAccess2", any_buffer),
            ("robustImageAccess", any_image),
            ("robustImageAccess2", any_image),
        ],
    };
    names.iter().filter(|(_, wanted)| *wanted).map(|(name, _)| (*name).to_owned()).collect()
}

fn slot_of(spec: &ResourceSpec) -> Slot {
    Slot { set: spec.set, binding: spec.binding, element: spec.element }
}

fn spec_constant(spec: &SpecValue) -> SpecConstant {
    match spec.width {
        8 => SpecConstant::bits8(spec.id, spec.bits as u8),
        16 => SpecConstant::bits16(spec.id, spec.bits as u16),
        64 => SpecConstant::bits64(spec.id, spec.bits),
        _ => SpecConstant::bits32(spec.id, spec.bits as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::clearing_module;
    use assay_spirv::Module;
    use assay_spirv::rules::{Environment, violations};

    #[test]
    fn the_module_that_clears_workgroup_memory_is_legal() {
        let module = Module::parse(clearing_module()).expect("a module");
        let found = violations(&module, Environment::of_module(&module));
        assert!(found.is_empty(), "{found:?}");
    }
}
