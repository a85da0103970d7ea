//! Dispatch slots: buffers and images with the objects needed to dispatch over them and to wait.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ash::vk;
use bytemuck::Pod;
use gpu_allocator::MemoryLocation;

use crate::buffer_memory::Buffer;
use crate::device::DeviceShared;
use crate::device_properties::Limits;
use crate::dispatch_commands::{self, DispatchRecording};
use crate::error::Error;
use crate::image_objects::{Image, Sampler, TexelView, filters_linearly};
use crate::layout_cache::LayoutKey;
use crate::multisample::{BUFFER_USAGE, SampleTransfer};
use crate::pipeline::{Pipeline, PipelineShared};
use crate::resource::{BindingLayout, ImageSpec, Resource, ResourceSpec, SamplerSpec, TexelFormat};
use crate::slot_objects::SlotObjects;

/// Use of a buffer: the direction in which its contents are transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Written by the host, read by the device. Anything that a shader writes to it is lost.
    Input,
    /// Written by the device, read by the host. It starts with zeros and keeps the contents of
    /// earlier dispatches, unless a dispatch clears it ([`Dispatch::clear`]).
    Output,
    /// Written and read by both.
    InOut,
}

/// Size and role of one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferSpec {
    /// Bytes that the shader sees; not zero.
    pub bytes: usize,
    /// Direction in which its contents are transferred.
    pub role: Role,
}

impl BufferSpec {
    /// Returns an [`Role::Input`] buffer of `bytes` bytes.
    #[must_use]
    pub fn input(bytes: usize) -> Self {
        Self { bytes, role: Role::Input }
    }

    /// Returns an [`Role::Output`] buffer of `bytes` bytes.
    #[must_use]
    pub fn output(bytes: usize) -> Self {
        Self { bytes, role: Role::Output }
    }

    /// Returns an [`Role::InOut`] buffer of `bytes` bytes.
    #[must_use]
    pub fn in_out(bytes: usize) -> Self {
        Self { bytes, role: Role::InOut }
    }
}

/// One dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<'a> {
    /// Workgroups for x, y and z; each at least 1.
    pub groups: [u32; 3],
    /// Push constants: exactly as many bytes as the pipeline declares.
    pub push_constants: &'a [u8],
    /// Word that fills every [`Role::Output`] buffer before the dispatch, which makes elements
    /// recognisable that the shader does not write.
    pub clear: Option<u32>,
}

impl<'a> Dispatch<'a> {
    /// Returns a dispatch of `groups` workgroups along x, without push constants and clearing.
    #[must_use]
    pub fn linear(groups: u32) -> Self {
        Self { groups: [groups, 1, 1], push_constants: &[], clear: None }
    }

    /// Returns this dispatch with the given push constants.
    #[must_use]
    pub fn with_push_constants(self, push_constants: &'a [u8]) -> Self {
        Self { push_constants, ..self }
    }
}

/// Duration of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Time from the submission to the end of the wait, copies included.
    pub wall: Duration,
    /// Time of the dispatch alone by the device's clock, if its queue has timestamps.
    pub device: Option<Duration>,
}

/// One resource with its Vulkan objects.
pub(crate) struct BoundResource {
    pub(crate) spec: ResourceSpec,
    /// Direction in which its contents are transferred.
    pub(crate) role: Role,
    /// Bytes of its contents.
    pub(crate) bytes: usize,
    pub(crate) objects: ResourceObjects,
    /// Marks device-local contents that are still undefined.
    pub(crate) fresh: bool,
}

/// Objects of a resource. Fields are dropped in order, so an object comes before those that it
/// refers to.
pub(crate) enum ResourceObjects {
    /// A buffer and, if that one is not mapped, the mapped buffer for copies in both directions.
    Buffer {
        /// View of a texel buffer.
        view: Option<TexelView>,
        /// Buffer that the shader accesses.
        buffer: Buffer,
        /// Mapped buffer that the host accesses; `None` if `buffer` is mapped.
        staging: Option<Buffer>,
    },
    /// An image and the mapped buffer for copies in both directions.
    Image {
        /// Copies of a multisampled image.
        transfer: Option<Box<SampleTransfer>>,
        /// Image that the shader accesses.
        image: Image,
        /// Sampler of a combined image sampler.
        sampler: Option<Sampler>,
        /// Mapped buffer that the host accesses.
        staging: Buffer,
    },
    /// A sampler, which has no contents.
    Sampler(Sampler),
}

enum SlotState {
    Idle,
    InFlight {
        since: Instant,
        /// Keeps the pipeline until the work is done.
        pipeline: Arc<PipelineShared>,
        /// Marks a submission whose wait already timed out; a drop does not wait for it again.
        overdue: bool,
    },
}

/// Resources with all objects needed to dispatch over them.
///
/// At most one dispatch of a slot is in flight. Meanwhile its resources cannot be accessed. With
/// two slots the host checks the results of one while the device works on the other. A slot takes
/// any pipeline of its device that has the same bindings, one submission after the other.
pub struct DispatchSlot {
    // `Some` except while it is being dropped.
    parts: Option<SlotParts>,
    state: SlotState,
}

struct SlotParts {
    objects: SlotObjects,
    /// Declared after the objects because their descriptor sets refer to the resources.
    resources: Vec<BoundResource>,
    key: LayoutKey,
}

/// Longest time that a drop waits for unfinished work.
const LAST_WAIT: Duration = Duration::from_secs(2);

impl DispatchSlot {
    pub(crate) fn new(device: &Arc<DeviceShared>, specs: &[ResourceSpec]) -> Result<Self, Error> {
        device.check_alive("vkCreateBuffer")?;
        check_limits(device, specs)?;
        let key = LayoutKey { bindings: BindingLayout::of(specs)?, push_constants: 0 };
        let resources: Vec<BoundResource> =
            specs.iter().map(|&spec| BoundResource::new(device, spec)).collect::<Result<_, _>>()?;
        let objects = SlotObjects::new(device, &key, &resources)?;
        Ok(Self { parts: Some(SlotParts { objects, resources, key }), state: SlotState::Idle })
    }

    /// Returns the number of resources.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.as_ref().map_or(0, |p| p.resources.len())
    }

    /// Returns true if it has no resources.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if a dispatch was submitted whose end was not awaited yet.
    #[must_use]
    pub fn in_flight(&self) -> bool {
        matches!(self.state, SlotState::InFlight { .. })
    }

    /// Returns the contents of resource `index` as the host last saw or wrote them. An image has
    /// the layout of [`Resource::bytes`].
    ///
    /// # Errors
    /// [`Error::InFlight`]; [`Error::Invalid`] if there is no such resource, if it has no contents,
    /// or if its bytes are not a whole number of `T`.
    pub fn read<T: Pod>(&self, index: usize) -> Result<&[T], Error> {
        let parts = self.idle()?;
        let bound = parts.resources.get(index).ok_or_else(|| no_resource(index, parts.resources.len()))?;
        let host = bound.objects.host().ok_or_else(|| no_contents(index))?;
        bytemuck::try_cast_slice(host.bytes().ok_or_else(unmapped)?).map_err(|e| not_a_slice(index, e))
    }

    /// Returns the contents of resource `index` for writing. On discrete GPUs this memory can be
    /// slow to read.
    ///
    /// # Errors
    /// As for [`DispatchSlot::read`], and [`Error::Invalid`] for a [`Role::Output`].
    pub fn write<T: Pod>(&mut self, index: usize) -> Result<&mut [T], Error> {
        self.idle()?;
        let resources = self.parts.as_mut().map(|p| &mut p.resources[..]).unwrap_or_default();
        let count = resources.len();
        let bound = resources.get_mut(index).ok_or_else(|| no_resource(index, count))?;
        if bound.role == Role::Output {
            return Err(Error::invalid(format!("buffer {index} is an output: the host does not write it")));
        }
        let host = bound.objects.host_mut().ok_or_else(|| no_contents(index))?;
        bytemuck::try_cast_slice_mut(host.bytes_mut().ok_or_else(unmapped)?).map_err(|e| not_a_slice(index, e))
    }

    /// Returns the device address of resource `index`, a [`Resource::Addressed`]. The address is
    /// constant during the slot's life.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such resource, or if it has no address.
    pub fn address(&self, index: usize) -> Result<u64, Error> {
        let resources = self.parts.as_ref().map(|p| &p.resources[..]).unwrap_or_default();
        let bound = resources.get(index).ok_or_else(|| no_resource(index, resources.len()))?;
        match (&bound.spec.resource, &bound.objects) {
            (Resource::Addressed { .. }, ResourceObjects::Buffer { buffer, .. }) => buffer.address(),
            _ => Err(Error::invalid(format!("resource {index} was not made with a device address"))),
        }
    }

    /// Has the driver compile the shader of `pipeline`: some do so only at its first dispatch, and
    /// the time for that says nothing about the shader. Dispatches no workgroup and waits for its
    /// end, unless a dispatch of the pipeline has ended before.
    ///
    /// # Errors
    /// As for [`DispatchSlot::submit`] and [`DispatchSlot::wait`].
    pub fn compile(&mut self, pipeline: &Pipeline, push_constants: &[u8], limit: Duration) -> Result<(), Error> {
        if pipeline.shared.compiled.load(Ordering::Relaxed) {
            return Ok(());
        }
        let dispatch = Dispatch::linear(1).with_push_constants(push_constants);
        check_dispatch(self.idle()?, &pipeline.shared, &dispatch)?;
        self.submit_checked(pipeline, &Dispatch { groups: [0; 3], ..dispatch })?;
        self.wait(limit).map(|_| ())
    }

    /// Submits one dispatch of `pipeline` over the resources and returns at once.
    ///
    /// # Errors
    /// [`Error::InFlight`] if the previous dispatch was not awaited; [`Error::Invalid`] for a
    /// pipeline of another device or with other bindings, for push constants of the wrong size, and
    /// for zero workgroups; [`Error::NotSupported`] for more workgroups than the device accepts;
    /// [`Error::DeviceLost`], [`Error::OutOfMemory`].
    pub fn submit(&mut self, pipeline: &Pipeline, dispatch: &Dispatch<'_>) -> Result<(), Error> {
        check_dispatch(self.idle()?, &pipeline.shared, dispatch)?;
        self.submit_checked(pipeline, dispatch)
    }

    fn submit_checked(&mut self, pipeline: &Pipeline, dispatch: &Dispatch<'_>) -> Result<(), Error> {
        let Some(SlotParts { resources, objects, .. }) = &mut self.parts else { return Err(Error::InFlight) };
        for bound in &mut *resources {
            if let ResourceObjects::Image { transfer: Some(transfer), staging, .. } = &mut bound.objects {
                transfer.keep(staging);
            }
        }
        dispatch_commands::record(&DispatchRecording { objects, resources, pipeline: &pipeline.shared, dispatch })?;
        let device = &objects.device;
        // SAFETY: the slot is not in flight, so nothing waits on the fence or will signal it.
        device.check(unsafe { device.raw.reset_fences(&[objects.fence]) }, "vkResetFences")?;
        let since = Instant::now();
        device.submit(objects.commands, objects.fence)?;
        for bound in resources {
            bound.fresh = false;
        }
        self.state = SlotState::InFlight { since, pipeline: pipeline.shared.clone(), overdue: false };
        Ok(())
    }

    /// Waits until the submitted dispatch is done and its results can be read.
    ///
    /// # Errors
    /// [`Error::NotSubmitted`]; [`Error::DeviceLost`]; [`Error::Vulkan`] if a multisampled image
    /// could not be filled; [`Error::Timeout`], after which the slot is
    /// still in flight and another wait is possible. A slot that is dropped in this state leaks its
    /// memory, because only the end of the process stops a device that does not finish.
    pub fn wait(&mut self, limit: Duration) -> Result<Timing, Error> {
        let (SlotState::InFlight { since, pipeline, overdue }, Some(SlotParts { objects, resources, .. })) =
            (&mut self.state, &self.parts)
        else {
            return Err(Error::NotSubmitted);
        };
        let device = &objects.device;
        let nanoseconds = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence was submitted and is alive.
        match unsafe { device.raw.wait_for_fences(&[objects.fence], true, nanoseconds) } {
            Ok(()) => {}
            Err(vk::Result::TIMEOUT) => {
                *overdue = true;
                return Err(Error::Timeout { limit });
            }
            Err(error) => {
                let result = device.check(Err(error), "vkWaitForFences");
                // A lost device ends all work; after other errors the work may still run.
                if device.is_lost() {
                    self.state = SlotState::Idle;
                }
                return result;
            }
        }
        pipeline.compiled.store(true, Ordering::Relaxed);
        let timing = Timing { wall: since.elapsed(), device: dispatch_commands::device_time(objects)? };
        self.state = SlotState::Idle;
        for bound in resources {
            if let ResourceObjects::Image { transfer: Some(transfer), .. } = &bound.objects {
                transfer.verify()?;
            }
        }
        Ok(timing)
    }

    fn idle(&self) -> Result<&SlotParts, Error> {
        match (&self.state, &self.parts) {
            (SlotState::Idle, Some(parts)) => Ok(parts),
            _ => Err(Error::InFlight),
        }
    }
}

impl Drop for DispatchSlot {
    fn drop(&mut self) {
        if let SlotState::InFlight { overdue, .. } = self.state {
            let limit = if overdue { Duration::ZERO } else { LAST_WAIT };
            if matches!(self.wait(limit), Err(Error::Timeout { .. })) || self.in_flight() {
                // The device may still use all of these objects, and nothing here can stop it. The
                // leaked objects hold the device and the pipeline, so neither is destroyed while in
                // use.
                std::mem::forget(self.parts.take());
                std::mem::forget(std::mem::replace(&mut self.state, SlotState::Idle));
            }
        }
    }
}

impl BoundResource {
    fn new(device: &Arc<DeviceShared>, spec: ResourceSpec) -> Result<Self, Error> {
        let resource = spec.resource;
        let (role, bytes) = (resource.role(), resource.bytes()?);
        let sampler = resource.sampler().map(|sampler| Sampler::new(device, sampler)).transpose()?;
        let objects = match (resource, sampler) {
            (Resource::StorageBuffer(_), _) => {
                ResourceObjects::buffer(device, bytes, role, vk::BufferUsageFlags::STORAGE_BUFFER, None)?
            }
            (Resource::UniformBuffer { .. }, _) => {
                ResourceObjects::buffer(device, bytes, role, vk::BufferUsageFlags::UNIFORM_BUFFER, None)?
            }
            (Resource::Addressed { .. }, _) => {
                if !device.addresses {
                    return Err(device.unsupported("buffers with device addresses (bufferDeviceAddress)"));
                }
                ResourceObjects::buffer(device, bytes, role, vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS, None)?
            }
            (Resource::TexelBuffer { format, storage, .. }, _) => {
                let usage = if storage {
                    vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER
                } else {
                    vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER
                };
                ResourceObjects::buffer(device, bytes, role, usage, Some((format, storage)))?
            }
            (Resource::Sampler(_), Some(sampler)) => ResourceObjects::Sampler(sampler),
            (Resource::StorageImage(image), sampler)
            | (Resource::SampledImage(image), sampler)
            | (Resource::CombinedImageSampler(image, _), sampler) => {
                let storage = matches!(resource, Resource::StorageImage(_));
                let image = Image::new(device, image, storage)?;
                let multisampled = image.spec.samples > 1;
                let usage = if multisampled { BUFFER_USAGE } else { vk::BufferUsageFlags::empty() };
                let staging = staging(device, bytes, role, usage)?;
                let transfer =
                    multisampled.then(|| SampleTransfer::new(device, &image, &staging)).transpose()?.map(Box::new);
                ResourceObjects::Image { transfer, image, sampler, staging }
            }
            (Resource::Sampler(_), None) => return Err(Error::invalid("a sampler was not made")),
        };
        let fresh = matches!(objects, ResourceObjects::Buffer { staging: Some(_), .. });
        Ok(Self { spec, role, bytes, objects, fresh })
    }
}

impl ResourceObjects {
    fn buffer(
        device: &Arc<DeviceShared>,
        bytes: usize,
        role: Role,
        usage: vk::BufferUsageFlags,
        texels: Option<(TexelFormat, bool)>,
    ) -> Result<Self, Error> {
        let usage = usage | vk::BufferUsageFlags::TRANSFER_DST;
        let (buffer, staging) = if device.staged {
            let usage = usage | vk::BufferUsageFlags::TRANSFER_SRC;
            let buffer = Buffer::new(device, bytes, usage, MemoryLocation::GpuOnly)?;
            (buffer, Some(staging(device, bytes, role, vk::BufferUsageFlags::empty())?))
        } else {
            (Buffer::new(device, bytes, usage, MemoryLocation::GpuToCpu)?, None)
        };
        let view =
            texels.map(|(format, storage)| TexelView::new(device, &buffer, format, storage, bytes)).transpose()?;
        Ok(ResourceObjects::Buffer { view, buffer, staging })
    }

    /// Returns true if the host accesses a copy of the contents.
    pub(crate) fn is_copied(&self) -> bool {
        match self {
            ResourceObjects::Buffer { staging, .. } => staging.is_some(),
            ResourceObjects::Image { .. } => true,
            ResourceObjects::Sampler(_) => false,
        }
    }

    /// Returns the buffer that the host accesses.
    fn host(&self) -> Option<&Buffer> {
        match self {
            ResourceObjects::Buffer { staging: Some(host), .. }
            | ResourceObjects::Buffer { buffer: host, staging: None, .. }
            | ResourceObjects::Image { staging: host, .. } => Some(host),
            ResourceObjects::Sampler(_) => None,
        }
    }

    fn host_mut(&mut self) -> Option<&mut Buffer> {
        match self {
            ResourceObjects::Buffer { staging: Some(host), .. }
            | ResourceObjects::Buffer { buffer: host, staging: None, .. }
            | ResourceObjects::Image { staging: host, .. } => Some(host),
            ResourceObjects::Sampler(_) => None,
        }
    }
}

/// Creates a mapped buffer for copies in the directions that `role` needs, which also has the `other` usage.
fn staging(device: &Arc<DeviceShared>, bytes: usize, role: Role, other: vk::BufferUsageFlags) -> Result<Buffer, Error> {
    let (usage, location) = match role {
        Role::Input => (vk::BufferUsageFlags::TRANSFER_SRC, MemoryLocation::CpuToGpu),
        Role::Output => (vk::BufferUsageFlags::TRANSFER_DST, MemoryLocation::GpuToCpu),
        Role::InOut => {
            (vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST, MemoryLocation::GpuToCpu)
        }
    };
    Buffer::new(device, bytes, usage | other, location)
}

/// Checks the resources against the limits of the device.
fn check_limits(device: &DeviceShared, specs: &[ResourceSpec]) -> Result<(), Error> {
    let limits = &device.properties.limits;
    let storage = specs.iter().filter(|s| matches!(s.resource, Resource::StorageBuffer(_))).count();
    if storage > limits.max_storage_buffers as usize {
        let most = limits.max_storage_buffers;
        return Err(
            device.unsupported(format!("{storage} storage buffers (maxPerStageDescriptorStorageBuffers is {most})"))
        );
    }
    // VUID-vkCmdDispatch-magFilter-04553 and -mipmapMode-04770 do not restrict the images of
    // samplers that compare.
    let filters = |sampler: &SamplerSpec| (sampler.linear || sampler.mipmap_linear) && sampler.compare.is_none();
    let filtered = specs.iter().any(|s| s.resource.sampler().is_some_and(filters));
    for (index, spec) in specs.iter().enumerate() {
        if spec.resource.kind().is_some() && spec.set >= limits.max_sets {
            return Err(device.unsupported(format!("set {} (maxBoundDescriptorSets is {})", spec.set, limits.max_sets)));
        }
        let bytes = spec.resource.bytes()? as u64;
        let range = match spec.resource {
            Resource::Sampler(_) => continue,
            Resource::StorageBuffer(_) => Some((limits.max_storage_buffer_range, "maxStorageBufferRange")),
            Resource::UniformBuffer { .. } => Some((limits.max_uniform_buffer_range, "maxUniformBufferRange")),
            Resource::TexelBuffer { format, .. } => {
                let most = limits.max_texel_buffer_elements.saturating_mul(format.bytes() as u64);
                Some((most, "bytes, by maxTexelBufferElements,"))
            }
            Resource::StorageImage(image) => sample_range(limits, &image),
            Resource::Addressed { .. } => None,
            Resource::SampledImage(image) | Resource::CombinedImageSampler(image, _) => {
                // Only the shader decides which sampler it combines with which image. Integer
                // formats are skipped: a shader that filters them is at fault itself.
                if filtered
                    && image.samples == 1
                    && !image.format.is_integer()
                    && !filters_linearly(device, image.format)?
                {
                    return Err(device.unsupported(format!("linear filtering of {}", image.format.name())));
                }
                sample_range(limits, &image)
            }
        };
        if bytes == 0 {
            return Err(Error::invalid(format!("buffer {index} has no bytes; leave it out or give it some")));
        }
        if let Some((most, name)) = range.filter(|(most, _)| bytes > *most) {
            return Err(device.unsupported(format!("a buffer of {bytes} bytes ({name} is {most})")));
        }
        if bytes > limits.max_allocation {
            let most = limits.max_allocation;
            return Err(device.unsupported(format!("a buffer of {bytes} bytes (maxMemoryAllocationSize is {most})")));
        }
    }
    Ok(())
}

/// Returns the limit on the contents of a multisampled image, which are copied through a storage
/// buffer, and its name.
fn sample_range(limits: &Limits, image: &ImageSpec) -> Option<(u64, &'static str)> {
    (image.samples > 1).then_some((limits.max_storage_buffer_range, "maxStorageBufferRange"))
}

fn check_dispatch(parts: &SlotParts, pipeline: &PipelineShared, dispatch: &Dispatch<'_>) -> Result<(), Error> {
    let device = &*parts.objects.device;
    if !std::ptr::eq(device, &*pipeline.device) {
        return Err(Error::invalid("the pipeline belongs to another device than the slot"));
    }
    let LayoutKey { bindings, push_constants } = &pipeline.key;
    if bindings.len() != parts.key.bindings.len() {
        let (has, slot) = (bindings.len(), parts.key.bindings.len());
        return Err(Error::invalid(format!("the pipeline has {has} buffers and the slot has {slot}")));
    }
    if let Some((a, b)) = bindings.iter().zip(&parts.key.bindings).find(|(a, b)| a != b) {
        return Err(Error::invalid(format!("the pipeline has {a:?} where the slot has {b:?}")));
    }
    let given = dispatch.push_constants.len();
    if given != *push_constants as usize {
        return Err(Error::invalid(format!(
            "the pipeline has {push_constants} bytes of push constants, given: {given}"
        )));
    }
    let most = device.properties.limits.max_workgroups;
    if dispatch.groups.contains(&0) {
        return Err(Error::invalid(format!("a dispatch of {:?} workgroups computes nothing", dispatch.groups)));
    }
    if dispatch.groups.iter().zip(most).any(|(&asked, most)| asked > most) {
        return Err(device.unsupported(format!(
            "a dispatch of {:?} workgroups (maxComputeWorkGroupCount is {most:?})",
            dispatch.groups
        )));
    }
    Ok(())
}

fn no_resource(index: usize, count: usize) -> Error {
    Error::invalid(format!("there is no buffer {index}: the slot has {count}"))
}

fn no_contents(index: usize) -> Error {
    Error::invalid(format!("resource {index} is a sampler, which has no contents"))
}

fn not_a_slice(index: usize, error: bytemuck::PodCastError) -> Error {
    Error::invalid(format!("buffer {index} cannot be seen as a slice of that type: {error}"))
}

fn unmapped() -> Error {
    Error::Vulkan { during: "vkMapMemory", code: "memory that is not mapped".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_and_errors_are_send_and_sync() {
        fn check<T: Send + Sync>() {}
        check::<DispatchSlot>();
        check::<Pipeline>();
        check::<crate::Device>();
        check::<crate::PhysicalDevice>();
        check::<crate::Instance>();
        check::<Error>();
    }
}
