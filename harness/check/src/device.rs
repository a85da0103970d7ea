//! What computes the results that are checked: a Vulkan device, or in tests anything else.

use crate::setup::{Descriptor, Spec};
use crate::subject::Wgsl;
use crate::verdict::bytes_of;
use assay_oracle::{Dispatch, Resource as Bound, Robustness, Slot};
use assay_precision::Rules;
use assay_runner::{DeviceInfo, Trouble, device_info};
use assay_spirv::need::Have;
use assay_spirv::reflect::DescriptorKind;
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
pub struct Job<'a> {
    /// The shader as WGSL, where that is what was written and the device is given it as it is.
    pub wgsl: Option<Wgsl<'a>>,
    /// The module.
    pub words: &'a [u32],
    /// The entry point.
    pub entry: &'a str,
    /// Values of specialisation constants.
    pub specs: &'a [Spec],
    /// What it uses.
    pub descriptors: &'a [Descriptor],
    /// What that holds, and how much is dispatched.
    pub dispatch: &'a Dispatch,
    /// The memory that was made for it before, where addresses of it are in what the dispatch holds.
    pub placed: Option<&'a Placed>,
}

/// Memory of a dispatch that a target has made before it, so that the device addresses of buffers are known.
pub struct Placed {
    /// The address of every buffer that no descriptor binds.
    pub addresses: BTreeMap<Slot, u64>,
    memory: Option<Mutex<Held>>,
}

/// What a Vulkan device keeps of it.
struct Held {
    device: Device,
    slot: assay_vulkan::Slot,
}

impl Placed {
    /// Buffers at those addresses of a target that needs nothing else to find them again.
    pub fn at(addresses: BTreeMap<Slot, u64>) -> Placed {
        Placed { addresses, memory: None }
    }
}

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placed").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

/// What a dispatch left.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// Every storage buffer, storage image and storage texel buffer; images as [`assay_oracle::Image::data`].
    pub memory: BTreeMap<Slot, Vec<u8>>,
    /// How long the device took, copies included.
    pub taken: Duration,
}

/// Why there are no results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The device has not what the dispatch needs: in words.
    #[error("{0}")]
    Lacks(String),
    /// It failed.
    #[error(transparent)]
    Failed(#[from] Trouble),
}

/// Something done with an opened device, which must end within the time limit.
pub type DeviceWork<'a> = dyn FnMut(&Device, Duration) -> Result<(), Error> + 'a;

/// What [`DeviceInfo::api`] says of what goes through wgpu.
pub(crate) const WGPU: &str = "wgpu";

/// Bytes of workgroup memory that every device has (`maxComputeSharedMemorySize`), in words.
const SHARED_WORDS: u32 = 16384 / 4;

/// So many workgroups come by all processors of a device, if it takes them as they come.
const CLEARING_GROUPS: u32 = 256;

/// A module that stores zeros all over the memory of a workgroup of 64; `Volatile`, as nothing reads them.
fn clearing() -> Vec<u32> {
    let places: Vec<u32> = (0..SHARED_WORDS / 64).map(|n| n * 64).collect();
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
        %length = OpConstant %uint {SHARED_WORDS}
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

/// Computes results.
pub trait Target {
    /// What it is.
    fn info(&self) -> &DeviceInfo;

    /// Whose accuracy rules hold for what it computes.
    fn rules(&self) -> Rules {
        if self.info().api == WGPU { Rules::Wgsl } else { Rules::Vulkan }
    }

    /// What it has, for negotiation.
    fn have(&self) -> &Have;

    /// What is run from here on belongs to that round.
    fn begin(&self, _round: u32) {}

    /// Makes the memory of a dispatch, as large as what it holds, where some of it is reached by device addresses: the words
    /// that hold these need not be right yet. It goes into [`Job::placed`] of the same dispatch.
    ///
    /// # Errors
    /// [`TargetError::Lacks`] where there are no device addresses; as [`Target::run`].
    fn place(&self, _job: &Job<'_>) -> Result<Placed, TargetError> {
        Err(TargetError::Lacks("buffers with device addresses: it is given none".to_owned()))
    }

    /// Puts zeros into memory of workgroups, as far as it goes: what a dispatch finds there that nothing has written is then not what one
    /// before it left, which another process would not find.
    fn clear_workgroup_memory(&self) {}

    /// Runs a dispatch. The module is legal, and within what the target has.
    ///
    /// # Errors
    /// The device failed, is lost, or took longer than the time limit.
    fn run(&self, job: &Job<'_>) -> Result<Left, TargetError>;

    /// Does something with the Vulkan device that it is, for what is more than a dispatch; `during` says what, for errors.
    ///
    /// # Errors
    /// As [`Target::run`]; [`TargetError::Lacks`] where it is no Vulkan device.
    fn with_device(&self, during: &'static str, _work: &mut DeviceWork<'_>) -> Result<(), TargetError> {
        Err(TargetError::Lacks(format!("no Vulkan device takes part in {during}")))
    }
}

/// A Vulkan device. Several threads may run dispatches on it at once.
pub struct VulkanTarget {
    physical: PhysicalDevice,
    /// By what it was opened with beside the default; gone after one was lost or took too long: then it is opened anew.
    devices: Mutex<BTreeMap<BTreeSet<String>, Device>>,
    info: DeviceInfo,
    have: Have,
    time_limit: Duration,
    validation: bool,
}

impl VulkanTarget {
    /// Opens a device. After a dispatch that loses it or does not end it is opened anew, so that one spoils no other.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn new(physical: &PhysicalDevice, time_limit: Duration, validation: bool) -> Result<VulkanTarget, Error> {
        let device = Device::open(physical, &DeviceOptions::default())?;
        let (info, have) = (device_info(physical), device.capabilities().have());
        let (physical, devices) = (physical.clone(), Mutex::new([(BTreeSet::new(), device)].into()));
        Ok(VulkanTarget { physical, devices, info, have, time_limit, validation })
    }

    /// The device with these features beside the default.
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

    /// What the validation layer says against what was done, as an error.
    fn objections(&self, device: &Device) -> Result<(), Error> {
        if !self.validation {
            return Ok(());
        }
        let messages = device.take_validation_messages();
        match messages.iter().find(|message| message.severity == Severity::Error) {
            Some(message) => Err(Error::Invalid { what: format!("the validation layer objects: {message}") }),
            None => Ok(()),
        }
    }

    fn trouble(&self, error: Error, during: &'static str) -> TargetError {
        if let Error::NotSupported { .. } = error {
            return TargetError::Lacks(error.to_string());
        }
        if matches!(error, Error::DeviceLost { .. } | Error::Timeout { .. }) {
            self.devices.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        TargetError::Failed(match Trouble::new(error, during) {
            // A driver that refuses a legal module does not do what it should.
            Trouble::Internal(what) if during == PIPELINE => Trouble::Pipeline(what),
            other => other,
        })
    }

    fn compute(&self, job: &Job<'_>) -> Result<Left, (Error, &'static str)> {
        let (resources, contents) = resources(job);
        let layout = BindingLayout::of(&resources).map_err(|error| (error, "laying out bindings"))?;
        let mut made = None;
        let mut kept =
            job.placed.and_then(|p| p.memory.as_ref()).map(|m| m.lock().unwrap_or_else(PoisonError::into_inner));
        let Held { device, slot } = match &mut kept {
            Some(held) => &mut **held,
            None => made.insert(self.held(job, &resources)?),
        };
        let specialization: Vec<SpecConstant> = job.specs.iter().map(spec_constant).collect();
        let description = PipelineDesc {
            entry: job.entry,
            bindings: Bindings::Listed(&layout),
            push_constants: job.dispatch.push_constants.len() as u32,
            specialization: &specialization,
            ..PipelineDesc::new(job.words, 0)
        };
        let pipeline = device.pipeline(&description).map_err(|error| match self.objections(device) {
            Ok(()) => (error, PIPELINE),
            // What the layer objects to nobody needs to compile.
            Err(objection) => (objection, "compiling the shader"),
        })?;
        let running = |error| (error, "running the shader");
        for (i, data) in contents.iter().enumerate() {
            let Some(data) = data else { continue };
            slot.write::<u8>(i).map_err(running)?.copy_from_slice(data);
        }
        let dispatch = assay_vulkan::Dispatch {
            groups: job.dispatch.groups,
            push_constants: &job.dispatch.push_constants,
            clear: None,
        };
        slot.submit(&pipeline, &dispatch).map_err(running)?;
        let timing = slot.wait(self.time_limit).map_err(running)?;
        let mut left = Left { memory: BTreeMap::new(), taken: timing.wall };
        for (i, spec) in resources.iter().enumerate() {
            let back = |d: &Descriptor| d.slot == slot_of(spec) && d.is_read_back();
            if job.descriptors.iter().any(back) {
                let memory = slot.read::<u8>(i).map_err(running)?.to_vec();
                left.memory.insert(slot_of(spec), memory);
            }
        }
        self.objections(device).map_err(running)?;
        Ok(left)
    }

    /// The device that a job runs on, and its memory there.
    fn held(&self, job: &Job<'_>, resources: &[ResourceSpec]) -> Result<Held, (Error, &'static str)> {
        let device = self.device(robust(job)).map_err(|error| (error, "opening the device"))?;
        let slot = device.slot_of(resources).map_err(|error| (error, "making buffers"))?;
        Ok(Held { device, slot })
    }
}

/// What a job binds, and what that holds.
fn resources<'a>(job: &Job<'a>) -> (Vec<ResourceSpec>, Vec<Option<&'a [u8]>>) {
    let (mut resources, mut contents) = (Vec::new(), Vec::new());
    for descriptor in job.descriptors {
        let bound = job.dispatch.bindings.get(&descriptor.slot);
        let sampler = match bound {
            Some(Bound::CombinedImageSampler(_, sampler) | Bound::Sampler(sampler)) => Some(*sampler),
            _ => None,
        };
        let data = bound.and_then(bytes_of);
        let bytes = data.map_or(0, <[u8]>::len);
        let resource = match (&descriptor.texels, descriptor.kind) {
            (None, DescriptorKind::Sampler) => Resource::Sampler(sampler.unwrap_or(SamplerSpec::NEAREST)),
            _ if data.is_none() => continue,
            _ if descriptor.is_pointed() => Resource::Addressed { bytes },
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

    fn have(&self) -> &Have {
        &self.have
    }

    fn place(&self, job: &Job<'_>) -> Result<Placed, TargetError> {
        let (resources, _) = resources(job);
        let made = self.held(job, &resources).map_err(|(error, during)| self.trouble(error, during))?;
        let pointed =
            resources.iter().enumerate().filter(|(_, spec)| matches!(spec.resource, Resource::Addressed { .. }));
        let addresses =
            pointed.map(|(i, spec)| Ok((slot_of(spec), made.slot.address(i)?))).collect::<Result<_, Error>>();
        let addresses = addresses.map_err(|error| self.trouble(error, "asking for addresses"))?;
        Ok(Placed { addresses, memory: Some(Mutex::new(made)) })
    }

    fn clear_workgroup_memory(&self) {
        let (words, dispatch) = (clearing(), Dispatch { groups: [CLEARING_GROUPS, 1, 1], ..Dispatch::default() });
        let job = Job {
            wgsl: None,
            words: &words,
            entry: "main",
            specs: &[],
            descriptors: &[],
            dispatch: &dispatch,
            placed: None,
        };
        // A device that cannot even do that says so when it is given the next dispatch.
        let _cleared = self.compute(&job);
    }

    fn run(&self, job: &Job<'_>) -> Result<Left, TargetError> {
        self.compute(job).map_err(|(error, during)| self.trouble(error, during))
    }

    fn with_device(&self, during: &'static str, work: &mut DeviceWork<'_>) -> Result<(), TargetError> {
        let mut with = || {
            let device = self.device(BTreeSet::new())?;
            work(&device, self.time_limit)?;
            self.objections(&device)
        };
        with().map_err(|error| self.trouble(error, during))
    }
}

/// The features that a job's robustness asks for, by what it accesses.
fn robust(job: &Job<'_>) -> BTreeSet<String> {
    use DescriptorKind as K;
    let image = |d: &Descriptor| matches!(d.kind, K::StorageImage | K::SampledImage | K::CombinedImageSampler);
    let (any_image, any_buffer) = (job.descriptors.iter().any(image), job.descriptors.iter().any(|d| !image(d)));
    let names: &[(&str, bool)] = match job.dispatch.robustness {
        Robustness::None => &[],
        Robustness::Access => &[("robustBufferAccess", any_buffer), ("robustImageAccess", any_image)],
        // The first is required for the second.
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

fn spec_constant(spec: &Spec) -> SpecConstant {
    match spec.width {
        8 => SpecConstant::bits8(spec.id, spec.bits as u8),
        16 => SpecConstant::bits16(spec.id, spec.bits as u16),
        64 => SpecConstant::bits64(spec.id, spec.bits),
        _ => SpecConstant::bits32(spec.id, spec.bits as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::clearing;
    use assay_spirv::Module;
    use assay_spirv::rules::{Environment, violations};

    #[test]
    fn what_clears_workgroup_memory_is_a_legal_module() {
        let module = Module::parse(clearing()).expect("a module");
        let found = violations(&module, Environment::of(&module));
        assert!(found.is_empty(), "{found:?}");
    }
}
